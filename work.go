package dxgsync

import (
	"context"

	"github.com/dxgsync/dxgsync/abi"
)

// Work is a function that takes the place of a command buffer, see [Context.Do]. ctx
// ends when its result can matter no more, with the reason as its cause: the device was
// lost, or something was closed.
type Work func(ctx context.Context) error

// A Job is a function that was queued.
type Job struct {
	done chan struct{}
	err  error // once done is closed
}

// Done returns a channel that is closed when the function has returned, or never will.
func (j *Job) Done() <-chan struct{} { return j.done }

// Wait waits until the function has returned.
//
// Errors: the function's own; the context's cause when ctx ends first, and the function
// goes on; [ErrClosed] or a [LossError] when the function was not called because the
// stream was closed or the device lost before its turn.
func (j *Job) Wait(ctx context.Context) error {
	select {
	case <-j.done:
		return j.err
	default:
	}
	select {
	case <-j.done:
		return j.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// perform is the method Do. Of the fence that the turns are counted by, the stream
// raises an odd value when a function's turn has come, and the function, when it returns,
// the even one that holds the stream.
func (q *stream) perform(work Work) (*Job, error) {
	if q.closed.Load() || q.dev.closed.Load() {
		return nil, ErrClosed
	}
	if work == nil {
		return nil, abi.StatusInvalidParameter
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.turns == nil {
		f, err := q.dev.NewFence(FenceOptions{})
		if err != nil {
			return nil, err
		}
		f.owned, q.turns = true, f
	}
	begin, end := q.turns.At(2*q.turn+1), q.turns.At(2*q.turn+2)
	if err := q.signal([]Point{begin}, q.lane.raise); err != nil {
		return nil, err
	}
	q.turn++ // also when the next fails: the value is taken
	if err := q.wait([]Point{end}); err != nil {
		return nil, err
	}
	j := &Job{done: make(chan struct{})}
	go q.run(j, work, begin, end)
	return j, nil
}

// run calls the function when its turn has come.
func (q *stream) run(j *Job, work Work, begin, end Point) {
	defer close(j.done)
	if j.err = q.arrive(begin); j.err != nil {
		return
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() { cancel(q.arrive(end)) }()              // when the function has returned, or never can
	defer func() { _ = end.Fence.Signal(end.Value) }() // unless it has ended meanwhile
	j.err = work(ctx)
}

// arrive waits for a point of the stream's own. The error is why it never comes: the
// stream was closed, the device lost.
func (q *stream) arrive(p Point) error {
	err := p.Wait(context.Background())
	// A wait also ends when the fence goes, which a closing device brings about before it
	// is closed here.
	arrived := err == nil && p.Fence.Value() >= p.Value && !p.Fence.Lost()
	switch {
	case q.closed.Load() || p.Fence.closed.Load():
		return ErrClosed
	case arrived:
		return nil
	}
	if loss := q.dev.Err(); loss != nil {
		return loss
	}
	return abi.StatusDeviceRemoved
}
