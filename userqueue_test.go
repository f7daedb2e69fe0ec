package dxgsync

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/server"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

func newUserQueue(t testing.TB, d *Device, opts UserQueueOptions) *UserQueue {
	t.Helper()
	q, err := d.NewUserQueue(opts)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func submitUser(t testing.TB, q *UserQueue, cb *CommandBuffer) Point {
	t.Helper()
	p, err := q.Submit(cb)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// doorbells runs a test at both doors, on an adapter that the neutral one is with some
// settings.
func doorbells(t *testing.T, settings map[string]any, test func(t *testing.T, d *Device)) {
	t.Helper()
	profile := map[string]any{"base": "neutral", "name": "doorbells", "doorbells": settings}
	text, err := json.Marshal(profile)
	want(t, "marshal", err, nil)
	path := filepath.Join(t.TempDir(), "doorbells.json")
	want(t, "write", os.WriteFile(path, text, 0o600), nil)
	t.Run("here", func(t *testing.T) { test(t, openDevice(t, WithAdapter(path), WithTDR(quick))) })
	t.Run("daemon", func(t *testing.T) {
		profiles, err := adapter.LoadAll([]string{path})
		want(t, "load", err, nil)
		address := "@dxgsync-test-" + filepath.Base(filepath.Dir(path)) + t.Name()[:12]
		cfg := kernel.Config{Profiles: profiles, TDR: vidsch.TDR{Delay: int64(quick.Delay)}}
		daemon, err := server.NewDaemon(cfg, server.Config{KernelID: 1})
		want(t, "daemon", err, nil)
		want(t, "daemon", daemon.Open(address), nil)
		t.Cleanup(func() { daemon.Close() })
		test(t, openDevice(t, WithDaemon(address)))
	})
}

// What is put into a ring is done in order, many times around.
func TestUserQueue(t *testing.T) {
	doorbells(t, nil, func(t *testing.T, d *Device) {
		const entries = 8
		q := newUserQueue(t, d, UserQueueOptions{Entries: entries})
		b := newBuffer(t, d, 8)
		if q.Status() != abi.DoorbellDisconnectedRetry {
			t.Errorf("a new doorbell is %v", q.Status())
		}
		var last Point
		for v := uint64(1); v <= 20*entries; v++ {
			cb := commands().Fill(b, uint32(v))
			p, err := q.Submit(cb)
			for err == abi.StatusNoMemory { // the ring is full
				want(t, "wait", q.Progress().Wait(bg, v-entries), nil)
				p, err = q.Submit(cb)
			}
			want(t, "submit", err, nil)
			if p.Fence != &q.Progress().Fence || p.Value != v {
				t.Fatalf("the point is %d", p.Value)
			}
			last = p
		}
		want(t, "the last", last.Wait(bg), nil)
		if b.Bytes()[0] != 20*entries {
			t.Errorf("memory has %d", b.Bytes()[0])
		}
		wantValue(t, &q.Progress().Fence, 20*entries)
		if s := q.Status(); s != abi.DoorbellConnected && s != abi.DoorbellDisconnectedRetry {
			t.Errorf("the doorbell is %v", s)
		}
		want(t, "close", q.Close(), nil)
		want(t, "close again", q.Close(), ErrClosed)
		want(t, "submit", second(q.Submit(commands())), ErrClosed)
		if q.Status() != abi.DoorbellDisconnectedAbort {
			t.Errorf("the doorbell of a closed queue is %v", q.Status())
		}
	})
}

// Many goroutines use one queue: each gets a place of its own, and all is done.
func TestUserQueueOfMany(t *testing.T) {
	doorbells(t, nil, func(t *testing.T, d *Device) {
		const many, each = 4, 30
		q := newUserQueue(t, d, UserQueueOptions{Entries: many * each})
		b := newBuffer(t, d, many*each)
		var all sync.WaitGroup
		var seen sync.Map
		for i := range many {
			all.Go(func() {
				for j := range each {
					p, err := q.Submit(commands().Fill(b.Range(i*each+j, 1), 7))
					if _, twice := seen.LoadOrStore(p.Value, true); twice || err != nil {
						t.Errorf("place %d, twice: %v, %v", p.Value, twice, err)
					}
				}
			})
		}
		all.Wait()
		want(t, "wait", q.Progress().Wait(bg, many*each), nil)
		for i, got := range b.Bytes() {
			if got != 7 {
				t.Fatalf("byte %d is %d", i, got)
			}
		}
	})
}

// A full ring is refused, and nothing else happens.
func TestUserQueueIsFull(t *testing.T) {
	doorbells(t, nil, func(t *testing.T, d *Device) {
		f := newNative(t, d, NativeFenceOptions{})
		q := newUserQueue(t, d, UserQueueOptions{Entries: 3})
		for v := uint64(1); v <= 3; v++ {
			submitUser(t, q, commands().WaitNative(f, v))
		}
		want(t, "the fourth", second(q.Submit(commands())), abi.StatusNoMemory)
		want(t, "signal", f.Signal(2), nil)
		want(t, "wait", q.Progress().Wait(bg, 2), nil)
		if p := submitUser(t, q, commands()); p.Value != 4 {
			t.Errorf("its progress is %d", p.Value)
		}
		want(t, "signal", f.Signal(3), nil)
		want(t, "wait", q.Progress().Wait(bg, 4), nil)
	})
}

// Queues of one program and another kind of queue hand each other a turn.
func TestUserQueuesTakeTurns(t *testing.T) {
	doorbells(t, nil, func(t *testing.T, d *Device) {
		f := newNative(t, d, NativeFenceOptions{})
		user, other, hw := newUserQueue(t, d, UserQueueOptions{}), newUserQueue(t, d, UserQueueOptions{Node: 1}), newHwQueue(t, d, 2)
		const turns = 50
		for v := uint64(1); v <= 3*turns; v += 3 {
			submitUser(t, user, commands().WaitNative(f, v).SignalNative(f, v+1))
			submitUser(t, other, commands().WaitNative(f, v+1).SignalNative(f, v+2))
			submit(t, hw, commands().WaitNative(f, v+2).SignalNative(f, v+3))
		}
		want(t, "signal", f.Signal(1), nil)
		want(t, "wait", f.Wait(bg, 3*turns+1), nil)
		want(t, "progress", user.Progress().Wait(bg, turns), nil)
	})
}

// With fewer physical doorbells than queues, and with a driver that must be told, all
// submit all the same.
func TestUserQueuesShareDoorbells(t *testing.T) {
	for name, settings := range map[string]map[string]any{
		"few": {"physical": 2}, "one": {"physical": 1}, "told": {"notify": true}, "few and told": {"physical": 2, "notify": true},
	} {
		t.Run(name, func(t *testing.T) {
			doorbells(t, settings, func(t *testing.T, d *Device) {
				var all sync.WaitGroup
				for i := range uint32(5) {
					q := newUserQueue(t, d, UserQueueOptions{Node: i % 3})
					all.Go(func() {
						for range 20 {
							p, err := q.Submit(commands().Delay(time.Microsecond))
							if err == nil {
								err = p.Wait(bg)
							}
							if err != nil {
								t.Error(err)
								return
							}
						}
					})
				}
				all.Wait()
			})
		})
	}
}

// After a pause the doorbell is taken away, and connected by the next submission.
func TestUserQueueAfterAPause(t *testing.T) {
	doorbells(t, nil, func(t *testing.T, d *Device) {
		q := newUserQueue(t, d, UserQueueOptions{})
		for range 3 {
			want(t, "wait", submitUser(t, q, commands()).Wait(bg), nil)
			for q.Status() != abi.DoorbellDisconnectedRetry {
				runtime.Gosched()
			}
		}
	})
}

// Work that hangs or faults loses the device, and the doorbell is over.
func TestUserQueueIsLost(t *testing.T) {
	doorbells(t, nil, func(t *testing.T, d *Device) {
		for state, cb := range map[abi.DeviceExecutionState]*CommandBuffer{
			abi.DeviceExecutionHung: commands().Hang(), abi.DeviceExecutionDMAPageFault: commands().Add(cmdbuf.Write64{VA: 8, Value: 1}),
		} {
			d := newDevice(t, d.s)
			q := newUserQueue(t, d, UserQueueOptions{})
			_, err := q.Submit(cb)
			for err == nil || err == abi.StatusNoMemory { // the ring is full
				_, err = q.Submit(commands())
			}
			wantLoss(t, err, state)
			wantLoss(t, d.Err(), state)
			if !q.Progress().Lost() {
				t.Errorf("%v: progress is %d", state, q.Progress().Value())
			}
			if q.Status() != abi.DoorbellDisconnectedAbort {
				t.Errorf("%v: the doorbell is %v", state, q.Status())
			}
			want(t, "close", q.Close(), nil)
			want(t, "close", d.Close(), nil)
		}
	})
}

// A node says whether it has such queues.
func TestNodesOfUserQueues(t *testing.T) {
	path := filepath.Join(t.TempDir(), "some.json")
	const some = `{"base": "neutral", "name": "some", "nodes": [
		{"engine": "3d", "name": "3D", "flags": ["UserModeSubmissionSupported"]}, {"engine": "copy", "name": "Copy", "flags": []}]}`
	want(t, "write", os.WriteFile(path, []byte(some), 0o600), nil)
	for _, preset := range []string{"neutral", "intel", path} {
		d := openDevice(t, WithAdapter(preset))
		nodes, err := d.Nodes()
		want(t, "nodes", err, nil)
		for _, n := range nodes {
			target := error(abi.StatusNotSupported)
			if n.UserQueues {
				target = nil
			}
			want(t, preset+": "+n.Name, second(d.NewUserQueue(UserQueueOptions{Node: n.Ordinal})), target)
			if wanted := preset == "neutral" || preset == path && n.Ordinal == 0; n.UserQueues != wanted {
				t.Errorf("%s: %+v", preset, n)
			}
		}
	}
}

func TestUserQueueErrors(t *testing.T) {
	d := openDevice(t)
	plain := newContext(t, d, 0)
	hw, err := d.NewContext(ContextOptions{Flags: abi.ContextHwQueueSupported})
	want(t, "context", err, nil)
	elsewhere := newDevice(t, d.s)
	for what, c := range map[string]struct {
		d      *Device
		opts   UserQueueOptions
		target error
	}{
		"too many":        {d, UserQueueOptions{Entries: 65537}, abi.StatusInvalidParameter},
		"less than none":  {d, UserQueueOptions{Entries: -1}, abi.StatusInvalidParameter},
		"a plain context": {d, UserQueueOptions{Context: plain}, abi.StatusInvalidParameter},
		"of another":      {elsewhere, UserQueueOptions{Context: hw}, abi.StatusInvalidParameter},
		"reserved flags":  {d, UserQueueOptions{Flags: 1 << 20}, abi.StatusInvalidParameter},
		"no such node":    {d, UserQueueOptions{Node: 99}, abi.StatusInvalidParameter},
	} {
		want(t, what, second(c.d.NewUserQueue(c.opts)), c.target)
	}
	want(t, "a queue without a doorbell", second(d.NewHwQueue(HwQueueOptions{Flags: abi.HwQueueUserModeSubmission})), abi.StatusInvalidParameter)
	q := newUserQueue(t, d, UserQueueOptions{Context: hw})
	want(t, "wait", submitUser(t, q, commands()).Wait(bg), nil)
	want(t, "a bad buffer", second(q.Submit(nil)), abi.StatusInvalidParameter)
	want(t, "signal of progress", q.Progress().Signal(9), abi.StatusAccessDenied)
	want(t, "close", hw.Close(), nil)
	want(t, "a closed context", second(d.NewUserQueue(UserQueueOptions{Context: hw})), ErrClosed)
	if q.Status() != abi.DoorbellDisconnectedAbort {
		t.Errorf("the doorbell of a closed context is %v", q.Status())
	}
	want(t, "close", d.Close(), nil)
	want(t, "submit on a closed device", second(q.Submit(commands())), ErrClosed)
	want(t, "a closed device", second(d.NewUserQueue(UserQueueOptions{})), ErrClosed)
	for _, preset := range []string{"amd", "intel"} { // the latter has native fences
		want(t, preset, second(openDevice(t, WithAdapter(preset)).NewUserQueue(UserQueueOptions{})), abi.StatusNotSupported)
	}
}

// When the daemon dies, its doorbells are over.
func TestUserQueueOutlivesItsDaemon(t *testing.T) {
	daemon, err := startDaemon("@dxgsync-test-doorbell-death")
	want(t, "daemon", err, nil)
	d := openDevice(t, WithDaemon("@dxgsync-test-doorbell-death"))
	q := newUserQueue(t, d, UserQueueOptions{})
	want(t, "wait", submitUser(t, q, commands()).Wait(bg), nil)
	daemon.Close()
	for q.Status() != abi.DoorbellDisconnectedAbort {
		runtime.Gosched()
	}
	want(t, "submit", second(q.Submit(commands())), abi.StatusDeviceRemoved)
}

// Two processes submit by themselves.
func TestUserQueuesOfProcesses(t *testing.T) {
	address := daemon(t)
	d := openDevice(t, WithDaemon(address))
	f := newNative(t, d, NativeFenceOptions{Shared: true})
	p := start(t, "doorbell", address, &f.Fence)
	q := newUserQueue(t, d, UserQueueOptions{})
	for v := uint64(1); v < 2*sharedTurns; v += 2 {
		submitUser(t, q, commands().WaitNative(f, v).SignalNative(f, v+1))
	}
	want(t, "signal", f.Signal(1), nil)
	want(t, "wait", f.Wait(bg, 2*sharedTurns+1), nil)
	_ = p.input.Close()
	want(t, "the other", p.cmd.Wait(), nil)
}

// playDoorbell has the even turns on another node.
func playDoorbell() error {
	return playEvenTurns(func(d *Device) (submitter, error) { return d.NewUserQueue(UserQueueOptions{Node: 1}) })
}

// What comes and goes leaves no descriptor behind, in the program or the daemon, which is in
// this process too.
func TestUserQueueLeavesNothing(t *testing.T) {
	bothDoors(t, func(t *testing.T, d *Device) {
		once := func() {
			q := newUserQueue(t, d, UserQueueOptions{})
			f := newNative(t, d, NativeFenceOptions{Shared: true})
			want(t, "wait", submitUser(t, q, commands().SignalNative(f, 1)).Wait(bg), nil)
			raw := abi.CreateNativeFence{HDevice: d.handle}
			want(t, "raw fence", failure(d.s.CreateNativeFence(&raw)), nil)
			want(t, "raw destroy", failure(d.s.DestroySynchronizationObject(&abi.DestroySynchronizationObject{HSyncObject: raw.HSyncObject})), nil)
			made := abi.CreateHwQueueForUserModeSubmission{HHwContext: q.own.handle, HRingBuffer: q.buffer.handle}
			want(t, "raw queue", failure(d.s.CreateHwQueueForUserModeSubmission(&made)), nil)
			want(t, "raw connect", failure(d.s.ConnectDoorbell(&abi.ConnectDoorbell{HDoorbell: made.HHwQueue})), nil)
			want(t, "raw destroy", failure(d.s.DestroyHwQueue(&abi.DestroyHwQueue{HHwQueue: made.HHwQueue})), nil)
			want(t, "close", q.Close(), nil)
			want(t, "close", f.Close(), nil)
			want(t, "idle", d.WaitIdle(bg), nil)
		}
		for range 3 {
			once() // what is made once
		}
		before := descriptors(t)
		for range 20 {
			once()
		}
		for descriptors(t) > before { // the daemon closes its own a little later
			runtime.Gosched()
		}
	})
}

func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	want(t, "list the descriptors", err, nil)
	return len(all)
}
