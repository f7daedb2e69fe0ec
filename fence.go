package dxgsync

import (
	"context"
	"math"
	"runtime"
	"sync/atomic"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/page"
	"github.com/dxgsync/dxgsync/internal/wait"
)

// Lost is the value of a fence whose signaller is gone: its process died, its
// device was lost, or the daemon went away. It is the highest value there is, so
// it satisfies every wait; use [Fence.Lost] to tell a loss from an arrival.
const Lost uint64 = math.MaxUint64

// A Fence is a monitored fence: a 64-bit value in memory that only rises, except
// by [Fence.Rewind], and that any number of goroutines and processes signal and
// wait for. A Fence is one device's view of it (a local object, in WDDM's words);
// other processes have their own views through [Fence.Share] and
// [Device.OpenShared].
//
// All methods are safe for concurrent use. Reading the value, a signal that
// nobody waits for and a wait that is already satisfied touch memory only: no
// lock, no system call, no allocation.
type Fence struct {
	// The cell to signal through, the cell to read, the cell to wait on. Each is the
	// dead cell where that is not allowed, or not possible by memory, or over: so the
	// quick paths need no other check. A dead cell is at MaxUint64.
	sig, val, wat atomic.Pointer[page.Cell]

	dev    *Device
	handle abi.Handle
	flags  abi.SyncObjectFlags
	gpu    uint64 // where GPUs see it; 0: nowhere
	rights uint8  // abi.GrantSignal, abi.GrantWait
	owned  bool   // by a stream, with which it goes
	closed atomic.Bool

	gate atomic.Pointer[wait.Gate] // made by the first goroutine that has to wait
	mem  *memory                   // nil for a fence of this process alone, in its own heap
	heap *heapFence                // then this
	hb   order
}

// dead stands for a cell that cannot be used: it asks for the kernel, which sends
// signals and waits the long way round. Its value makes a wait for several points look
// at it.
var dead page.Cell

func init() {
	dead.Init(Lost)
	page.View{Cell: &dead}.SetAsk()
}

// Value returns the current value: one load from memory. On an adapter without 64-bit
// atomics memory has the low 32 bits of the value, unless the fence was made with
// SyncObjectNoGPUAccess. After [Fence.Close] the result means nothing.
func (f *Fence) Value() uint64 {
	v := f.val.Load().Value()
	f.hb.acquire()
	runtime.KeepAlive(f)
	return v
}

// Lost reports whether the fence is lost. It also says so when somebody signalled
// exactly the value [Lost].
func (f *Fence) Lost() bool {
	c := f.val.Load()
	lost := c.Value() == Lost || c.Over()
	f.hb.acquire()
	runtime.KeepAlive(f)
	return lost
}

// Handle returns the D3DKMT handle, for use with the raw calls of [Session].
func (f *Fence) Handle() abi.Handle { return f.handle }

// Device returns the device that the fence was made or opened on.
func (f *Fence) Device() *Device { return f.dev }

// GPUAddress is the GPU virtual address of the value, for commands that write it: the
// process's own, on the adapter of the fence's device. It is 0 with
// SyncObjectNoGPUAccess, and where GPUs have no addresses of their own.
func (f *Fence) GPUAddress() uint64 { return f.gpu }

// narrow reports whether GPUs write 32 bits of the value at once.
func (f *Fence) narrow() bool { return f.dev.narrow() }

// Signal raises the fence to v and wakes whoever waits for v or less; the value
// can be read when it returns. What the signaller wrote to memory before is
// visible to whom it wakes. Signalling the value that the fence already has
// changes nothing.
//
// Errors: [abi.StatusInvalidParameter] for a value below the current one (see
// [Fence.Rewind]); [abi.StatusAccessDenied] when this view may not signal;
// [abi.StatusDeviceRemoved] after the loss of the device or of the daemon; [ErrClosed].
//
// D3DKMTSignalSynchronizationObjectFromCpu.
func (f *Fence) Signal(v uint64) error {
	f.hb.release()
	c := f.sig.Load()
	want, ask := c.Raise(v)
	if ask {
		return f.signalLong(v)
	}
	if want != 0 {
		return f.tell(c, want)
	}
	runtime.KeepAlive(f)
	return nil
}

// Rewind sets the fence to v, also when that is lower than the current value. Who
// waited for a value that the fence had is released first. From the first rewind
// on, waits for this fence are decided by the kernel, which is exact but slower
// than memory. A fence that was lost stays lost: Rewind succeeds and changes
// nothing.
//
// Errors as [Fence.Signal], but no value is too low.
//
// D3DKMTSignalSynchronizationObjectFromCpu with AllowFenceRewind.
func (f *Fence) Rewind(v uint64) error {
	f.hb.release()
	return f.signalRequest(v, abi.SignalAllowFenceRewind)
}

// Wait returns when the fence has reached v, at once if it has. It also returns
// nil when the fence is lost or when this view of it is closed meanwhile, as in
// WDDM; see [Fence.Lost].
//
// Errors: the context's cause when ctx ends first; [abi.StatusDeviceRemoved] when
// the device of this view was lost before or is closed meanwhile, or the daemon goes
// away; [abi.StatusInvalidParameter] on an adapter without 64-bit atomics when v is
// more than 0x7FFFFFFF away from the value;
// [abi.StatusAccessDenied] when this view may not wait; [abi.StatusNoMemory] at a
// limit; [ErrClosed] when it was closed before.
//
// D3DKMTWaitForSynchronizationObjectFromCpu.
func (f *Fence) Wait(ctx context.Context, v uint64) error {
	if c := f.wat.Load(); v <= c.Value() && !c.Asks() {
		f.hb.acquire()
		runtime.KeepAlive(f)
		return nil
	}
	return f.waitLong(ctx, v)
}

// At is the point in the fence's life when it reaches v, for [WaitAny],
// [WaitAll], [Device.Signal], and to queue on a [Context] or [HwQueue].
func (f *Fence) At(v uint64) Point { return Point{f, v} }

// A Point is a value of a fence.
type Point struct {
	Fence *Fence
	Value uint64
}

// Wait is [Fence.Wait] for the point; [abi.StatusInvalidParameter] without a fence.
func (p Point) Wait(ctx context.Context) error {
	if p.Fence == nil {
		return abi.StatusInvalidParameter
	}
	return p.Fence.Wait(ctx, p.Value)
}
