package vidsch

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// A world is a scheduler with a driver that writes down what it is asked, an owner that
// writes down what it is told, and a clock.
type world struct {
	loses []*Device // with the adapter
	ddi.Refusals
	t     *testing.T
	s     *Scheduler
	clock int64
	log   []string

	resetFails, resumeFails, adapterFails, restartFails bool
	aborts                                              uint32 // what ResetEngine says was aborted
	abortsHw                                            ddi.KmdHwQueue
	suspends                                            abi.Status
	dependents                                          uint64
	refuses                                             bool // submissions
}

const ms = 1_000_000

func newWorld(t *testing.T, caps ddi.Caps, tdr TDR) *world {
	w := &world{t: t, suspends: abi.StatusPending}
	w.s = New(w, func() int64 { return w.clock }, caps, 3, 1, tdr)
	return w
}

func (w *world) say(format string, args ...any) { w.log = append(w.log, fmt.Sprintf(format, args...)) }

// want runs everything and compares what was written down since the last time.
func (w *world) want(lines ...string) {
	w.t.Helper()
	w.run()
	if got := strings.Join(w.log, "; "); got != strings.Join(lines, "; ") {
		w.t.Errorf("at %d ms\n got %s\nwant %s", w.clock/ms, got, strings.Join(lines, "; "))
	}
	w.log = nil
}

func (w *world) run() {
	for w.s.Busy() || w.s.Asks() {
		w.s.Run()
		for _, call := range w.s.Take() {
			call(w)
		}
	}
}

// pass lets time go by, from deadline to deadline.
func (w *world) pass(d int64) {
	w.run()
	end := w.clock + d
	for range 1000 {
		at := w.s.Next()
		if at > end {
			w.clock = end
			return
		}
		w.clock = max(w.clock, at)
		w.s.Tick()
		w.run()
	}
	w.t.Fatal("the scheduler is due for ever")
}

func (w *world) Locked(f func())                      { f() }
func (w *world) StartDevice(ddi.Callbacks) abi.Status { return abi.StatusSuccess }
func (w *world) StopDevice()                          {}
func (w *world) Caps() ddi.Caps                       { return 0 }
func (w *world) Advance(int64)                        {}
func (w *world) Next() (int64, bool)                  { return 0, false }

func name(d *Device) string {
	if d == nil {
		return "nobody"
	}
	return d.Owner.(string)
}

func (w *world) Hung(d *Device) { w.say("hung %s", name(d)); d.Lose(Lost) }
func (w *world) Faulted(d *Device, f Fault) {
	w.say("faulted %s page=%v", name(d), f.Page)
	d.Lose(Lost)
}

func (w *world) AdapterReset(g *Device) {
	w.say("adapter reset by %s", name(g))
	for _, d := range w.loses {
		d.Lose(Lost)
	}
}
func (w *world) BugCheck(b BugCheck) { w.say("bug check %#x", b.Code) }
func (w *world) Unused(_ *Device, list []Remnant) {
	w.say("unused %v", list)
}
func (w *world) Idle(d *Device)  { w.say("idle %s", name(d)) }
func (w *world) Report(r Report) { w.say("report %#x promoted=%v", r.Code, r.Promoted) }

func (w *world) SubmitCommandVirtual(a ddi.SubmitCommandArgs) abi.Status {
	again := ""
	if a.Flags&ddi.SubmitResubmission != 0 {
		again = " again"
	}
	w.say("submit %d.%x#%d%s", a.Engine.NodeOrdinal, a.DmaBufferVirtualAddress, a.SubmissionFenceID, again)
	if w.refuses {
		return abi.StatusInvalidParameter
	}
	return abi.StatusSuccess
}
func (w *world) PreemptCommand(e ddi.Engine, id uint32) { w.say("preempt %v#%d", e, id) }
func (w *world) QueryCurrentFence(e ddi.Engine)         { w.say("query %v", e) }
func (w *world) QueryDependentEngineGroup(ddi.Engine) uint64 {
	return w.dependents
}

func (w *world) ResetEngine(e ddi.Engine) (uint32, abi.Status) {
	w.say("reset %v", e)
	return w.aborts, failing(w.resetFails)
}

func (w *world) ResetHwEngine(e ddi.Engine) (ddi.KmdHwQueue, uint64, abi.Status) {
	w.say("reset hw %v", e)
	return w.abortsHw, 0, failing(w.resetFails)
}

func (w *world) ResumeHwEngine(e ddi.Engine) abi.Status {
	w.say("resume hw %v", e)
	return failing(w.resumeFails)
}

func (w *world) ResetFromTimeout() abi.Status {
	w.say("reset all")
	return failing(w.adapterFails)
}

func (w *world) RestartFromTimeout() abi.Status {
	w.say("restart")
	return failing(w.restartFails)
}

func (w *world) DestroyContext(c ddi.KmdContext) abi.Status {
	w.say("destroy context %d", c)
	return abi.StatusSuccess
}

func (w *world) DestroyHwQueue(q ddi.KmdHwQueue) abi.Status {
	w.say("destroy queue %d", q)
	return abi.StatusSuccess
}

func (w *world) DestroyDevice(d ddi.KmdDevice) abi.Status {
	w.say("destroy device %d", d)
	return abi.StatusSuccess
}

func (w *world) SubmitCommandToHwQueue(a ddi.SubmitCommandToHwQueueArgs) abi.Status {
	w.say("submit hw %d.%x=%d", a.HwQueue, a.DmaBufferVirtualAddress, a.HwQueueProgressFenceID)
	return abi.StatusSuccess
}

func (w *world) SuspendContext(c ddi.KmdContext, fence uint64) abi.Status {
	w.say("suspend %d#%d", c, fence)
	return w.suspends
}

func (w *world) ResumeContext(c ddi.KmdContext) abi.Status {
	w.say("resume %d", c)
	return abi.StatusSuccess
}

func failing(yes bool) abi.Status {
	if yes {
		return abi.StatusUnsuccessful
	}
	return abi.StatusSuccess
}

func (w *world) completed(node uint32, id uint32) {
	w.s.Completed(ddi.DmaCompleted{Engine: ddi.Engine{NodeOrdinal: node}, SubmissionFenceID: id})
}

func (w *world) preempted(node, preemption, last uint32) {
	w.s.Preempted(ddi.DmaPreempted{Engine: ddi.Engine{NodeOrdinal: node}, PreemptionFenceID: preemption, LastCompletedFenceID: last})
}

// A gate opens when it is told to.
type gate struct {
	w    *world
	name string
	q    *Queue
	open bool
}

func (g *gate) Start() bool {
	g.w.say("look at %s", g.name)
	return g.open
}
func (g *gate) Withdraw() { g.w.say("withdraw %s", g.name) }

// A mark is a signal that is written down.
type mark struct {
	w    *world
	name string
}

func (m mark) Reach(*Queue)           { m.w.say("signal %s", m.name) }
func (m mark) Drop(_ *Queue, why Why) { m.w.say("drop %s %d", m.name, why) }

func (w *world) context(device string, node uint32) *Queue {
	d := w.s.NewDevice(device, 1, false)
	return d.NewContext(ddi.Engine{NodeOrdinal: node}, 1, false, false, device).Queue()
}

func (q *Queue) buf(at uint64) { q.Submit(Buffer{Address: at}) }

func (q *Queue) mark(w *world, name string, when When) { q.Signal(mark{w, name}, when, 1) }
