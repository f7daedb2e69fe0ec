package dxgsync

import "github.com/dxgsync/dxgsync/abi"

// A HwQueue is a hardware queue: a stream as a [Context] is, whose command buffers the
// GPU schedules by itself, and which comes with a progress fence. Waits and signals are
// the kernel's all the same.
//
// All methods are safe for concurrent use.
type HwQueue struct {
	stream
	handle abi.Handle
	own    *Context     // that was made for it; nil: none
	native *NativeFence // that progress is; nil: it is a monitored fence
}

// HwQueueOptions are for [Device.NewHwQueue]. The zero value makes a queue of the first
// node.
type HwQueueOptions struct {
	// Context is one made with the flag ContextHwQueueSupported, which several queues may
	// have; nil: the queue gets a context of its own, with the two options that follow.
	Context *Context
	Node    uint32 // index of the adapter's node, see [Device.Nodes]
	Engine  uint32 // mask with at most one bit, for linked adapters; 0 means engine 0
	Flags   abi.CreateHwQueueFlags
	// Data is private driver data. The software GPU looks at none.
	Data []byte
}

// maxHwQueuePoints is how many points one wait or signal of a hardware queue may have.
const maxHwQueuePoints = 32

// NewHwQueue makes a hardware queue.
//
// Errors: [abi.StatusInvalidParameter] for reserved flags, for UserModeSubmission (see
// [Device.NewUserQueue]), a context of another device or without HwQueueSupported, and as
// [Device.NewContext]; [abi.StatusNotSupported] without hardware scheduling; [abi.StatusNoMemory] at a
// limit; a [LossError] when the device is lost; [abi.StatusDeviceRemoved] after the
// loss of the daemon; [ErrClosed].
//
// D3DKMTCreateHwQueue.
func (d *Device) NewHwQueue(opts HwQueueOptions) (*HwQueue, error) {
	q, c := &HwQueue{}, opts.Context
	switch {
	case d.closed.Load():
		return nil, ErrClosed
	case opts.Flags&abi.HwQueueUserModeSubmission != 0:
		return nil, abi.StatusInvalidParameter
	case c == nil:
		var err error
		if c, err = d.NewContext(ContextOptions{Node: opts.Node, Engine: opts.Engine, Flags: abi.ContextHwQueueSupported}); err != nil {
			return nil, err
		}
		q.own = c
	case c.dev != d:
		return nil, abi.StatusInvalidParameter
	case c.closed.Load():
		return nil, ErrClosed
	}
	err := q.create(c, &opts)
	if err != nil {
		if q.own != nil {
			_ = q.own.Close()
		}
		return nil, err
	}
	return q, nil
}

func (q *HwQueue) create(c *Context, opts *HwQueueOptions) error {
	d := c.dev
	rec := abi.CreateHwQueue{HHwContext: c.handle, Flags: opts.Flags, PrivateDriverDataSize: uint32(len(opts.Data))}
	r := request(abi.OpCreateHwQueue, &rec, opts.Data)
	if st := d.s.Do(r); st != abi.StatusSuccess {
		return c.failure(st)
	}
	f := new(NativeFence)
	if err := d.adoptAs(&f.Fence, r, rec.HHwQueueProgressFence, 0, rec.HwQueueProgressFenceGPUVirtualAddress); err != nil {
		do(d.s, abi.OpDestroyHwQueue, &abi.DestroyHwQueue{HHwQueue: rec.HHwQueue})
		return err
	}
	f.owned = true
	q.init(d, q, maxHwQueuePoints)
	q.handle, q.progress = rec.HHwQueue, &f.Fence
	if rec.Flags&abi.HwQueueNativeProgressFence != 0 {
		q.native = f
	}
	return nil
}

// Handle returns the D3DKMT handle, for use with the raw calls of [Session].
func (q *HwQueue) Handle() abi.Handle { return q.handle }

// Device returns the device that the queue was made on.
func (q *HwQueue) Device() *Device { return q.dev }

// Progress is the queue's progress fence: its value is that of the last command buffer
// that is complete. Nobody else signals it, and it goes with the queue.
func (q *HwQueue) Progress() *Fence { return q.progress }

// NativeProgress is [HwQueue.Progress] as a native fence, for GPUs to wait for with
// [CommandBuffer.WaitNative]; nil where GPUs have none.
func (q *HwQueue) NativeProgress() *NativeFence { return q.native }

