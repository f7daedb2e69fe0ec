package dxgsync

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
)

// A UserQueue is a hardware queue that the program submits to by itself: command buffers
// go into a ring buffer, and a number into a doorbell, which the GPU looks at. No call is
// made, unless the doorbell has to be connected: at first, after a pause, and when others
// had need of it. docs/doorbells.md has the protocol.
//
// The kernel sees nothing of what is submitted, so there are no waits and signals of
// queues: [CommandBuffer.WaitNative] and [CommandBuffer.SignalNative] are in their place.
// [Device.WaitIdle] does not know of it either; wait for the point that Submit returns.
//
// All methods are safe for concurrent use.
type UserQueue struct {
	stream
	handle abi.Handle
	own    *Context // that was made for it; nil: none
	bell   doorbell
	buffer *Buffer
	ring   *cmdbuf.Ring
}

// A doorbell is the memory that is rung, and looked at then.
type doorbell interface {
	// Ring says that the ring buffer's entries up to one have been written, and what
	// progress the last will make.
	Ring(entry, progress uint64)
	Status() abi.DoorbellStatus
}

// UserQueueOptions are for [Device.NewUserQueue]. The zero value makes a queue of the
// first node.
type UserQueueOptions struct {
	// Context is one made with the flag ContextHwQueueSupported, which several queues may
	// have; nil: the queue gets a context of its own, with the two options that follow.
	Context *Context
	Node    uint32 // index of the adapter's node, see [Device.Nodes]
	Engine  uint32 // mask with at most one bit, for linked adapters; 0 means engine 0
	Flags   abi.CreateHwQueueFlags
	// Entries is how many command buffers can be queued: up to [cmdbuf.MaxRingEntries]; 0
	// is 1024.
	Entries int
}

// defaultRingEntries is for UserQueueOptions.Entries.
const defaultRingEntries = 1024

// NewUserQueue makes a hardware queue with a ring buffer and a doorbell.
//
// Errors: [abi.StatusNotSupported] where programs cannot submit by themselves (ask
// [Adapter.Feature]), be it the adapter or the node; [abi.StatusInvalidParameter] for
// reserved flags, a number of entries that cannot be, a context of another device or
// without HwQueueSupported, and as [Device.NewContext]; [abi.StatusNoMemory] at a limit; a
// [LossError] when the device is lost; [abi.StatusDeviceRemoved] after the loss of the
// daemon; [ErrClosed].
//
// D3DKMTCreateHwQueueForUserModeSubmission.
func (d *Device) NewUserQueue(opts UserQueueOptions) (*UserQueue, error) {
	if opts.Entries == 0 {
		opts.Entries = defaultRingEntries
	}
	c := opts.Context
	switch {
	case d.closed.Load():
		return nil, ErrClosed
	case opts.Entries < 0 || opts.Entries > cmdbuf.MaxRingEntries, c != nil && c.dev != d:
		return nil, abi.StatusInvalidParameter
	case c != nil && c.closed.Load():
		return nil, ErrClosed
	}
	q := &UserQueue{}
	if c == nil {
		var err error
		if c, err = d.NewContext(ContextOptions{Node: opts.Node, Engine: opts.Engine, Flags: abi.ContextHwQueueSupported}); err != nil {
			return nil, err
		}
		q.own = c
	}
	err := q.create(c, &opts)
	if err != nil {
		if q.buffer != nil {
			_ = q.buffer.Close()
		}
		if q.own != nil {
			_ = q.own.Close()
		}
		return nil, err
	}
	return q, nil
}

func (q *UserQueue) create(c *Context, opts *UserQueueOptions) (err error) {
	d := c.dev
	if q.buffer, err = d.NewBuffer(opts.Entries * cmdbuf.RingEntrySize); err != nil {
		return err
	}
	q.ring = cmdbuf.NewRing(q.buffer.Bytes())
	rec := abi.CreateHwQueueForUserModeSubmission{HHwContext: c.handle, Flags: opts.Flags, HRingBuffer: q.buffer.handle}
	r := request(abi.OpCreateHwQueueForUserModeSubmission, &rec)
	if st := d.s.Do(r); st != abi.StatusSuccess {
		return c.failure(st)
	}
	bell, st := d.s.door.doorbell(r, rec.HHwQueue)
	f := &NativeFence{monitored: rec.ProgressFenceMapping.MonitoredValueGpuVa}
	if st != abi.StatusSuccess {
		closeFiles(r)
		err = d.failure(st)
	} else {
		err = d.adoptAs(&f.Fence, r, rec.HProgressFence, 0, rec.ProgressFenceMapping.CurrentValueGpuVa)
	}
	if err != nil {
		do(d.s, abi.OpDestroyHwQueue, &abi.DestroyHwQueue{HHwQueue: rec.HHwQueue})
		return err
	}
	f.owned = true
	q.init(d, q, 0)
	q.handle, q.progress, q.told, q.bell = rec.HHwQueue, &f.Fence, f, bell
	return nil
}

