package torture

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync"
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
)

// Descriptors of a victim, from 3 on.
const (
	victimReport = 3 + iota // a byte, its number, for every hang: before it, or when it is over
	victimOrders            // a byte, what kind it is; then the end: leave
)

// The kinds of victims.
const (
	hangsContext = iota // a context of adapter 0
	hangsQueue          // a hardware queue of adapter 0
	hangsAdapter        // adapter 1, which cannot reset an engine alone
	isInTheWay          // of adapter 1: it never hangs, and loses its device all the same
	dies                // hangs a context of adapter 0, and is killed there
	victimKinds
)

// A victim makes a device with everything, has it lost, and makes a new one, over and
// over until it is told to leave.
type victim struct {
	s       *dxgsync.Session
	kind    byte
	adapter *dxgsync.Adapter
}

// What a life of a victim needs of one device.
type life struct {
	*victim
	d       *dxgsync.Device
	context abi.Handle
	queue   abi.Handle // 0: it works in the context
	fence   *dxgsync.Fence
	buffer  uint64 // where a buffer that hangs is
	length  uint32
}

func beVictim(socket string) error {
	s, err := dxgsync.Open(dxgsync.WithDaemon(socket))
	if err != nil {
		return err
	}
	v := &victim{s: s}
	var kind [1]byte
	if _, err := unix.Read(victimOrders, kind[:]); err != nil {
		return err
	}
	v.kind = kind[0]
	adapters, err := s.Adapters()
	if err != nil {
		return err
	}
	v.adapter = adapters[0]
	if v.kind == hangsAdapter || v.kind == isInTheWay {
		v.adapter = adapters[1]
	}
	var leave atomic.Bool
	go func() {
		_, _ = unix.Read(victimOrders, kind[:])
		leave.Store(true)
	}()
	for !leave.Load() {
		if err := v.live(&leave); err != nil {
			return fmt.Errorf("kind %d: %w", v.kind, err)
		}
	}
	for _, a := range adapters {
		_ = a.Close()
	}
	return s.Close()
}

// live is one life: of a device until it is lost.
func (v *victim) live(leave *atomic.Bool) error {
	d, err := v.adapter.NewDevice(dxgsync.DeviceOptions{})
	if err != nil {
		return err
	}
	l := &life{victim: v, d: d}
	err = l.make()
	if v.kind == isInTheWay {
		for n := uint64(1); err == nil && !leave.Load(); n++ {
			err = l.step(n)
		}
	} else if err == nil {
		err = l.hang()
	}
	// Whatever it was doing, a device that was lost is a reason to stop.
	state, stateErr := d.State()
	lost := stateErr == nil && state != abi.DeviceExecutionActive
	switch {
	case stateErr != nil:
		return errors.Join(err, stateErr)
	case !lost && err != nil:
		return err
	case lost && v.kind == hangsAdapter && state == abi.DeviceExecutionReset:
		// another one was first
	case lost && v.kind == isInTheWay && state == abi.DeviceExecutionReset:
		// that is what it is there for
	case lost && state != abi.DeviceExecutionHung:
		return fmt.Errorf("the device is %v", state)
	case !lost && !leave.Load():
		return errors.New("nothing happened to the device")
	}
	if lost && l.fence != nil && !l.fence.Lost() {
		return fmt.Errorf("the device is %v, and its fence at %d", state, l.fence.Value())
	}
	if err := d.Close(); err != nil {
		return err
	}
	if lost && v.kind != dies {
		return report(v.kind)
	}
	return nil
}

func report(kind byte) error {
	_, err := unix.Write(victimReport, []byte{kind})
	return err
}

// make makes what the device needs. It fails when the device is lost meanwhile.
func (l *life) make() error {
	var flags abi.CreateContextFlags
	if l.kind == hangsQueue {
		flags = abi.ContextHwQueueSupported
	}
	c, err := l.d.NewContext(dxgsync.ContextOptions{Flags: flags})
	if err != nil {
		return err
	}
	l.context = c.Handle()
	if l.kind == hangsQueue {
		rec := abi.CreateHwQueue{HHwContext: l.context}
		if st := l.s.CreateHwQueue(&rec, nil); !st.OK() {
			return st
		}
		l.queue = rec.HHwQueue
	}
	if l.fence, err = l.d.NewFence(dxgsync.FenceOptions{Shared: true}); err != nil {
		return err
	}
	return l.place(cmdbuf.New().Hang())
}

