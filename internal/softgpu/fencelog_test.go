package softgpu

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// Where the logs of these tests are, in the process and, of the same offset, in the system process.
const (
	waitLog   = base + 0x8000
	signalLog = base + 0x9000
)

func (b *bench) logs(q ddi.KmdHwQueue, entries uint32, system uint64) {
	for at, kind := range map[uint64]abi.NativeFenceLogType{waitLog: abi.NativeFenceLogWaits, signalLog: abi.NativeFenceLogSignals} {
		args := ddi.SetNativeFenceLogBufferArgs{HwQueue: q, Type: kind, NumberOfEntries: entries, LogBufferGpuVa: at}
		if system != 0 {
			args.LogBufferSystemProcessGpuVa = at
		}
		b.g.SetNativeFenceLogBuffer(args)
	}
}

// readLog reads a log as a consumer does: its header and all entries.
func readLog(m *memory, at uint64, n int) (index, wraps uint32, entries []abi.NativeFenceLogEntry) {
	b := m.b[at-base:]
	word := binary.LittleEndian.Uint64(b)
	entries = make([]abi.NativeFenceLogEntry, n)
	if err := binary.Read(bytes.NewReader(b[unsafe.Sizeof(abi.NativeFenceLogHeader{}):]), binary.LittleEndian, entries); err != nil {
		panic(err)
	}
	return uint32(word), uint32(word >> 32), entries
}

// The layout is that of the records.
func TestLogLayout(t *testing.T) {
	if logHeader != unsafe.Sizeof(abi.NativeFenceLogHeader{}) || logEntry != unsafe.Sizeof(abi.NativeFenceLogEntry{}) {
		t.Error("sizes differ")
	}
}

// The worked example: a queue waits, another signals; and the clock is the GPU's.
func TestLogsOfAWaitAndASignal(t *testing.T) {
	for _, system := range []uint64{0, 1} {
		b := newBench(t, func(p *adapter.Profile) { p.GpuClock = 2e9; p.NativeFence.SystemProcess = true })
		log := b.m
		if system != 0 {
			log = newMemory()
			b.g.system = log
		}
		second := ddi.Engine{NodeOrdinal: 1}
		a, s := b.queue(b.context(node0), base), b.queue(b.context(second), base+8)
		b.logs(a, 84, system)
		b.logs(s, 84, system)
		f := b.native(base + 64)
		b.submitHw(a, 1, cmdbuf.New().Wait(f.va, 0, 5).Wait(f.va, 9, 6), 0) // the first is satisfied
		b.advance(1000)
		b.k.now = 1500
		b.submitHw(s, 1, cmdbuf.New().Delay(100, 0).SignalNative(f.va, 9, f.va+8, 8), 0)
		b.advance(5000)
		for _, c := range []struct {
			at   uint64
			want []abi.NativeFenceLogEntry
		}{
			{waitLog, []abi.NativeFenceLogEntry{
				{FenceValue: 0, HNativeFence: 5, OperationType: abi.NativeFenceLogWaitUnblocked, FenceObservedGpuTimestamp: 2000, FenceEndGpuTimestamp: 2000},
				{FenceValue: 9, HNativeFence: 6, OperationType: abi.NativeFenceLogWaitUnblocked, FenceObservedGpuTimestamp: 2000, FenceEndGpuTimestamp: 3200},
			}},
			{signalLog, []abi.NativeFenceLogEntry{{FenceValue: 9, HNativeFence: 8, FenceEndGpuTimestamp: 3200}}},
		} {
			index, wraps, got := readLog(log, c.at, len(c.want))
			if !slices.Equal(got, c.want) || index != uint32(len(c.want)) || wraps != 0 {
				t.Errorf("at %#x, %d of round %d:\n%+v\nwant\n%+v", c.at, index, wraps, got, c.want)
			}
		}
		b.g.UpdateNativeFenceLogs([]ddi.KmdHwQueue{a, s})
	}
}

