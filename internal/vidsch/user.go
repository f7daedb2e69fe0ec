package vidsch

import (
	"math"
	"slices"
)

// A user queue is a hardware queue that programs submit to by ringing a doorbell. The
// scheduler does not see what is submitted. From when its doorbell was first connected it
// is taken for having something at the GPU, until its context is off for good, and what
// it does is judged by its progress.

// NewUserQueue makes one on a HwScheduled context. queued reads the progress that the
// program says its last buffer will make, and may be anything; the rest is as for
// NewHwQueue.
func (c *Context) NewUserQueue(q Queue, queued func() uint64) *Queue {
	q.context, q.lastQueued, q.cap, q.away = c, queued, 1, true
	c.queues = append(c.queues, &q)
	c.engine.hw.users = append(c.engine.hw.users, &q)
	return &q
}

// user reports whether programs submit to the queue.
func (q *Queue) user() bool { return q.lastQueued != nil }

// flies reports whether the queue has something at the GPU, or may have.
func (q *Queue) flies() bool { return len(q.flying) > 0 || q.user() && !q.away }

// Watch tells that the queue's doorbell was connected, or that it was disconnected.
// While one is, and while work is pending, the engine's user queues are looked at once in
// TdrDelay.
func (q *Queue) Watch(rings bool) {
	q.rings = rings
	q.away = q.away && !rings
	h := &q.engine().hw
	if rings && h.look == 0 {
		h.look = q.scheduler().now() + q.scheduler().tdr.Delay
	}
}

// looks is when the user queues are looked at.
func (h *hardware) looks(tdr *TDR) int64 {
	if h.look == 0 || tdr.off() {
		return math.MaxInt64
	}
	return h.look
}

// lookAtUsers asks contexts off whose user queues have work pending, and the same
// progress as the last time. Those that go off are resumed at once.
func (e *Engine) lookAtUsers(now int64) {
	h := &e.hw
	h.look = 0
	for _, q := range slices.Clone(h.users) {
		if q.gone || q.exempt() {
			continue
		}
		reached := q.Reached()
		pending := q.lastQueued() > reached
		if pending && q.pended && q.reached == reached {
			q.context.leave()
		}
		q.pended, q.reached = pending, reached
		if pending || q.rings {
			h.look = now + e.scheduler.tdr.Delay
		}
	}
}

// askUsers asks the contexts of all user queues off: somebody waits for the engine.
func (e *Engine) askUsers() {
	for _, q := range slices.Clone(e.hw.users) {
		if q.flies() {
			q.context.leave()
		}
	}
}

// forgetUser is for a queue that is gone.
func (h *hardware) forgetUser(q *Queue) {
	h.users = slices.DeleteFunc(h.users, func(o *Queue) bool { return o == q })
}