// place puts a command buffer into memory of the GPU.
func (l *life) place(b *cmdbuf.Buffer) error {
	paging := abi.CreatePagingQueue{HDevice: l.d.Handle()}
	if st := l.s.CreatePagingQueue(&paging); !st.OK() {
		return st
	}
	heap := append([]byte("heap"), 1, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0) // a page of memory
	infos := []abi.AllocationInfo2{{}}
	if st := l.s.CreateAllocation2(&abi.CreateAllocation2{HDevice: l.d.Handle()}, infos, dxgsync.AllocationData{Each: [][]byte{heap}}); !st.OK() {
		return st
	}
	m := abi.MapGpuVirtualAddress{HPagingQueue: paging.HPagingQueue, HAllocation: infos[0].HAllocation, SizeInPages: 1}
	m.Protection = abi.GpuProtectionWrite
	if st := l.s.MapGpuVirtualAddress(&m); !st.OK() {
		return st
	}
	if st := l.s.WaitForSynchronizationObjectFromCpu(&abi.WaitForSynchronizationObjectFromCpu{HDevice: l.d.Handle()},
		[]abi.Handle{paging.HSyncObject}, []uint64{m.PagingFenceValue}); !st.OK() {
		return st
	}
	lock := abi.Lock2{HDevice: l.d.Handle(), HAllocation: infos[0].HAllocation}
	memory, st := l.s.Lock2(&lock)
	if !st.OK() {
		return st
	}
	l.buffer, l.length = m.VirtualAddress, uint32(copy(memory, b.Bytes()))
	return nil
}

// hang submits the buffer with a signal behind it, and waits.
func (l *life) hang() error {
	if l.kind == dies {
		if err := report(dies); err != nil {
			return err
		}
	}
	var st abi.Status
	if l.queue != 0 {
		st = l.s.SubmitCommandToHwQueue(&abi.SubmitCommandToHwQueue{HHwQueue: l.queue, HwQueueProgressFenceId: 1, CommandBuffer: l.buffer, CommandLength: l.length}, nil, nil)
		if st.OK() {
			st = l.s.SubmitSignalSyncObjectsToHwQueue(&abi.SubmitSignalSyncObjectsToHwQueue{ObjectCount: 1, BroadcastHwQueueCount: 1},
				[]abi.Handle{l.queue}, []abi.Handle{l.fence.Handle()}, []uint64{1})
		}
	} else {
		st = l.submit(l.buffer, l.length, 1)
	}
	if !st.OK() {
		return st
	}
	return l.fence.Wait(context.Background(), 1)
}

// submit submits a buffer to the context with a signal behind it.
func (l *life) submit(buffer uint64, length uint32, value uint64) abi.Status {
	rec := abi.SubmitCommand{Commands: buffer, CommandLength: length, BroadcastContextCount: 1}
	rec.BroadcastContext[0] = l.context
	if st := l.s.SubmitCommand(&rec, nil, nil); !st.OK() {
		return st
	}
	return l.s.SignalSynchronizationObjectFromGpu(&abi.SignalSynchronizationObjectFromGpu{HContext: l.context, ObjectCount: 1},
		[]abi.Handle{l.fence.Handle()}, []uint64{value})
}

// step does a little work that does not hang.
func (l *life) step(n uint64) error {
	if st := l.submit(0, 0, n); !st.OK() {
		return st
	}
	if err := l.fence.Wait(context.Background(), n); err != nil {
		return err
	}
	if l.fence.Lost() {
		return abi.StatusDeviceRemoved
	}
	return nil
}

// linkDone is what a link reports; victims report smaller numbers.
const linkDone = 0xFE

