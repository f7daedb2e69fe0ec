package torture

import (
	"context"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync"
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/page"
)

// Descriptors of a mortal, from 3 on.
const (
	mortalFence  = 3 + iota // a native fence of the survivor
	mortalReport            // a byte when it may be killed
	mortalOrders            // a byte: what it does
)

// What a mortal does when it is killed.
const (
	promises  = iota // it has made a fence that a GPU of the survivor's waits for
	owes             // its user queue is to signal the survivor's fence
	stalls           // its hardware queue waits for that
	waits            // it waits for that by CPU
	says             // it has stored LastQueuedValue, and not rung
	lies             // it has rung more than there can be
	rings            // it rings
	makes            // it makes fences, queues and doorbells
	neverEnds        // its user queue hangs
	mortalKinds
)

// never is a value that no fence comes to.
const never = 1 << 40

// promised is the name of a mortal's fence.
func promised(pid int) string { return fmt.Sprintf("promised by %d", pid) }

// beMortal does something that it does not live to end.
func beMortal(socket string) error {
	s, err := dxgsync.Open(dxgsync.WithDaemon(socket))
	if err != nil {
		return err
	}
	d, err := s.NewDevice()
	if err != nil {
		return err
	}
	var kind [1]byte
	if _, err := unix.Read(mortalOrders, kind[:]); err != nil {
		return err
	}
	var opts dxgsync.OpenNativeOptions
	if kind[0] != owes {
		opts.Flags = abi.SyncObjectNoSignal // a device that is lost takes what it may signal with it
	}
	theirs, err := d.OpenSharedNative(os.NewFile(mortalFence, "fence"), opts)
	if err != nil {
		return err
	}
	ready := func() { _, _ = unix.Write(mortalReport, kind[:]) }
	if err := mortalKind(d, theirs, kind[0], ready); err != nil {
		return fmt.Errorf("kind %d: %w", kind[0], err)
	}
	ready()
	_, err = unix.Read(mortalOrders, kind[:]) // for ever
	return err
}

func mortalKind(d *dxgsync.Device, theirs *dxgsync.NativeFence, kind byte, ready func()) error {
	switch kind {
	case promises:
		f, err := d.NewNativeFence(dxgsync.NativeFenceOptions{Shared: true})
		if err != nil {
			return err
		}
		_, err = f.ShareWith(dxgsync.ShareOptions{Name: promised(os.Getpid())})
		return err
	case stalls:
		q, err := d.NewHwQueue(dxgsync.HwQueueOptions{})
		if err != nil {
			return err
		}
		_, err = q.Submit(new(dxgsync.CommandBuffer).WaitNative(theirs, never))
		return err
	case waits:
		_, err := theirs.Notify(never)
		return err
	case says, lies:
		return ringBy(d, kind == lies)
	case makes:
		ready()
		for {
			if _, err := d.NewNativeFence(dxgsync.NativeFenceOptions{Shared: true}); err != nil {
				return err
			}
			q, err := d.NewUserQueue(dxgsync.UserQueueOptions{Entries: 16})
			if err != nil {
				return err
			}
			if _, err := q.Submit(new(dxgsync.CommandBuffer)); err != nil {
				return err
			}
		}
	}
	node := uint32(0)
	if kind == neverEnds {
		node = 1 // where nobody else is
	}
	q, err := d.NewUserQueue(dxgsync.UserQueueOptions{Node: node})
	if err != nil {
		return err
	}
	switch kind {
	case owes:
		_, err = q.Submit(new(dxgsync.CommandBuffer).WaitNative(theirs, never).SignalNative(theirs, never+1))
	case neverEnds:
		_, err = q.Submit(new(dxgsync.CommandBuffer).Hang())
	case rings:
		ready()
		for err == nil {
			var p dxgsync.Point
			if p, err = q.Submit(new(dxgsync.CommandBuffer).WaitNative(theirs, 0)); err == nil && p.Value%64 == 0 {
				err = p.Wait(context.Background())
			}
		}
	}
	return err
}

// ringBy makes a queue with a doorbell by the calls, says that work is pending, and rings
// for what there is not, or not at all.
func ringBy(d *dxgsync.Device, lie bool) error {
	c, err := d.NewContext(dxgsync.ContextOptions{Flags: abi.ContextHwQueueSupported})
	if err != nil {
		return err
	}
	b, err := d.NewBuffer(4096)
	if err != nil {
		return err
	}
	rec := abi.CreateHwQueueForUserModeSubmission{HHwContext: c.Handle(), HRingBuffer: b.Handle()}
	r := &abi.Request{Op: abi.OpCreateHwQueueForUserModeSubmission, Record: unsafe.Slice((*byte)(unsafe.Pointer(&rec)), unsafe.Sizeof(rec))}
	if st := d.Session().Do(r); !st.OK() {
		return st
	}
	m, err := page.Map(r.Out[0].FD, page.PageSize, true)
	if err != nil {
		return err
	}
	if st := d.Session().ConnectDoorbell(&abi.ConnectDoorbell{HDoorbell: rec.HHwQueue}); !st.OK() {
		return st
	}
	m.Word64(128).Store(1) // LastQueuedValue
	if lie {
		m.Word64(0).Store(1 << 63)
	}
	return nil
}
