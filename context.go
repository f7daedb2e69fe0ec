package dxgsync

import (
	"os"

	"github.com/dxgsync/dxgsync/abi"
)

// A Context is a stream of GPU work on one node of a device's adapter. What is
// submitted to it goes in order: command buffers, waits, signals, functions. Every
// method but Close queues and returns; a wait holds what comes after it, and nobody
// else. Between contexts there is no order but by fences.
//
// All methods are safe for concurrent use; what several goroutines submit is in some
// order.
type Context struct {
	stream
	handle abi.Handle
}

// ContextOptions are for [Device.NewContext]. The zero value makes a context of the
// first node.
type ContextOptions struct {
	Node       uint32 // index of the adapter's node, see [Device.Nodes]
	Engine     uint32 // mask with at most one bit, for linked adapters; 0 means engine 0
	Flags      abi.CreateContextFlags
	ClientHint abi.ClientHint // who it is for; for listings only
	// Priority decides whose command buffer is next, from -7 to 7 (D3DKMT_SETCONTEXTSCHEDULINGPRIORITY).
	Priority int
	// Data is private driver data. The software GPU looks at none.
	Data []byte
}

// NewContext makes a context.
//
// Errors: [abi.StatusInvalidParameter] for a node, an engine or a priority that there
// is not and for reserved flags; [abi.StatusNoMemory] at a limit; a [LossError] when
// the device is lost; [abi.StatusDeviceRemoved] after the loss of the daemon;
// [ErrClosed].
//
// D3DKMTCreateContextVirtual.
func (d *Device) NewContext(opts ContextOptions) (*Context, error) {
	if d.closed.Load() {
		return nil, ErrClosed
	}
	rec := abi.CreateContextVirtual{
		HDevice: d.handle, NodeOrdinal: opts.Node, EngineAffinity: opts.Engine, Flags: opts.Flags,
		ClientHint: opts.ClientHint,
	}
	if st := d.s.CreateContextVirtual(&rec, opts.Data); st != abi.StatusSuccess {
		return nil, d.failure(st)
	}
	c := &Context{handle: rec.HContext}
	c.init(d, c, maxContextPoints)
	if opts.Priority != 0 {
		set := abi.SetContextSchedulingPriority{HContext: c.handle, Priority: int32(opts.Priority)}
		if st := do(d.s, abi.OpSetContextSchedulingPriority, &set); st != abi.StatusSuccess {
			_ = c.Close()
			return nil, d.failure(st)
		}
	}
	return c, nil
}

// Handle returns the D3DKMT handle, for use with the raw calls of [Session].
func (c *Context) Handle() abi.Handle { return c.handle }

// Device returns the device that the context was made on.
func (c *Context) Device() *Device { return c.dev }

// Submit queues a command buffer and returns the point at which all its commands have
// been executed: to wait for it with [Point.Wait], or to have another context wait for
// it. The buffer is copied: it may be changed, submitted again and to others.
//
// The point's fence is the context's own. It is lost with the device, which ends every
// wait for it; [Device.Err] tells.
//
// Errors: what is wrong with the buffer, see [CommandBuffer.Err];
// [abi.StatusInvalidParameter] for one of more than [MaxCommands] bytes, for memory or
// fences of another adapter or session, and on a context that takes no command buffers
// (SynchronizationOnly, HwQueueSupported); [abi.StatusNoMemory] at a limit; a
// [LossError] when the device is lost; [abi.StatusDeviceRemoved] after the loss of the
// daemon; [ErrClosed].
//
// D3DKMTSubmitCommand.
func (c *Context) Submit(cb *CommandBuffer) (Point, error) { return c.submit(cb) }

// Wait holds what is submitted afterwards until all points are reached. Each is judged
// when everything before is complete, and counts for good once it was seen reached.
// The fences are the device's own: one of another device is opened here first.
//
// Errors: [abi.StatusInvalidParameter] for no points, more than [MaxPoints], a nil
// fence and one of another device; [abi.StatusAccessDenied] when a view may not wait;
// else as Submit.
//
// D3DKMTWaitForSynchronizationObjectFromGpu.
func (c *Context) Wait(points ...Point) error { return c.wait(points) }

// Signal raises the fences when everything before is complete. A value that is not
// above the fence's own then changes nothing.
//
// Errors: [abi.StatusAccessDenied] when a view may not signal; else as Wait.
//
// D3DKMTSignalSynchronizationObjectFromGpu.
func (c *Context) Signal(points ...Point) error { return c.signal(points, c.raise) }

// SignalOptions are for [Context.SignalWith].
type SignalOptions struct {
	// AtSubmission signals when what is before has been given to the GPU, without
	// waiting until it is complete.
	AtSubmission bool
	// Rewind lets a value be lower than the fence's: then it is lowered.
	Rewind bool
	// Contexts are others, of the same device, at most 63: the signal takes effect when
	// all of them have reached it.
	Contexts []*Context
}

