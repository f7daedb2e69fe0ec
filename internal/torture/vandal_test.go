package torture

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync"
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/internal/page"
	"github.com/dxgsync/dxgsync/internal/softgpu"
)

// Descriptors of a vandal, from 3 on.
const (
	vandalReport = 3 + iota // a byte when it has begun
	vandalOrders            // a byte: its habit
)

// vandalHabits are what vandals do over and over, on a new device each time.
var vandalHabits = [...]func(d *dxgsync.Device, random *rand.Rand) error{
	scribble, scramble, forge, pull, abandon, crowdOut,
}

// beVandal does it until it is killed. Whatever a call answers is as good as anything,
// unless the daemon is gone.
func beVandal(socket string) error {
	s, err := dxgsync.Open(dxgsync.WithDaemon(socket))
	if err != nil {
		return err
	}
	var habit [1]byte
	if _, err := unix.Read(vandalOrders, habit[:]); err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(uint64(habit[0]), 1))
	for {
		d, err := s.NewDevice()
		if err != nil {
			return err
		}
		err = vandalHabits[habit[0]](d, random)
		var status abi.Status
		if err != nil && !errors.As(err, &status) && !errors.Is(err, dxgsync.ErrLost) {
			return fmt.Errorf("habit %d: %w", habit[0], err)
		}
		if err := d.Close(); err != nil {
			return err
		}
		_, _ = unix.Write(vandalReport, habit[:])
	}
}

// A rawBell is a queue made by the calls, with the page of its doorbell.
type rawBell struct {
	context          *dxgsync.Context
	handle, progress abi.Handle
	page             *page.Memory
	ring             *dxgsync.Buffer
	at               uint64 // GPU virtual address of the progress fence
	logs             abi.NativeFenceLogDetail
}

func newRawBell(d *dxgsync.Device, c *dxgsync.Context, entries int) (*rawBell, error) {
	b, err := d.NewBuffer(entries * cmdbuf.RingEntrySize)
	if err != nil {
		return nil, err
	}
	rec := abi.CreateHwQueueForUserModeSubmission{HHwContext: c.Handle(), HRingBuffer: b.Handle(), HRingBufferControl: b.Handle()}
	r := &abi.Request{Op: abi.OpCreateHwQueueForUserModeSubmission, Record: unsafe.Slice((*byte)(unsafe.Pointer(&rec)), unsafe.Sizeof(rec))}
	if st := d.Session().Do(r); !st.OK() {
		return nil, st
	}
	m, err := page.Map(r.Out[0].FD, page.PageSize, true)
	for _, f := range r.Out {
		_ = unix.Close(f.FD)
	}
	if err != nil {
		return nil, err
	}
	if st := d.Session().ConnectDoorbell(&abi.ConnectDoorbell{HDoorbell: rec.HHwQueue}); !st.OK() {
		return nil, st
	}
	return &rawBell{c, rec.HHwQueue, rec.HProgressFence, m, b, rec.ProgressFenceMapping.CurrentValueGpuVa, rec.LogBufferInfo}, nil
}

// newLoneBell makes one in a context of its own.
func newLoneBell(d *dxgsync.Device, entries int) (*rawBell, error) {
	c, err := d.NewContext(dxgsync.ContextOptions{Flags: abi.ContextHwQueueSupported})
	if err != nil {
		return nil, err
	}
	return newRawBell(d, c, entries)
}

// Offsets in the page of a doorbell. Source: docs/protocol-wire.md.
const (
	bellOffset, secondaryOffset, lastQueuedOffset = 0, 64, 128
)

// scribble writes anything into the words of a doorbell, as quickly as it can.
func scribble(d *dxgsync.Device, random *rand.Rand) error {
	b, err := newLoneBell(d, 64)
	if err != nil {
		return err
	}
	defer b.page.Unmap()
	for i := range 200_000 {
		b.page.Word64(lastQueuedOffset).Store(random.Uint64())
		if i%1000 == 999 {
			b.page.Word64(bellOffset).Add(random.Uint64N(3))
		}
		if i == 199_000 {
			b.page.Word64(bellOffset).Store(random.Uint64())
			b.page.Word64(secondaryOffset).Store(random.Uint64())
		}
	}
	return nil
}