// Entries follow each other and begin again at the end; nobody waits for a reader.
func TestLogWraps(t *testing.T) {
	b := newBench(t, nil)
	q := b.queue(b.context(node0), base)
	b.logs(q, 3, 0)
	f := b.native(base + 64)
	for i := range uint64(8) {
		b.submitHw(q, i, cmdbuf.New().Add(f.signal(i+1)), 0)
		b.advance(b.k.now)
		index, wraps, entries := readLog(b.m, signalLog, 3)
		if uint64(index) != (i+1)%3 || uint64(wraps) != (i+1)/3 || entries[i%3].FenceValue != i+1 {
			t.Fatalf("after %d: %d of round %d, %+v", i+1, index, wraps, entries)
		}
	}
}

// The entry is whole before the header tells of it, the value is stored before, and the
// monitored value is read behind: the order of the protocol.
func TestOrderOfASignal(t *testing.T) {
	b := newBench(t, nil)
	q := b.queue(b.context(node0), base)
	b.logs(q, 84, 0)
	f := b.native(base + 64)
	b.monitor(f, 0)
	var seen []string
	b.m.log = func(s string) {
		_, _, e := readLog(b.m, signalLog, 1)
		seen = append(seen, fmt.Sprintf("%s entry=%d", s, e[0].FenceValue))
		if len(seen) == 2 { // from now on nobody waits
			copy(b.m.b[f.va+8-base:], bytes.Repeat([]byte{255}, 8))
		}
	}
	b.submitHw(q, 1, cmdbuf.New().Add(f.signal(5)).Delay(1, 0), 0)
	b.g.Advance(b.k.now)
	if want := []string{"store 0x100040=5 entry=0", fmt.Sprintf("store %#x=1 entry=5", uint64(signalLog))}; !slices.Equal(seen, want) {
		t.Errorf("%q, want %q", seen, want)
	}
	if len(b.k.interrupts) != 0 {
		t.Errorf("%v, though nobody waited when the monitored value was read", b.k.interrupts)
	}
}

// Headers that a program has written to, logs that are not mapped and logs without
// entries do no harm.
func TestBadLogs(t *testing.T) {
	for name, c := range map[string]struct {
		entries uint32
		at      uint64
		header  uint64
		want    uint64 // header behind
	}{
		"wild index":   {84, signalLog, 7<<32 | 0xFFFF_FFFF, 7<<32 | 1},
		"just outside": {84, signalLog, 84, 1},
		"last round":   {1, signalLog, 0xFFFF_FFFF << 32, 0},
		"no entries":   {0, signalLog, 5, 5},
		"unmapped":     {84, 0, 5, 5},
		"unaligned":    {84, signalLog + 1, 5, 5},
		"at the end":   {1 << 31, any64 - 7, 5, 5},
		"half mapped":  {84, base + room - 48, 5, 5},
	} {
		b := newBench(t, func(p *adapter.Profile) { p.NativeFence.Interrupt = adapter.InterruptQueue })
		q := b.queue(b.context(node0), base)
		f := b.native(base + 64)
		b.monitor(f, 0)
		at := c.at
		if at < base || at > base+room || at%8 != 0 {
			at = signalLog
		}
		b.poke(at, c.header)
		b.g.SetNativeFenceLogBuffer(ddi.SetNativeFenceLogBufferArgs{HwQueue: q, Type: abi.NativeFenceLogSignals, NumberOfEntries: c.entries, LogBufferGpuVa: c.at})
		b.g.SetNativeFenceLogBuffer(ddi.SetNativeFenceLogBufferArgs{HwQueue: q, Type: 3, NumberOfEntries: 84})
		b.g.SetNativeFenceLogBuffer(ddi.SetNativeFenceLogBufferArgs{HwQueue: 999, Type: abi.NativeFenceLogSignals})
		b.submitHw(q, 1, cmdbuf.New().Add(f.signal(5)).Delay(1, 0), 0)
		b.g.Advance(b.k.now)
		if got, _ := b.m.Load64(0, at); got != c.want {
			t.Errorf("%s: the header is %#x, want %#x", name, got, c.want)
		}
		// Where nothing could be logged the interrupt says that it may be any queue.
		want := ddi.NativeFenceSignaled{Engine: node0}
		if c.want != c.header {
			want.HwQueue = q
		}
		if len(b.k.interrupts) != 1 || fmt.Sprint(b.k.interrupts[0]) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", name, b.k.interrupts, want)
		}
	}
}