// SignalWith is Signal with options. A broadcast is dropped as a whole when one of its
// contexts is closed before.
//
// Errors: as Signal; [abi.StatusInvalidParameter] also for a nil context, one that is
// named twice, and for too many.
func (c *Context) SignalWith(opts SignalOptions, points ...Point) error {
	var flags abi.SignalFlags
	if opts.AtSubmission {
		flags |= abi.SignalAtSubmission
	}
	if opts.Rewind {
		flags |= abi.SignalAllowFenceRewind
	}
	handles, err := c.broadcast(opts.Contexts)
	if err != nil {
		return err
	}
	for _, o := range opts.Contexts {
		c.order.follow(&o.order)
	}
	return c.signal(points, func(objects []abi.Handle, values []uint64) abi.Status {
		rec := abi.SignalSynchronizationObjectFromGpu2{
			ObjectCount: uint32(len(objects)), BroadcastContextCount: uint32(len(handles)), Flags: flags,
		}
		return do(c.dev.s, abi.OpSignalSynchronizationObjectFromGpu2, &rec, bytesOf(objects), bytesOf(handles), bytesOf(values))
	})
}

// Event returns an eventfd that is set, once, when everything that was submitted before
// is complete, on this context and on the others; also when they are closed or lost
// meanwhile. The caller closes it.
//
// Errors: as SignalWith; the system's when no eventfd can be made.
//
// D3DKMTSignalSynchronizationObjectFromGpu2 with EnqueueCpuEvent.
func (c *Context) Event(others ...*Context) (*os.File, error) {
	handles, err := c.broadcast(others)
	if err != nil {
		return nil, err
	}
	event, err := newEvent()
	if err != nil {
		return nil, err
	}
	rec := abi.SignalSynchronizationObjectFromGpu2{BroadcastContextCount: uint32(len(handles)), Flags: abi.SignalEnqueueCpuEvent}
	r := request(abi.OpSignalSynchronizationObjectFromGpu2, &rec, nil, bytesOf(handles), nil)
	st := withFile(event, func(fd int) abi.Status {
		r.Files[0] = fd
		return c.dev.s.Do(r)
	})
	if st != abi.StatusSuccess {
		_ = event.Close()
		return nil, c.failure(st)
	}
	return event, nil
}

// broadcast is the list of contexts of a signal.
func (c *Context) broadcast(others []*Context) ([]abi.Handle, error) {
	handles := []abi.Handle{c.handle}
	for _, o := range others {
		switch {
		case o == nil || o.dev != c.dev:
			return nil, abi.StatusInvalidParameter
		case o.closed.Load():
			return nil, ErrClosed
		}
		handles = append(handles, o.handle)
	}
	return handles, nil
}

// Do queues a function as if it were a command buffer: it begins, in a goroutine of its
// own, when everything before is complete, and what is submitted afterwards begins when
// it has returned. Its error is the [Job]'s and changes nothing else. Its context ends
// when the device is lost or this Context closed meanwhile.
//
// Errors: as [Context.Wait]; then the function is not called.
func (c *Context) Do(work Work) (*Job, error) { return c.perform(work) }

// Close destroys the context. What is queued and not begun does not happen; functions
// that run are told by their context. A second Close, or one after the device's, returns
// [ErrClosed].
//
// D3DKMTDestroyContext.
func (c *Context) Close() error {
	if !c.closed.CompareAndSwap(false, true) || c.dev.closed.Load() {
		return ErrClosed
	}
	st := c.dev.s.DestroyContext(&abi.DestroyContext{HContext: c.handle})
	c.release()
	return c.dev.s.failure(st)
}

// maxContextPoints is how many points one wait or signal of a context may have.
const maxContextPoints = MaxPoints

// give implements lane.
func (c *Context) give(address uint64, size int, _ uint64) abi.Status {
	rec := abi.SubmitCommand{Commands: address, CommandLength: uint32(size), BroadcastContextCount: 1}
	rec.BroadcastContext[0] = c.handle
	return do(c.dev.s, abi.OpSubmitCommand, &rec, nil, nil)
}

// hold implements lane.
func (c *Context) hold(objects []abi.Handle, values []uint64) abi.Status {
	rec := abi.WaitForSynchronizationObjectFromGpu{HContext: c.handle, ObjectCount: uint32(len(objects))}
	return do(c.dev.s, abi.OpWaitForSynchronizationObjectFromGpu, &rec, bytesOf(objects), bytesOf(values))
}

// raise implements lane.
func (c *Context) raise(objects []abi.Handle, values []uint64) abi.Status {
	rec := abi.SignalSynchronizationObjectFromGpu{HContext: c.handle, ObjectCount: uint32(len(objects))}
	return do(c.dev.s, abi.OpSignalSynchronizationObjectFromGpu, &rec, bytesOf(objects), bytesOf(values))
}

// newProgress implements lane: a context has no progress fence of WDDM's.
func (c *Context) newProgress() (*Fence, error) {
	f, err := c.dev.NewFence(FenceOptions{})
	if err == nil {
		f.owned = true
	}
	return f, err
}
