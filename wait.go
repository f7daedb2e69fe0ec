package dxgsync

import (
	"context"
	"runtime"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/page"
	"github.com/dxgsync/dxgsync/internal/wait"
)

// MaxPoints is how many points one call can name.
const MaxPoints = 4096

// WaitAny returns when any of the points is reached, with its index in the list;
// the lowest index when several are at once. All fences must be of one session;
// they may be of different devices.
//
// Errors and loss as [Fence.Wait]; the index is then -1. Also
// [abi.StatusInvalidParameter] for no points, more than [MaxPoints], a nil fence,
// and, unless the answer is there at once, fences of two sessions.
//
// D3DKMTWaitForSynchronizationObjectFromCpu with WaitAny.
func WaitAny(ctx context.Context, points ...Point) (int, error) {
	hit := 0
	for ; hit < len(points); hit++ { // most are not reached
		p := &points[hit]
		if p.Fence == nil {
			return -1, abi.StatusInvalidParameter
		}
		if p.Value <= p.Fence.wat.Load().Value() {
			break
		}
	}
	// The others are looked at, too: a view that may not wait, or whose device is lost,
	// spoils the whole call, wherever it stands.
	for i := hit; i < len(points); i++ {
		p := &points[i]
		if p.Fence == nil {
			return -1, abi.StatusInvalidParameter
		}
		if p.Fence.wat.Load().Asks() {
			return waitMany(ctx, points, 1)
		}
	}
	if hit == len(points) || len(points) > MaxPoints {
		return waitMany(ctx, points, 1)
	}
	points[hit].Fence.hb.acquire()
	runtime.KeepAlive(points)
	return hit, nil
}

// WaitAll returns when all of the points have been reached, each at some moment
// since the call: one that was seen reached counts for good, also when its fence
// is rewound before the others arrive.
//
// Errors and loss as [WaitAny].
//
// D3DKMTWaitForSynchronizationObjectFromCpu.
func WaitAll(ctx context.Context, points ...Point) error {
	for i := range points {
		p := &points[i]
		if p.Fence == nil {
			return abi.StatusInvalidParameter
		}
		if c := p.Fence.wat.Load(); p.Value > c.Value() || c.Asks() {
			_, err := waitMany(ctx, points, len(points))
			return err
		}
		p.Fence.hb.acquire()
	}
	if len(points) == 0 || len(points) > MaxPoints {
		return abi.StatusInvalidParameter
	}
	runtime.KeepAlive(points)
	return nil
}

// waitLong is Wait where a first look does not do.
func (f *Fence) waitLong(ctx context.Context, v uint64) error {
	if f.mem != nil {
		// Another process may be about to signal.
		c := f.mem.view.Cell
		if hub := f.dev.s.door.hub(); hub != nil && f.check() == nil && !c.Asks() && hub.SpinCell(c, v) {
			_, err := f.dev.s.arrivedAt(f)
			return err
		}
	} else if g := f.gate.Load(); g != nil {
		// The commonest case, kept short: goroutines of one process.
		if s, verdict := g.Enter(v); verdict == wait.Enlisted {
			if ctx.Done() == nil {
				for s.Pending() {
					s.Park()
				}
			} else {
				s.Block(ctx, nil)
			}
			st := s.Status()
			g.Exit(s)
			return f.woken(ctx, st)
		}
	}
	_, err := waitMany(ctx, []Point{{f, v}}, 1)
	return err
}

func (f *Fence) woken(ctx context.Context, st abi.Status) error {
	f.hb.acquire()
	switch st {
	case abi.StatusSuccess:
		return nil
	case abi.StatusCancelled:
		return context.Cause(ctx)
	}
	return st
}

// check tells whether a wait through f can begin.
func (f *Fence) check() error {
	if f.closed.Load() {
		return ErrClosed
	}
	if f.rights&abi.GrantWait == 0 {
		return abi.StatusAccessDenied
	}
	return nil
}

