package dxgsync

import (
	"testing"
	"time"

	"github.com/dxgsync/dxgsync/abi"
)

// A fence that is closed while commands that write it are queued faults nobody, and who
// has it too sees what they wrote.
func TestClosedWhileQueued(t *testing.T) {
	everyQueue(t, func(t *testing.T, d *Device, q queue) {
		gate, told := newFence(t, d, FenceOptions{}), newFence(t, d, FenceOptions{})
		private, shared := newFence(t, d, FenceOptions{}), newFence(t, d, FenceOptions{Shared: true})
		file, err := shared.Share()
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		theirs, err := newDevice(t, d.s).OpenShared(file, OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		want(t, "wait", q.Wait(gate.At(1)), nil)
		submit(t, q, commands().Delay(time.Microsecond).Write(private, 3).Write(shared, 4).Signal(told, 5))
		want(t, "close", private.Close(), nil)
		want(t, "close what is shared", shared.Close(), nil)
		again := newFence(t, d, FenceOptions{Initial: 1}) // perhaps in the room of the first
		want(t, "signal", gate.Signal(1), nil)
		want(t, "wait for the command behind", told.Wait(bg, 5), nil)
		want(t, "wait for what is theirs", theirs.Wait(bg, 4), nil)
		wantValue(t, again, 1)
		if state, err := d.State(); err != nil || state != abi.DeviceExecutionActive {
			t.Errorf("the device is %v, %v", state, err)
		}
	})
}

// Memory that is freed while commands use it stays until they are done.
func TestFreedWhileQueued(t *testing.T) {
	everyQueue(t, func(t *testing.T, d *Device, q queue) {
		gate := newFence(t, d, FenceOptions{})
		from, to := newBuffer(t, d, 4096), newBuffer(t, d, 4096)
		from.Bytes()[0] = 7
		want(t, "wait", q.Wait(gate.At(1)), nil)
		p := submit(t, q, commands().Delay(time.Microsecond).Copy(to, from))
		want(t, "destroy", failure(d.s.DestroyAllocation2(&abi.DestroyAllocation2{HDevice: d.Handle()}, []abi.Handle{from.handle})), nil)
		want(t, "signal", gate.Signal(1), nil)
		want(t, "wait for the end", p.Wait(bg), nil)
		if got := to.Bytes()[0]; got != 7 {
			t.Errorf("%d was copied", got)
		}
	})
}