// scramble rings for entries that are no entries, and changes them meanwhile.
func scramble(d *dxgsync.Device, random *rand.Rand) error {
	b, err := newLoneBell(d, 4096)
	if err != nil {
		return err
	}
	defer b.page.Unmap()
	ring := b.ring.Bytes()
	for i := range 4096 {
		entry := binary.LittleEndian.AppendUint64(nil, b.ring.GPUAddress()+random.Uint64N(4096))
		copy(ring[i*16:], binary.LittleEndian.AppendUint64(entry, random.Uint64N(1<<8)))
	}
	for i := range uint64(2000) {
		if i%500 != 0 { // mostly of no length
			binary.LittleEndian.PutUint64(ring[i*16+8:], 0)
		}
		b.page.Word64(bellOffset).Store(i + 1)
	}
	return nil
}

// forge has its GPU write anything into its logs and monitored values, and signal then,
// with many waits that the kernel has to look at.
func forge(d *dxgsync.Device, random *rand.Rand) error {
	b, err := newLoneBell(d, 64)
	if err != nil {
		return err
	}
	defer b.page.Unmap()
	var fences []*dxgsync.NativeFence
	for range 200 {
		f, err := d.NewNativeFence(dxgsync.NativeFenceOptions{})
		if err != nil {
			return err
		}
		event, err := f.Notify(never)
		if err != nil {
			return err
		}
		defer event.Close()
		fences = append(fences, f)
	}
	q, err := d.NewUserQueue(dxgsync.UserQueueOptions{Context: b.context})
	if err != nil {
		return err
	}
	var own abi.GetNativeFenceLogDetail
	own.HHwQueue = q.Handle()
	r := &abi.Request{Op: abi.OpByNr(0x8010), Record: unsafe.Slice((*byte)(unsafe.Pointer(&own)), unsafe.Sizeof(own))}
	if st := d.Session().Do(r); !st.OK() {
		return st
	}
	for range 200 {
		f := fences[random.IntN(len(fences))]
		cb := new(dxgsync.CommandBuffer).Add(
			cmdbuf.Write64{VA: own.SignalLogGpuBaseAddress, Value: random.Uint64() >> random.IntN(64)},
			cmdbuf.Write64{VA: own.WaitLogGpuBaseAddress, Value: random.Uint64()},
			cmdbuf.Write64{VA: b.logs.SignalLogGpuBaseAddress + 40 + 8*random.Uint64N(6), Value: random.Uint64()},
			cmdbuf.Copy{Dst: own.WaitLogGpuBaseAddress + 8, Src: f.MonitoredGPUAddress(), Bytes: 8},
			cmdbuf.SignalNative{VA: f.GPUAddress(), Value: random.Uint64N(never), Monitored: own.SignalLogGpuBaseAddress, Fence: random.Uint32()},
			cmdbuf.SignalNative{VA: f.GPUAddress(), Value: random.Uint64N(2 * never), Monitored: f.MonitoredGPUAddress(), Fence: uint32(f.Handle())},
		)
		p, err := q.Submit(cb)
		if err != nil {
			return err
		}
		if p.Value%16 == 0 {
			if err := p.Wait(context.Background()); err != nil {
				return err
			}
		}
	}
	p, err := q.Submit(new(dxgsync.CommandBuffer).Add(cmdbuf.Write64{VA: fences[0].MonitoredGPUAddress(), Value: 1})) // a page fault
	if err != nil {
		return err
	}
	return p.Wait(context.Background())
}