// waitMany waits for need of the points by whatever means each fence has: a gate
// of this process, or the kernel.
func waitMany(ctx context.Context, points []Point, need int) (int, error) {
	if len(points) == 0 || len(points) > MaxPoints {
		return -1, abi.StatusInvalidParameter
	}
	var session *Session
	for _, p := range points {
		if p.Fence == nil || session != nil && session != p.Fence.dev.s {
			return -1, abi.StatusInvalidParameter
		}
		session = p.Fence.dev.s
		if err := p.Fence.check(); err != nil {
			return -1, err
		}
	}
	if session.door.lost() {
		return -1, abi.StatusDeviceRemoved
	}
	if i := reached(points, need); i >= 0 || session.spin(points, need, &i) {
		return session.arrived(points, i)
	}
	if err := ctx.Err(); err != nil {
		return -1, context.Cause(ctx)
	}
	s := wait.Get(len(points), need)
	hub, asked := enlist(session, s, points)
	st := abi.StatusSuccess
	s.Block(ctx, hub)
	st = s.Status()
	first := s.First()
	for i := range points {
		if g := points[i].Fence.gate.Load(); g != nil {
			g.Withdraw(&s.Entries[i])
		}
	}
	for _, a := range asked {
		session.forget(a)
	}
	s.Put()
	if err := points[0].Fence.woken(ctx, st); err != nil {
		return -1, err
	}
	return session.arrived(points, max(first, 0))
}

// arrivedAt is arrived for one fence.
func (s *Session) arrivedAt(f *Fence) (int, error) {
	f.hb.acquire()
	if f.Lost() && s.door.lost() {
		return -1, abi.StatusDeviceRemoved
	}
	return 0, nil
}

// arrived is the end of a wait that was satisfied: by arrival or loss, but the loss
// of the daemon itself is an error.
func (s *Session) arrived(points []Point, i int) (int, error) {
	lost := false
	for _, p := range points {
		p.Fence.hb.acquire()
		lost = lost || p.Fence.Lost()
	}
	runtime.KeepAlive(points)
	if lost && s.door.lost() {
		return -1, abi.StatusDeviceRemoved
	}
	return i, nil
}

// enlist puts every point where it will be met, and stops when the wait is over
// already. It returns the hub when one has to watch, and what the kernel was asked.
func enlist(session *Session, s *wait.Sleeper, points []Point) (hub *wait.Hub, asked []*asking) {
	for i, p := range points {
		s.Entries[i].Reset(&s.Wait, i, p.Value)
	}
	for i, p := range points {
		if !s.Pending() {
			break
		}
		e := &s.Entries[i]
		if g := p.Fence.waitGate(); g != nil && g.Enlist(e) != wait.Kernel {
			if p.Fence.mem != nil {
				hub = session.door.hub()
			}
			continue
		}
		a, st := session.ask(p.Fence, p.Value, e)
		if st != abi.StatusSuccess {
			s.End(st)
			break
		}
		hub = session.door.hub()
		asked = append(asked, a)
	}
	return hub, asked
}

// waitGate returns the gate of the goroutines that wait for f; nil when its memory
// cannot decide a wait.
func (f *Fence) waitGate() *wait.Gate {
	if g := f.gate.Load(); g != nil {
		return g
	}
	var hub *wait.Hub
	if f.mem != nil {
		if !f.mem.writable {
			return nil
		}
		if hub = f.dev.s.door.hub(); hub == nil {
			return nil
		}
	}
	g := new(wait.Gate)
	g.Init(f.view(), hub)
	if !f.gate.CompareAndSwap(nil, g) {
		return f.gate.Load()
	}
	if f.closed.Load() {
		f.shut(g) // Close may have looked before there was a gate
	}
	return g
}

func (f *Fence) view() page.View {
	if f.mem == nil {
		return f.heap.View()
	}
	return f.mem.view
}

// reached returns the index of the first point reached, of the last when all are
// needed and all are; -1 otherwise. A point that only the kernel can judge is not.
func reached(points []Point, need int) int {
	met := 0
	for i := range points {
		if f := points[i].Fence; points[i].Value <= f.Value() && !f.view().Cell.Asks() {
			if met++; met == need {
				return i
			}
		}
	}
	return -1
}

// spin looks for a moment whether a signal from another process is about to come.
// Fences of this process alone are not worth it: waking a goroutine is quick.
func (s *Session) spin(points []Point, need int, hit *int) bool {
	const most = 64
	if len(points) < 2 || len(points) > most {
		return false // one has been tried already
	}
	for i := range points {
		if f := points[i].Fence; f.mem == nil || f.mem.view.Cell.Asks() {
			return false
		}
	}
	hub := s.door.hub()
	return hub != nil && hub.Spin(func() bool {
		*hit = reached(points, need)
		return *hit >= 0
	})
}
