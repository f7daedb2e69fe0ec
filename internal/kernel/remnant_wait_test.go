package kernel

import "testing"

// The address of a fence that was destroyed is no reason for a queued wait to go on
// waiting: it ends when nobody is left who could signal (OQ-15). Here that was a signal
// whose context is destroyed.
func TestAddressesHoldNoWaits(t *testing.T) {
	r := newClockRig(t)
	w := r.worker(1, 0)
	f, hold := r.rig.fence(w.p, w.d, 0, 3), r.rig.fence(w.p, w.d, 0, 0)
	signaller := w.another(r.rig)
	r.ok(signaller.waitGpu(handles(hold), values(1)))
	r.ok(signaller.signalGpu(handles(f), values(9)))
	r.ok(w.waitGpu(handles(f), values(9)))
	r.work(w)
	s, va := spaceOf(r.rig, w.p), gpuOf(w.p, f)
	r.ok(destroy(w.p, f))
	r.pass(quantum)
	r.wantValue(w.p, w.fence, 0)
	if fault := s.Store64(0, va, 5); fault != nil {
		t.Error("a store while a signal is queued:", fault)
	}
	r.ok(signaller.end())
	r.pass(quantum)
	r.wantValue(w.p, w.fence, 1)
	if n := len(r.k.adapters[0].remnants); n != 0 {
		t.Errorf("%d fences are remembered", n)
	}
}