// pull takes away the memory that its GPU fetches from.
func pull(d *dxgsync.Device, random *rand.Rand) error {
	c, err := d.NewContext(dxgsync.ContextOptions{Flags: abi.ContextHwQueueSupported})
	if err != nil {
		return err
	}
	for range 4 {
		b, err := newRawBell(d, c, 1024)
		if err != nil {
			return err
		}
		b.page.Word64(lastQueuedOffset).Store(5)
		b.page.Word64(bellOffset).Store(random.Uint64N(1000))
		if err := b.ring.Close(); err != nil {
			return err
		}
		b.page.Word64(bellOffset).Store(1000)
		b.page.Unmap()
	}
	return c.Close()
}

// abandon destroys fences that its GPU waits for, and signals those that are gone.
func abandon(d *dxgsync.Device, random *rand.Rand) error {
	q, err := d.NewUserQueue(dxgsync.UserQueueOptions{})
	if err != nil {
		return err
	}
	h, err := d.NewHwQueue(dxgsync.HwQueueOptions{})
	if err != nil {
		return err
	}
	for range 20 {
		f, err := d.NewNativeFence(dxgsync.NativeFenceOptions{Shared: random.IntN(2) == 0})
		if err != nil {
			return err
		}
		for _, s := range []interface {
			Submit(*dxgsync.CommandBuffer) (dxgsync.Point, error)
		}{q, h} {
			if _, err := s.Submit(new(dxgsync.CommandBuffer).WaitNative(f, 1).Add(cmdbuf.Write64{VA: f.GPUAddress(), Value: 9})); err != nil {
				return err
			}
		}
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// crowdOut connects more doorbells than there can be connected.
func crowdOut(d *dxgsync.Device, _ *rand.Rand) error {
	for i := range uint32(80) {
		q, err := d.NewUserQueue(dxgsync.UserQueueOptions{Node: i % 3, Entries: 2})
		if err != nil {
			return err
		}
		if _, err := q.Submit(new(dxgsync.CommandBuffer)); err != nil {
			return err
		}
	}
	return nil
}

// Processes that write anything where they may write, and take away what is in use, are in
// nobody's way: another goes on, is not lost, and nothing is left of them.
func TestVandals(t *testing.T) {
	turns := defaultTurns
	if testing.Short() {
		turns /= 10
	}
	th := newTheatre(t, patient)
	defer th.hangs.Close()
	defer th.report.Close()
	held := [2]softgpu.Holdings{th.gpu(0).Holdings(), th.gpu(1).Holdings()}
	s, err := dxgsync.Open(dxgsync.WithDaemon(th.socket))
	if err != nil {
		t.Fatal(err)
	}
	v := newSurvivor(th, s)
	var vandals []actor
	for habit := range vandalHabits {
		vandals = append(vandals, th.act("vandal", byte(habit)))
	}
	var devices [len(vandalHabits)]atomic.Int64
	go func() {
		for {
			b := make([]byte, 1)
			if _, err := th.hangs.Read(b); err != nil {
				return
			}
			devices[b[0]].Add(1)
		}
	}()
	all := func() bool {
		for i := range devices {
			if devices[i].Load() < 2 {
				return false
			}
		}
		return true
	}
	for n, deadline := 0, time.Now().Add(patience); n < turns || !all(); n++ {
		if err := v.goOn(); err != nil {
			t.Fatalf("turn %d: %v", n, err)
		}
		if !all() && time.Now().After(deadline) {
			t.Fatalf("the vandals have had too few devices")
		}
	}
	var had [len(vandalHabits)]int64
	for i := range had {
		had[i] = devices[i].Load()
	}
	t.Logf("the vandals have had devices: %v", had)
	for _, a := range vandals {
		kill(a.cmd)
		a.orders.Close()
	}
	if state, err := v.d.State(); err != nil || state != abi.DeviceExecutionActive || v.fence.Lost() {
		t.Errorf("our device is %v, %v; our fence at %d", state, err, v.fence.Value())
	}
	if err := errors.Join(v.queue.Close(), v.other.Close(), v.fence.Close(), v.file.Close(), v.d.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if err := until(func() error { return th.empty(0, held) }); err != nil {
		t.Error("all have left:", err)
	}
}