// Handle returns the D3DKMT handle, for use with the raw calls of [Session]. It stands for
// the doorbell's, too.
func (q *UserQueue) Handle() abi.Handle { return q.handle }

// Device returns the device that the queue was made on.
func (q *UserQueue) Device() *Device { return q.dev }

// Progress is the queue's progress fence: its value is the number of command buffers that
// are complete. The last command of each writes it; it goes with the queue.
func (q *UserQueue) Progress() *NativeFence { return q.told }

// Status is what the system says of the doorbell: DoorbellDisconnectedRetry until the
// first Submit and after a pause, DoorbellDisconnectedAbort when the device or the daemon
// is lost or the queue closed.
func (q *UserQueue) Status() abi.DoorbellStatus { return q.bell.Status() }

// Submit queues a command buffer and returns the point of the progress fence at which all
// its commands have been executed. The buffer is copied.
//
// Errors: as [Context.Submit]; [abi.StatusNoMemory] also when the ring buffer is full.
func (q *UserQueue) Submit(cb *CommandBuffer) (Point, error) { return q.submit(cb) }

// Close destroys the queue with its doorbell and its progress fence, waits for which end
// as satisfied. What is queued and not begun does not happen. A second Close, or one after
// the device's, returns [ErrClosed].
//
// D3DKMTDestroyHwQueue.
func (q *UserQueue) Close() error {
	if !q.closed.CompareAndSwap(false, true) || q.dev.closed.Load() {
		return ErrClosed
	}
	q.progress.retire(abi.StatusSuccess)
	st := do(q.dev.s, abi.OpDestroyHwQueue, &abi.DestroyHwQueue{HHwQueue: q.handle})
	q.release()
	_ = q.buffer.Close() // it may have gone with its device
	if q.own != nil {
		_ = q.own.Close()
	}
	return q.dev.s.failure(st)
}

// give implements lane: it writes an entry, rings, and sees to it that somebody hears.
// Entries and progress are counted alike.
func (q *UserQueue) give(address uint64, size int, value uint64) abi.Status {
	if q.ring.Room(q.progress.Value()) == 0 {
		return abi.StatusNoMemory
	}
	entry := q.ring.Put(cmdbuf.RingEntry{VA: address, Length: uint64(size)})
	q.bell.Ring(entry, value)
	for {
		st := abi.StatusSuccess
		switch q.bell.Status() {
		case abi.DoorbellConnected:
			return st
		case abi.DoorbellConnectedNotifyKMD:
			st = do(q.dev.s, abi.OpNotifyWorkSubmission, &abi.NotifyWorkSubmission{HDoorbell: q.handle})
			if st == abi.StatusSuccess {
				return st
			}
			if st == abi.StatusInvalidParameter && q.bell.Status() != abi.DoorbellConnectedNotifyKMD {
				continue // it was disconnected meanwhile
			}
		case abi.DoorbellDisconnectedRetry:
			if st = do(q.dev.s, abi.OpConnectDoorbell, &abi.ConnectDoorbell{HDoorbell: q.handle}); st == abi.StatusSuccess {
				continue // what was rung counts
			}
		default:
			return abi.StatusDeviceRemoved
		}
		return st
	}
}

// hold implements lane: the kernel knows of no order of such a queue.
func (q *UserQueue) hold([]abi.Handle, []uint64) abi.Status { return abi.StatusNotSupported }

// raise implements lane.
func (q *UserQueue) raise([]abi.Handle, []uint64) abi.Status { return abi.StatusNotSupported }

// newProgress implements lane: the queue has its fence from the beginning.
func (q *UserQueue) newProgress() (*Fence, error) { return q.progress, nil }
