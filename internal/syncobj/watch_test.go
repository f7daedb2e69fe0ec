package syncobj

import (
	"slices"
	"testing"

	"github.com/dxgsync/dxgsync/internal/page"
	"github.com/dxgsync/dxgsync/internal/wait"
)

type told []uint64

func (t *told) Monitored(v uint64) { *t = append(*t, v) }

// A fence that GPUs raise by themselves: its page requests but does not ask, tells every
// signal of whoever had looked at the flags before, and the monitored value is the monitor's.
func TestWatch(t *testing.T) {
	f, m, k, e := fixture(Live) // a wait for 7
	var got told
	f.Watch(&got, false)
	if !m.cell.Requests() || m.cell.Asks() || m.cell.Monitored() != 0 || !m.cell.WantsKernel() {
		t.Errorf("requests %v, asks %v, monitored value %d, wants the kernel %v", m.cell.Requests(), m.cell.Asks(), m.cell.Monitored(), m.cell.WantsKernel())
	}
	var later wait.Wait
	var low wait.Entry
	later.Init(new(sink), 1)
	low.Reset(&later, 0, 6)
	f.Enlist(&low)
	f.Withdraw(&low)
	f.Withdraw(e)
	if want := []uint64{6, 5, 6, page.MvalNone}; !slices.Equal(got, want) || k.n != 0 {
		t.Errorf("told %d, want %d; %d ended", got, want, k.n)
	}
	if m.cell.Monitored() != 0 || !m.cell.WantsKernel() {
		t.Errorf("monitored value %d, wants the kernel %v", m.cell.Monitored(), m.cell.WantsKernel())
	}
	f.Ask()
	if !m.cell.Asks() {
		t.Error("with a loss it does not ask")
	}
}

// With the last reference nobody waits any more, and the monitor is told so.
func TestWatchGone(t *testing.T) {
	f, _, k, _ := fixture(Live) // a wait for 7
	var got told
	f.Watch(&got, true)
	f.Unref(new(Wakes))
	if want := []uint64{6, page.MvalNone}; !slices.Equal(got, want) || k.n != 1 {
		t.Errorf("told %d, want %d; %d ended", got, want, k.n)
	}
}