// Descriptors of a link of a chain, from 3 on; two fences come before.
const (
	linkReport = 5 + iota // a byte when all is done
	linkOrders            // a byte, whether it is the second and whether it uses a hardware queue; then 8, how far to go; then the end: leave
)

// link waits on the GPU for every value of one fence and signals it to the other: with
// another process it makes a chain that has to go on whatever hangs beside it.
func link(socket string) error {
	d, fences, err := join(socket, 2)
	if err != nil {
		return err
	}
	defer d.Session().Close()
	var order [8]byte
	if _, err := unix.Read(linkOrders, order[:1]); err != nil {
		return err
	}
	second, hardware := order[0]&1, order[0]&2 != 0
	in, out := fences[1-second], fences[second]
	l := &life{victim: &victim{s: d.Session()}, d: d, fence: out}
	if hardware {
		l.kind = hangsQueue
	}
	c, err := d.NewContext(dxgsync.ContextOptions{Flags: map[bool]abi.CreateContextFlags{true: abi.ContextHwQueueSupported}[hardware]})
	if err != nil {
		return err
	}
	l.context = c.Handle()
	if hardware {
		rec := abi.CreateHwQueue{HHwContext: l.context}
		if st := l.s.CreateHwQueue(&rec, nil); !st.OK() {
			return st
		}
		l.queue = rec.HHwQueue
	}
	ctx, stop := context.WithCancel(context.Background())
	var goal atomic.Uint64
	goal.Store(1 << 62)
	go func() {
		if n, _ := unix.Read(linkOrders, order[:]); n == 8 {
			goal.Store(binary.LittleEndian.Uint64(order[:]))
		}
		stop()
	}()
	const ahead = 8
	for n := uint64(1); n <= goal.Load(); n++ {
		if n > ahead && ctx.Err() == nil {
			if err := out.Wait(ctx, n-ahead); err != nil && !errors.Is(err, context.Canceled) {
				return fmt.Errorf("link %d at %d: %w", second, n, err)
			}
		}
		if st := l.pass(in, n, uint64(1-second)); !st.OK() {
			return fmt.Errorf("link %d at %d: %w", second, n, st)
		}
	}
	if err := out.Wait(context.Background(), goal.Load()); err != nil {
		return err
	}
	if state, err := d.State(); err != nil || state != abi.DeviceExecutionActive || out.Lost() || in.Lost() {
		return fmt.Errorf("link %d: the device is %v, the fences at %d and %d, %w", second, state, in.Value(), out.Value(), err)
	}
	if _, err := unix.Write(linkReport, []byte{linkDone}); err != nil {
		return err
	}
	_, _ = unix.Read(linkOrders, order[:]) // the other one may need what is queued here
	return d.Close()
}

// pass queues one link: wait for n less lag, run something, signal n.
func (l *life) pass(in *dxgsync.Fence, n, lag uint64) abi.Status {
	if l.queue == 0 {
		if st := l.s.WaitForSynchronizationObjectFromGpu(&abi.WaitForSynchronizationObjectFromGpu{HContext: l.context, ObjectCount: 1}, []abi.Handle{in.Handle()}, []uint64{n - lag}); !st.OK() {
			return st
		}
		return l.submit(0, 0, n)
	}
	if st := l.s.SubmitWaitForSyncObjectsToHwQueue(&abi.SubmitWaitForSyncObjectsToHwQueue{HHwQueue: l.queue, ObjectCount: 1}, []abi.Handle{in.Handle()}, []uint64{n - lag}); !st.OK() {
		return st
	}
	if st := l.s.SubmitCommandToHwQueue(&abi.SubmitCommandToHwQueue{HHwQueue: l.queue, HwQueueProgressFenceId: n}, nil, nil); !st.OK() {
		return st
	}
	return l.s.SubmitSignalSyncObjectsToHwQueue(&abi.SubmitSignalSyncObjectsToHwQueue{ObjectCount: 1, BroadcastHwQueueCount: 1},
		[]abi.Handle{l.queue}, []abi.Handle{l.fence.Handle()}, []uint64{n})
}
