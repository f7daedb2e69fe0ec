package kernel

import (
	"fmt"
	"slices"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

func TestLogsOfAQueue(t *testing.T) {
	r := newLogRig(t)
	kmd := r.queue.sched.Kmd
	d := r.detail()
	if d.SignalLogNumberOfEntries != 84 || d.WaitLogNumberOfEntries != 84 || d.SignalLogGpuBaseAddress == d.WaitLogGpuBaseAddress ||
		d.SignalLogGpuBaseAddress%4096 != 0 || d.WaitLogGpuBaseAddress%4096 != 0 {
		t.Errorf("%+v", d)
	}
	system := r.k.adapters[0].system
	for typ, va := range map[abi.NativeFenceLogType]uint64{abi.NativeFenceLogWaits: d.WaitLogGpuBaseAddress, abi.NativeFenceLogSignals: d.SignalLogGpuBaseAddress} {
		a := r.drivers[0].buffers[typ]
		if a.HwQueue != kmd || a.NumberOfEntries != 84 || a.LogBufferGpuVa != va || a.LogBufferSystemProcessGpuVa == 0 {
			t.Errorf("the driver was told %+v of the log at %#x", a, va)
		}
		spaceOf(r.rig, r.p).Store64(0, va+4088, 77)
		if v, _ := system.Load64(0, a.LogBufferSystemProcessGpuVa+4088); v != 77 {
			t.Error("the system process sees another log")
		}
		for i, want := range []uint64{0, uint64(typ), 84} {
			if v, fault := system.Load64(0, a.LogBufferSystemProcessGpuVa+8*uint64(i)); v != want || fault != nil {
				t.Errorf("word %d of the head is %d, %v; want %d", i, v, fault, want)
			}
		}
	}
	r.told("make", fmt.Sprintf("A log %d WAITS", kmd), fmt.Sprintf("A log %d SIGNALS", kmd))
	_, st := do(r.p, 0x1B, &abi.DestroyHwQueue{HHwQueue: r.queue.handle}, nil)
	r.ok(st)
	if _, fault := spaceOf(r.rig, r.p).Load64(0, d.WaitLogGpuBaseAddress); fault == nil || len(r.k.adapters[0].logs)+len(r.p.logs) != 0 {
		t.Error("the log of a queue that is gone is there")
	}
}

func TestGetNativeFenceLogDetailRefusals(t *testing.T) {
	r := newLogRig(t)
	c := abi.CreateContextVirtual{HDevice: r.d, Flags: abi.ContextHwQueueSupported}
	do(r.p, 0x04, &c, nil)
	plain := abi.CreateHwQueue{HHwContext: c.HContext}
	_, st := do(r.p, 0x18, &plain, nil)
	r.ok(st)
	for name, rec := range map[string]abi.GetNativeFenceLogDetail{
		"zero": {}, "no queue": {HHwQueue: r.d}, "flags": {HHwQueue: r.queue.handle, Flags: 1}, "garbage": {HHwQueue: 0xAAAAAAAA, Flags: 0xAAAAAAAA},
		"a queue that the kernel fills": {HHwQueue: plain.HHwQueue},
	} {
		before := rec
		if _, st := do(r.p, 0x8010, &rec, nil); st != abi.StatusInvalidParameter || rec != before {
			t.Errorf("%s: %v, %+v", name, st, rec)
		}
	}
}

// The example of native-fence.md §10: one interrupt tells of all that the log has.
func TestOptimizedInterruptReadsTheLog(t *testing.T) {
	for _, named := range []bool{true, false} {
		r := newLogRig(t)
		r.drivers[0].more = ddi.OptimizedNativeFenceSignaledInterrupt
		f1, f2 := r.made(r.p, r.d, 0).HSyncObject, r.made(r.p, r.d, 0).HSyncObject
		fd1, e1 := r.event()
		fd2, e2 := r.event()
		r.ok(waitEvent(r.p, r.d, 0, fd1, handles(f1), values(2)))
		r.ok(waitEvent(r.p, r.d, 0, fd2, handles(f2), values(3)))
		kmd := r.queue.sched.Kmd
		for _, s := range []struct {
			h abi.Handle
			v uint64
		}{{f1, 1}, {f1, 2}, {f2, 3}, {f2, 3}} {
			r.store(s.h, s.v)
			r.signals(s.h, s.v)
		}
		r.trace = nil
		if named {
			r.interrupt(kmd)
		} else {
			r.interrupt(0)
		}
		if e1.sets != 1 || e2.sets != 1 {
			t.Errorf("named %v: the waits ended %d and %d times", named, e1.sets, e2.sets)
		}
		if r.trace[0] != fmt.Sprintf("A update logs [%d]", kmd) {
			t.Errorf("named %v: the driver was told %q", named, r.trace)
		}
		r.trace = nil
		r.interrupt(kmd)
		r.told("an interrupt without news")
		var got []uint64
		for _, v := range r.queue.logs.history.since(0) {
			got = append(got, v.value)
		}
		if !slices.Equal(got, []uint64{1, 2, 3, 3}) {
			t.Errorf("written down are %v", got)
		}
	}
}

// What was written over is lost, and then every fence of the process is looked at that somebody
// waits for.
func TestLogOverrun(t *testing.T) {
	for _, n := range []int{84, 85, 84 * 3, 84*3 + 5} {
		r := newLogRig(t)
		r.drivers[0].more = ddi.OptimizedNativeFenceSignaledInterrupt
		f1, f2 := r.made(r.p, r.d, 0).HSyncObject, r.made(r.p, r.d, 0).HSyncObject
		fd, e := r.event()
		r.ok(waitEvent(r.p, r.d, 0, fd, handles(f1), values(1)))
		r.store(f1, 1)
		r.signals(f1, 1)
		for i := 1; i < n; i++ {
			r.signals(f2, uint64(i))
		}
		r.interrupt(r.queue.sched.Kmd)
		h := &r.queue.logs.history
		if e.sets != 1 || h.lost != uint64(n-84) || len(h.since(0)) != 84 || h.wrong != 0 {
			t.Errorf("%d entries: the wait ended %d times, %d lost, %d written down, %d wrong", n, e.sets, h.lost, len(h.since(0)), h.wrong)
		}
		if last := h.since(0)[83]; last.value != uint64(n-1) {
			t.Errorf("%d entries: the last is %+v", n, last)
		}
	}
}

// Heads and entries that no GPU writes harm nobody.
func TestLogIsNotBelieved(t *testing.T) {
	r := newLogRig(t)
	r.drivers[0].more = ddi.OptimizedNativeFenceSignaledInterrupt
	other := r.process()
	f := r.made(r.p, r.d, 0).HSyncObject
	theirs := r.made(other, r.device(other, 0), 0).HSyncObject
	fd, e := r.event()
	d := r.detail()
	space := spaceOf(r.rig, r.p)
	h := &r.queue.logs.history
	wait := func(v uint64) { r.ok(waitEvent(r.p, r.d, 0, fd, handles(f), values(v))) }
	wait(1)
	for i, head := range []uint64{84, 1 << 31, 1<<32 - 1, 1<<64 - 1} {
		space.Store64(0, d.SignalLogGpuBaseAddress, head)
		r.interrupt(r.queue.sched.Kmd)
		if h.wrong != uint64(i+1) {
			t.Errorf("head %#x counts as %d wrong", head, h.wrong)
		}
	}
	r.store(f, 1)
	r.interrupt(r.queue.sched.Kmd)
	if e.sets != 1 {
		t.Error("who waits for a fence behind a log without sense waits forever")
	}
	space.Store64(0, d.SignalLogGpuBaseAddress, 0) // as it was
	r.interrupt(r.queue.sched.Kmd)
	for _, e := range []abi.NativeFenceLogEntry{
		{HNativeFence: theirs}, {HNativeFence: r.d}, {HNativeFence: 0xFFFFFFFF}, {HNativeFence: f, OperationType: 2}, {HNativeFence: f, OperationType: 0xFFFFFFFF},
	} {
		r.log(space, d.SignalLogGpuBaseAddress, 84, e)
	}
	wrong := h.wrong
	r.interrupt(r.queue.sched.Kmd)
	list := h.since(0)
	if h.wrong != wrong+2 || len(list) != 3 {
		t.Errorf("%d wrong, %d written down", h.wrong-wrong, len(list))
	}
	for _, v := range list {
		if v.object != 0 && v.handle != theirs { // handles of two processes may be alike
			t.Errorf("%v is fence #%d", v.handle, v.object)
		}
	}
	space.Store64(0, d.SignalLogGpuBaseAddress, 3) // back
	r.interrupt(r.queue.sched.Kmd)
	r.signals(f, 9)
	r.interrupt(r.queue.sched.Kmd)
	if list := h.since(0); list[len(list)-1].value != 9 || h.lost != 0 {
		t.Errorf("after a head that went back: %+v, %d lost", list, h.lost)
	}
}

// Logs can be made larger while they are written.
func TestLogEnlarge(t *testing.T) {
	r := newLogRig(t)
	f := r.made(r.p, r.d, 0).HSyncObject
	r.signals(f, 1)
	before := r.detail()
	r.trace = nil
	enlarge := func(n int) {
		t.Helper()
		r.k.lock()
		st := r.queue.logs.enlarge(n)
		r.k.unlock()
		r.ok(st)
	}
	enlarge(84)
	r.told("as large as it is")
	enlarge(1000)
	kmd := r.queue.sched.Kmd
	r.told("larger", fmt.Sprintf("A log %d WAITS", kmd), fmt.Sprintf("A log %d SIGNALS", kmd), fmt.Sprintf("A update logs [%d]", kmd))
	after := r.detail()
	if after.SignalLogNumberOfEntries < 1000 || r.drivers[0].buffers[abi.NativeFenceLogSignals].NumberOfEntries != after.SignalLogNumberOfEntries {
		t.Errorf("%+v", after)
	}
	if _, fault := spaceOf(r.rig, r.p).Load64(0, before.SignalLogGpuBaseAddress); fault == nil {
		t.Error("the small log is there yet")
	}
	for v := range uint64(1000) {
		r.signals(f, v+2)
	}
	r.interrupt(0)
	if h := &r.queue.logs.history; h.lost != 0 || len(h.since(0)) != 1001 {
		t.Errorf("%d lost, %d written down", h.lost, len(h.since(0)))
	}
	enlarge(1 << 30)
	if n := int(r.detail().SignalLogNumberOfEntries); n != logEntries(maxLogPages) {
		t.Errorf("%d entries at most", n)
	}
	r.signals(f, 2000) // which nobody reads
	r.p.Exit()
	a := r.k.adapters[0]
	if _, n := a.system.Size(); n != 0 || a.eventsKept.all != 0 || len(a.logNews.logs)+len(a.logs)+len(a.logsAsked) != 0 {
		t.Errorf("%d words, %d events, %d logs with news, %d logs are left", n, a.eventsKept.all, len(a.logNews.logs), len(a.logs))
	}
}
