package dxgsync

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/dxgsync/dxgsync/abi"
)

// bothDoors runs a test on a kernel in this process and behind a daemon.
func bothDoors(t *testing.T, test func(t *testing.T, d *Device)) {
	for name, remote := range map[string]bool{"here": false, "daemon": true} {
		t.Run(name, func(t *testing.T) { test(t, where{remote: remote}.device(t)) })
	}
}

// A queue is what tests do with contexts and hardware queues alike.
type queue interface {
	Submit(*CommandBuffer) (Point, error)
	Wait(...Point) error
	Signal(...Point) error
	Do(Work) (*Job, error)
	Close() error
}

// everyQueue runs a test with either kind of queue, on both doors.
func everyQueue(t *testing.T, test func(t *testing.T, d *Device, q queue)) {
	bothDoors(t, func(t *testing.T, d *Device) {
		t.Run("context", func(t *testing.T) {
			d := newDevice(t, d.s)
			test(t, d, newContext(t, d, 0))
		})
		t.Run("hardware queue", func(t *testing.T) {
			d := newDevice(t, d.s)
			q, err := d.NewHwQueue(HwQueueOptions{})
			if err != nil {
				t.Fatal(err)
			}
			test(t, d, q)
		})
	})
}

func newContext(t testing.TB, d *Device, node uint32) *Context {
	t.Helper()
	c, err := d.NewContext(ContextOptions{Node: node})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newBuffer(t testing.TB, d *Device, size int) *Buffer {
	t.Helper()
	b, err := d.NewBuffer(size)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func submit(t testing.TB, q queue, cb *CommandBuffer) Point {
	t.Helper()
	p, err := q.Submit(cb)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func commands() *CommandBuffer { return new(CommandBuffer) }

func TestCommandsHappenInOrder(t *testing.T) {
	everyQueue(t, func(t *testing.T, d *Device, q queue) {
		a, b := newBuffer(t, d, 5000), newBuffer(t, d, 5000)
		for i := range a.Bytes() {
			a.Bytes()[i] = byte(i)
		}
		told, written := newFence(t, d, FenceOptions{}), newFence(t, d, FenceOptions{Shared: true})
		cb := commands().Copy(b, a).Fill(b.Range(4, 8), 0xDDCCBBAA).Signal(told, 7).Write(written, 9)
		p := submit(t, q, cb)
		want(t, "wait for the command", told.Wait(bg, 7), nil)
		want(t, "wait for the end", p.Wait(bg), nil)
		wantValue(t, written, 9)
		for i, got := range b.Bytes() {
			want := byte(i)
			if i >= 4 && i < 12 {
				want = 0xAA + 0x11*byte(i%4)
			}
			if got != want {
				t.Fatalf("byte %d is %#x, want %#x", i, got, want)
			}
		}
	})
}

func TestQueuedWaitHoldsWhatComesAfter(t *testing.T) {
	everyQueue(t, func(t *testing.T, d *Device, q queue) {
		gate, after := newFence(t, d, FenceOptions{}), newFence(t, d, FenceOptions{})
		want(t, "wait", q.Wait(gate.At(3)), nil)
		p := submit(t, q, commands())
		want(t, "signal", q.Signal(after.At(1)), nil)
		other := newContext(t, d, 1) // is not held
		want(t, "the other's end", submit(t, other, commands()).Wait(bg), nil)
		if after.Value() != 0 || p.Fence.Value() == p.Value {
			t.Fatal("something passed the wait")
		}
		want(t, "open", gate.Signal(3), nil)
		want(t, "signalled", after.Wait(bg, 1), nil)
		if p.Fence.Value() < p.Value {
			t.Fatal("the signal came before the end of the command buffer before it")
		}
	})
}

func TestWorkTakesItsTurn(t *testing.T) {
	everyQueue(t, func(t *testing.T, d *Device, q queue) {
		var log []string // in queue order, so without a lock
		note := func(s string, err error) Work {
			return func(context.Context) error { log = append(log, s); return err }
		}
		b := newBuffer(t, d, 8)
		wrong := errors.New("wrong")
		submit(t, q, commands().Fill(b, 1))
		first, err := q.Do(func(context.Context) error {
			log = append(log, "first sees "+string('0'+rune(b.Bytes()[0])))
			return nil
		})
		want(t, "do", err, nil)
		submit(t, q, commands().Fill(b, 2))
		second, err := q.Do(note("second", wrong))
		want(t, "do", err, nil)
		third, err := q.Do(note("third", nil))
		want(t, "do", err, nil)
		want(t, "third", third.Wait(bg), nil)
		want(t, "first", first.Wait(bg), nil)
		want(t, "second", second.Wait(bg), wrong)
		want(t, "the device", d.Err(), nil)
		if len(log) != 3 || log[0] != "first sees 1" || log[1] != "second" || log[2] != "third" {
			t.Fatalf("%q", log)
		}
	})
}

func TestWorkIsToldOfTheEnd(t *testing.T) {
	everyQueue(t, func(t *testing.T, d *Device, q queue) {
		running := make(chan struct{})
		first, err := q.Do(func(ctx context.Context) error {
			close(running)
			<-ctx.Done()
			return context.Cause(ctx)
		})
		want(t, "do", err, nil)
		next, err := q.Do(func(context.Context) error { t.Error("the second ran"); return nil })
		want(t, "do", err, nil)
		<-running
		want(t, "close", q.Close(), nil)
		want(t, "the first", first.Wait(bg), ErrClosed)
		want(t, "the second", next.Wait(bg), ErrClosed)
		want(t, "do", second(q.Do(func(context.Context) error { return nil })), ErrClosed)
		want(t, "submit", second(q.Submit(commands())), ErrClosed)
		want(t, "close again", q.Close(), ErrClosed)
	})
}

func TestWorkIsToldOfALoss(t *testing.T) {
	everyQueue(t, func(t *testing.T, d *Device, q queue) {
		running := make(chan struct{})
		job, err := q.Do(func(ctx context.Context) error {
			close(running)
			<-ctx.Done()
			return context.Cause(ctx)
		})
		want(t, "do", err, nil)
		<-running
		submit(t, q, commands())
		want(t, "lose", failure(d.s.MarkDeviceAsError(&abi.MarkDeviceAsError{HDevice: d.handle, Reason: abi.DeviceErrorGeneric})), nil)
		want(t, "the job", job.Wait(bg), ErrLost)
		want(t, "submit", second(q.Submit(commands())), abi.StatusGraphicsGpuExceptionOnDevice)
		want(t, "submit", second(q.Submit(commands())), ErrLost)
		want(t, "wait idle", d.WaitIdle(bg), ErrLost)
		want(t, "a fence", second(d.NewFence(FenceOptions{})), ErrLost)
		want(t, "a buffer", second(d.NewBuffer(1)), ErrLost)
		want(t, "a context", second(d.NewContext(ContextOptions{})), ErrLost)
		var loss *LossError
		if !errors.As(d.Err(), &loss) || loss.State != abi.DeviceExecutionHung {
			t.Fatalf("%v", d.Err())
		}
	})
}

func TestJobWaitEndsWithItsContext(t *testing.T) {
	bothDoors(t, func(t *testing.T, d *Device) {
		c := newContext(t, d, 0)
		end := make(chan struct{})
		job, err := c.Do(func(context.Context) error { <-end; return nil })
		want(t, "do", err, nil)
		reason := errors.New("reason")
		ctx, cancel := context.WithCancelCause(bg)
		cancel(reason)
		want(t, "wait", job.Wait(ctx), reason)
		want(t, "wait idle", d.WaitIdle(ctx), reason)
		close(end)
		want(t, "wait", job.Wait(bg), nil)
		want(t, "wait idle", d.WaitIdle(bg), nil)
	})
}

func TestBroadcastTakesTheLast(t *testing.T) {
	bothDoors(t, func(t *testing.T, d *Device) {
		a, b := newContext(t, d, 0), newContext(t, d, 1)
		gate, f := newFence(t, d, FenceOptions{}), newFence(t, d, FenceOptions{Initial: 5})
		want(t, "hold b", b.Wait(gate.At(1)), nil)
		event, err := a.Event(b)
		want(t, "event", err, nil)
		defer event.Close()
		want(t, "broadcast", a.SignalWith(SignalOptions{Contexts: []*Context{b}, Rewind: true}, f.At(2)), nil)
		want(t, "a's end", submit(t, a, commands()).Wait(bg), nil)
		wantValue(t, f, 5)
		want(t, "open", gate.Signal(1), nil)
		want(t, "b's end", submit(t, b, commands()).Wait(bg), nil)
		wantValue(t, f, 2)
		if n, err := event.Read(make([]byte, 8)); n != 8 || err != nil {
			t.Fatal(n, err)
		}
	})
}

func TestSignalAtSubmission(t *testing.T) {
	bothDoors(t, func(t *testing.T, d *Device) {
		c := newContext(t, d, 0)
		f := newFence(t, d, FenceOptions{})
		p := submit(t, c, commands().Delay(time.Hour))
		want(t, "signal", c.SignalWith(SignalOptions{AtSubmission: true}, f.At(1)), nil)
		want(t, "wait", f.Wait(bg, 1), nil)
		if p.Fence.Value() >= p.Value {
			t.Fatal("an hour has passed")
		}
	})
}

func TestQueueRefusals(t *testing.T) {
	everyQueue(t, func(t *testing.T, d *Device, q queue) {
		other := newDevice(t, d.s)
		f, foreign := newFence(t, d, FenceOptions{}), newFence(t, other, FenceOptions{})
		closed := newFence(t, d, FenceOptions{})
		want(t, "close", closed.Close(), nil)
		silent := newFence(t, d, FenceOptions{Flags: abi.SyncObjectNoSignal})
		unheard := newFence(t, d, FenceOptions{Flags: abi.SyncObjectNoWait})
		hidden := newFence(t, d, FenceOptions{Flags: abi.SyncObjectNoGPUAccess})
		b, gone := newBuffer(t, d, 16), newBuffer(t, d, 16)
		want(t, "close", gone.Close(), nil)
		elsewhere := newBuffer(t, openDevice(t), 16)
		many := make([]Point, MaxPoints+1)
		for i := range many {
			many[i] = f.At(0)
		}
		long := commands()
		for range MaxCommands / 8 {
			long.Delay(0)
		}
		for what, c := range map[string]struct{ err, want error }{
			"no points":           {q.Wait(), abi.StatusInvalidParameter},
			"nothing to signal":   {q.Signal(), abi.StatusInvalidParameter},
			"too many points":     {q.Wait(many...), abi.StatusInvalidParameter},
			"too many to signal":  {q.Signal(many...), abi.StatusInvalidParameter},
			"a nil fence":         {q.Wait(Point{}), abi.StatusInvalidParameter},
			"another device's":    {q.Wait(foreign.At(1)), abi.StatusInvalidParameter},
			"a closed fence":      {q.Signal(closed.At(1)), ErrClosed},
			"no right to signal":  {q.Signal(silent.At(1)), abi.StatusAccessDenied},
			"no right to wait":    {q.Wait(unheard.At(1)), abi.StatusAccessDenied},
			"no command buffer":   {second(q.Submit(nil)), abi.StatusInvalidParameter},
			"signal of nil":       {second(q.Submit(commands().Signal(nil, 1))), abi.StatusInvalidParameter},
			"signal of closed":    {second(q.Submit(commands().Signal(closed, 1))), ErrClosed},
			"no address":          {second(q.Submit(commands().Write(hidden, 1))), abi.StatusInvalidParameter},
			"copy from nil":       {second(q.Submit(commands().Copy(b, nil))), abi.StatusInvalidParameter},
			"fill a nil buffer":   {second(q.Submit(commands().Fill((*Buffer)(nil), 0))), abi.StatusInvalidParameter},
			"beyond the buffer":   {second(q.Submit(commands().Fill(b.Range(8, 9), 0))), abi.StatusInvalidParameter},
			"a closed buffer":     {second(q.Submit(commands().Fill(gone, 0))), ErrClosed},
			"of another session":  {second(q.Submit(commands().Fill(elsewhere, 0))), abi.StatusInvalidParameter},
			"too long":            {second(q.Submit(long)), abi.StatusInvalidParameter},
			"no work":             {second(q.Do(nil)), abi.StatusInvalidParameter},
			"buffer of 0 bytes":   {second(d.NewBuffer(0)), abi.StatusInvalidParameter},
			"another's device":    {second(q.Submit(commands().Signal(foreign, 1))), nil},
			"an error then reset": {second(q.Submit(commands().Signal(nil, 1).Reset())), nil},
		} {
			want(t, what, c.err, c.want)
		}
		want(t, "everything still works", submit(t, q, commands().Fill(b, 0)).Wait(bg), nil)
		wantValue(t, foreign, 1)
	})
}

func TestClosedDeviceRefuses(t *testing.T) {
	everyQueue(t, func(t *testing.T, d *Device, q queue) {
		f, b := newFence(t, d, FenceOptions{}), newBuffer(t, d, 8)
		want(t, "close", d.Close(), nil)
		for what, err := range map[string]error{
			"wait": q.Wait(f.At(1)), "signal": q.Signal(f.At(1)), "submit": second(q.Submit(commands())),
			"do": second(q.Do(func(context.Context) error { return nil })), "close the queue": q.Close(),
			"close the buffer": b.Close(), "buffer": second(d.NewBuffer(8)), "context": second(d.NewContext(ContextOptions{})),
			"queue": second(d.NewHwQueue(HwQueueOptions{})), "idle": d.WaitIdle(bg), "err": d.Err(), "fault": second(d.Fault()),
			"nodes": second(d.Nodes()),
		} {
			want(t, what, err, ErrClosed)
			want(t, what, err, os.ErrClosed)
		}
	})
}

// Work that takes longer than a quantum is preempted and goes on where it was, also when
// somebody else wants the engine.
func TestLongWorkEnds(t *testing.T) {
	bothDoors(t, func(t *testing.T, d *Device) {
		a, b := newContext(t, d, 0), newContext(t, d, 0)
		x := submit(t, a, commands().Delay(60*time.Millisecond))
		y := submit(t, b, commands().Delay(60*time.Millisecond))
		want(t, "the end of both", WaitAll(bg, x, y), nil)
		want(t, "the device", d.Err(), nil)
	})
}