// Submit queues a command buffer and returns the point of the progress fence at which
// all its commands have been executed. The buffer is copied.
//
// Errors: as [Context.Submit].
//
// D3DKMTSubmitCommandToHwQueue.
func (q *HwQueue) Submit(cb *CommandBuffer) (Point, error) { return q.submit(cb) }

// Wait holds what is submitted afterwards until all points are reached, 32 at most.
//
// Errors: as [Context.Wait].
//
// D3DKMTSubmitWaitForSyncObjectsToHwQueue.
func (q *HwQueue) Wait(points ...Point) error { return q.wait(points) }

// Signal raises fences, 32 at most, when everything before is complete.
//
// Errors: as [Context.Signal].
//
// D3DKMTSubmitSignalSyncObjectsToHwQueue.
func (q *HwQueue) Signal(points ...Point) error { return q.signal(points, q.raise) }

// HwSignalOptions are for [HwQueue.SignalWith].
type HwSignalOptions struct {
	// Rewind lets a value be lower than the fence's: then it is lowered.
	Rewind bool
	// Queues are others, of the same device, at most 63: the signal takes effect when all
	// of them have reached it.
	Queues []*HwQueue
}

// SignalWith is Signal with options.
//
// Errors: as Signal; [abi.StatusInvalidParameter] also for a nil queue, one that is
// named twice, and for too many.
func (q *HwQueue) SignalWith(opts HwSignalOptions, points ...Point) error {
	handles := []abi.Handle{q.handle}
	for _, o := range opts.Queues {
		switch {
		case o == nil || o.dev != q.dev:
			return abi.StatusInvalidParameter
		case o.closed.Load():
			return ErrClosed
		}
		q.order.follow(&o.order)
		handles = append(handles, o.handle)
	}
	var flags abi.SignalFlags
	if opts.Rewind {
		flags = abi.SignalAllowFenceRewind
	}
	return q.signal(points, func(objects []abi.Handle, values []uint64) abi.Status {
		return q.raiseOn(handles, flags, objects, values)
	})
}

// Do queues a function as if it were a command buffer, see [Context.Do].
//
// Errors: as [HwQueue.Wait]; then the function is not called.
func (q *HwQueue) Do(work Work) (*Job, error) { return q.perform(work) }

// Close destroys the queue with its progress fence, waits for which end as satisfied.
// What is queued and not begun does not happen. A second Close, or one after the
// device's, returns [ErrClosed].
//
// D3DKMTDestroyHwQueue.
func (q *HwQueue) Close() error {
	if !q.closed.CompareAndSwap(false, true) || q.dev.closed.Load() {
		return ErrClosed
	}
	q.progress.retire(abi.StatusSuccess)
	st := do(q.dev.s, abi.OpDestroyHwQueue, &abi.DestroyHwQueue{HHwQueue: q.handle})
	q.release()
	if q.own != nil {
		_ = q.own.Close()
	}
	return q.dev.s.failure(st)
}

// give implements lane.
func (q *HwQueue) give(address uint64, size int, value uint64) abi.Status {
	rec := abi.SubmitCommandToHwQueue{HHwQueue: q.handle, HwQueueProgressFenceId: value, CommandBuffer: address, CommandLength: uint32(size)}
	return do(q.dev.s, abi.OpSubmitCommandToHwQueue, &rec, nil, nil)
}

// hold implements lane.
func (q *HwQueue) hold(objects []abi.Handle, values []uint64) abi.Status {
	rec := abi.SubmitWaitForSyncObjectsToHwQueue{HHwQueue: q.handle, ObjectCount: uint32(len(objects))}
	return do(q.dev.s, abi.OpSubmitWaitForSyncObjectsToHwQueue, &rec, bytesOf(objects), bytesOf(values))
}

// raise implements lane.
func (q *HwQueue) raise(objects []abi.Handle, values []uint64) abi.Status {
	return q.raiseOn([]abi.Handle{q.handle}, 0, objects, values)
}

func (q *HwQueue) raiseOn(queues []abi.Handle, flags abi.SignalFlags, objects []abi.Handle, values []uint64) abi.Status {
	rec := abi.SubmitSignalSyncObjectsToHwQueue{BroadcastHwQueueCount: uint32(len(queues)), ObjectCount: uint32(len(objects)), Flags: flags}
	return do(q.dev.s, abi.OpSubmitSignalSyncObjectsToHwQueue, &rec, bytesOf(queues), bytesOf(objects), bytesOf(values))
}

// newProgress implements lane: a hardware queue has its fence from the beginning.
func (q *HwQueue) newProgress() (*Fence, error) { return q.progress, nil }
