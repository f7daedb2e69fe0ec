package dxgsync

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
)

// A stream is what contexts and hardware queues have in common.
type stream struct {
	dev    *Device
	lane   lane
	most   int // points of one wait or signal
	order  order
	closed atomic.Bool

	// mu makes submissions that belong together follow each other, and guards what is
	// below. It is never held while anything waits.
	mu       sync.Mutex
	progress *Fence       // its value is that of the last command buffer that is complete; nil: none yet
	told     *NativeFence // progress, if commands have to tell of it; else nil
	last     uint64       // value of the last command buffer
	memory   commandMemory
	turns    *Fence // of functions; nil: none yet
	turn     uint64 // how many functions there were
}

// A lane is how one kind of stream talks to the kernel.
type lane interface {
	// give submits commands, the last of which writes value to the progress fence.
	give(address uint64, size int, value uint64) abi.Status
	// hold and raise queue a wait and a signal.
	hold(objects []abi.Handle, values []uint64) abi.Status
	raise(objects []abi.Handle, values []uint64) abi.Status
	// newProgress makes the progress fence.
	newProgress() (*Fence, error)
}

func (q *stream) init(d *Device, l lane, most int) { q.dev, q.lane, q.most = d, l, most }

// failure is the error for a status of a call about the stream.
func (q *stream) failure(st abi.Status) error {
	if q.closed.Load() {
		return ErrClosed
	}
	return q.dev.failure(st)
}

// submit is the method Submit.
func (q *stream) submit(cb *CommandBuffer) (Point, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.dev.s
	s.inUse.RLock()
	defer s.inUse.RUnlock()
	if q.closed.Load() || q.dev.closed.Load() || s.closed.Load() {
		return Point{}, ErrClosed // its memory is gone, or goes
	}
	if q.progress == nil {
		f, err := q.lane.newProgress()
		if err != nil {
			return Point{}, err
		}
		q.progress = f
	}
	value := q.last + 1
	commands, err := cb.finish(q.dev, q.tail(value))
	if err != nil {
		return Point{}, err
	}
	address, err := q.memory.put(q.dev, commands, value, q.progress.Value())
	if err != nil {
		return Point{}, err
	}
	for _, f := range cb.awaited {
		q.order.follow(&f.hb)
	}
	for _, f := range cb.fences {
		f.hb.follow(&q.order)
	}
	q.progress.hb.follow(&q.order)
	q.order.release()
	st := q.lane.give(address, len(commands), value)
	runtime.KeepAlive(cb)
	if st != abi.StatusSuccess {
		return Point{}, q.failure(st)
	}
	q.last = value
	return q.progress.At(value), nil
}

// tail is what comes behind a command buffer: its value for the progress fence.
func (q *stream) tail(value uint64) *cmdbuf.Buffer {
	b := cmdbuf.New()
	switch {
	case q.told != nil:
		return b.SignalNative(q.told.gpu, value, q.told.monitored, uint32(q.told.handle))
	case q.progress.narrow():
		return b.Write32(q.progress.gpu, uint32(value))
	}
	return b.Write64(q.progress.gpu, value)
}

// wait is the method Wait.
func (q *stream) wait(points []Point) error {
	objects, values, err := q.name(points)
	if err != nil {
		return err
	}
	for _, p := range points {
		q.order.follow(&p.Fence.hb)
	}
	st := q.lane.hold(objects, values)
	runtime.KeepAlive(points)
	return q.failure(st)
}

// signal is the method Signal; raise queues it.
func (q *stream) signal(points []Point, raise func([]abi.Handle, []uint64) abi.Status) error {
	objects, values, err := q.name(points)
	if err != nil {
		return err
	}
	q.order.release()
	for _, p := range points {
		p.Fence.hb.follow(&q.order)
	}
	st := raise(objects, values)
	runtime.KeepAlive(points)
	return q.failure(st)
}

// name checks points and takes them apart.
func (q *stream) name(points []Point) (objects []abi.Handle, values []uint64, err error) {
	if q.closed.Load() || q.dev.closed.Load() {
		return nil, nil, ErrClosed
	}
	if len(points) == 0 || len(points) > q.most {
		return nil, nil, abi.StatusInvalidParameter
	}
	objects, values = make([]abi.Handle, len(points)), make([]uint64, len(points))
	for i, p := range points {
		switch {
		case p.Fence == nil || p.Fence.dev != q.dev:
			return nil, nil, abi.StatusInvalidParameter
		case p.Fence.closed.Load():
			return nil, nil, ErrClosed
		}
		objects[i], values[i] = p.Fence.handle, p.Value
	}
	return objects, values, nil
}

// release gives back what the stream has of its own. It is closed already, and the
// kernel's part is gone.
func (q *stream) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, f := range []*Fence{q.progress, q.turns} {
		if f != nil {
			_ = f.close() // it may have gone with its device
		}
	}
	q.memory.close()
}
