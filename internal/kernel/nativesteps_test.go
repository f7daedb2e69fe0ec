package kernel

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/explore"
	"github.com/dxgsync/dxgsync/internal/page"
)

// A spoil is one step that is done wrong.
type spoil string

// found checks what is found by some order of a program in which it is done wrong.
func (s spoil) found(t *testing.T, program func(*explore.Run), want string) {
	t.Helper()
	if _, err := explore.All(program); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%s: found %v, want %q", s, err, want)
	}
}

// The steps of the GPU, as its driver does them, and what is done wrong in them.

func (w *nativeWorld) store(v uint64, store func() *ddi.Fault) *ddi.Fault {
	w.stored = max(w.stored, v)
	return store()
}

// load reads the monitored value for a signal of v.
func (w *nativeWorld) load(v uint64, load func() uint64) uint64 {
	w.run.Yield("check")
	m := load()
	w.found(v, m)
	w.afterAll()
	return m
}

// found judges an interrupt: unless a CPU waits for the value, only one that the kernel
// has decided to prevent, and the driver does not know yet, has a reason.
func (w *nativeWorld) found(v, m uint64) {
	if v <= m {
		return
	}
	w.owed = true
	waited := slices.ContainsFunc(w.waits, func(x *worldWait) bool { return w.stateOf(x) == 0 && x.goal <= v })
	if !waited && w.on.monitored.Load() == w.on.wanted {
		w.run.Fail(fmt.Errorf("the GPU interrupts for %d, above %d, and nobody waits for it", v, m))
	}
}

// afterAll does what a driver should have done long ago.
func (w *nativeWorld) afterAll() {
	for _, f := range w.late {
		f()
	}
	w.late = nil
}

func (w *nativeWorld) interrupt(cb ddi.Callbacks, i ddi.NativeFenceSignaled) {
	w.owed = false
	w.count++
	cb.NotifyInterrupt(i)
}

func (w *nativeWorld) update(list []ddi.MonitoredValueUpdate, update func([]ddi.MonitoredValueUpdate)) {
	w.run.Aside(func() {
		w.run.Yield("update", list[0].Value)
		u := list[0]
		switch before := u.MonitoredValue.Load(); {
		case w.spoil == "too far" && u.Value > before:
			list[0].Value = page.MvalNone
		case w.spoil == "off by one" && u.Value != page.MvalNone:
			list[0].Value++
		}
		if w.spoil == "update too late" {
			w.late = append(w.late, func() { u.MonitoredValue.Store(u.Value) })
		} else {
			update(list)
		}
		w.run.Yield("updated")
	})
	w.blind = w.spoil == "no look"
}

func (w *nativeWorld) updateCurrent(list []ddi.CurrentValueUpdate, flags ddi.CurrentValueFlags, update func([]ddi.CurrentValueUpdate, ddi.CurrentValueFlags)) {
	w.run.Aside(func() {
		w.run.Yield("tell", list[0].Value, flags)
		if w.spoil != "no kick" {
			update(list, flags)
			w.told++
		}
	})
}
