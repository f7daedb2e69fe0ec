package vidsch

import (
	"testing"

	"github.com/dxgsync/dxgsync/ddi"
)

// A reset on request is nobody's fault, works whatever the settings are and does not
// count, however many there are.
func TestResetOnRequest(t *testing.T) {
	for _, tdr := range []TDR{{}, {Set: true}, {Level: 1}, {DebugMode: 1}} {
		w := newWorld(t, 0, tdr)
		a := w.context("a", 0)
		for range 20 {
			a.buf(1)
			w.run()
			w.log = nil
			if !w.s.Reset() || w.s.Reset() {
				t.Fatal("refused, or done twice")
			}
			w.want("reset all", "adapter reset by nobody", "idle a", "restart", "report 0x117 promoted=false")
		}
		w.s.Stop()
		if w.s.Reset() {
			t.Error("a stopped adapter was reset")
		}
		w.want()
	}
}

func TestEngines(t *testing.T) {
	w := newWorld(t, ddi.PerEngineReset, TDR{})
	at := func(node int) EngineInfo { return w.s.Engines()[node] }
	if i := at(2); len(w.s.Engines()) != 3 || i.Name.NodeOrdinal != 2 || i.State != "idle" || i.Running != nil {
		t.Errorf("%+v", i)
	}
	a, b := w.context("a", 1), w.context("b", 1)
	w.clock = 7 * ms
	a.buf(1)
	b.buf(2)
	b.buf(3)
	w.run()
	if i := at(1); i.State != "running" || i.Running != a || i.Since != 7*ms || i.AtGPU != 2 || i.Ready != 1 {
		t.Errorf("%+v", i)
	}
	w.pass(20 * ms)
	if i := at(1); i.State != "preempting" || i.Running != a {
		t.Errorf("%+v", i)
	}
	q := w.s.NewDevice("d", 1, false).NewContext(ddi.Engine{}, 1, false, true, "d").NewHwQueue(9, false, 4, func() uint64 { return 0 }, nil, "q")
	q.Submit(Buffer{Progress: 1})
	q.Submit(Buffer{Progress: 2})
	w.run()
	if i := at(0); i.State != "running" || i.Running != q || i.AtGPU != 2 || i.Since != 27*ms {
		t.Errorf("%+v", i)
	}
	w.pass(20 * ms)
	if i := at(0); i.State != "preempting" {
		t.Errorf("%+v", i)
	}
	w.s.Stop()
	if i := at(0); i.State != "stopped" || i.Running != nil || i.AtGPU != 0 {
		t.Errorf("%+v", i)
	}
}
