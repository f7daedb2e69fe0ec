package kernel

import (
	"cmp"
	"slices"

	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/syncobj"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// NativeRow is a native fence on one adapter.
type NativeRow struct {
	Object  uint64 `json:"object"` // number, as in ObjectRow
	Adapter string `json:"adapter"`
	Type    string `json:"type"`  // DEFAULT, INTRA_GPU
	Value   uint64 `json:"value"` // the current value
	// Monitored is the monitored value as the GPU sees it: MaxUint64, no CPU waits; 0 of a
	// fence that may be on several adapters, unless those signal each other directly.
	Monitored uint64 `json:"monitored_value"`
	// CurrentStored and MonitoredStored are where the values are: system or video.
	CurrentStored   string `json:"current_stored"`
	MonitoredStored string `json:"monitored_stored"`
	Crosses         bool   `json:"cross_adapter"`
	Direct          bool   `json:"direct_signal"` // its adapters signal each other directly
	Opens           int    `json:"opens"`         // local objects on the adapter

	users map[uint32]bool // who has it there
}

// nativeRows lists native fences, by adapter, in the order in which they were made there.
// The lock is held.
func (k *Kernel) nativeRows() []NativeRow {
	rows := []NativeRow{}
	for _, a := range k.adapters {
		var list []*nativeOn
		for _, o := range a.natives {
			if o.opens > 0 && o.native.fence.State() != syncobj.Gone {
				list = append(list, o)
			}
		}
		slices.SortFunc(list, func(x, y *nativeOn) int { return cmp.Compare(x.dxg, y.dxg) })
		for _, o := range list {
			rows = append(rows, o.row())
		}
	}
	return rows
}

func (o *nativeOn) row() NativeRow {
	n := o.native
	r := NativeRow{
		Object: n.fence.serial, Adapter: o.adapter.LUID.String(), Type: n.kind.String(), Value: n.fence.Value(), Monitored: o.monitored.Load(),
		CurrentStored: o.stored.current.String(), MonitoredStored: o.stored.monitored.String(), Crosses: n.crosses(), Direct: n.crosses() && n.direct, Opens: o.opens,
		users: map[uint32]bool{},
	}
	for key := range o.views {
		r.users[key.process.Info.UID] = true
	}
	return r
}

// stalls are what the adapters' GPUs wait for, by the packets of which queue. Without the lock.
func (k *Kernel) stalls() map[*Adapter][]ddi.NativeWait {
	all := map[*Adapter][]ddi.NativeWait{}
	for _, a := range k.adapters {
		if d, ok := a.driver.(ddi.NativeWaits); ok {
			all[a] = d.NativeWaits()
		}
	}
	return all
}

// addStalls tells queues what their packets at the GPU wait for. The lock is held.
func (s *Snapshot) addStalls(a *Adapter, list []ddi.NativeWait) {
	for _, w := range list {
		o := a.natives[w.Fence]
		if o == nil { // it has gone meanwhile
			continue
		}
		f := o.native.fence
		for i := range s.Queues {
			if q := &s.Queues[i]; q.sched != nil && q.adapter == a && q.sched.Kmd == w.HwQueue && (w.HwQueue != 0 || q.kmd == w.Context) {
				q.Waits = append(q.Waits, QueuePointRow{Object: f.serial, Kind: f.Kind().String(), Value: f.Value(), Target: w.Value, AtGPU: true})
			}
		}
	}
}

// queueOf is what a row is of.
type queueOf struct {
	adapter *Adapter
	sched   *vidsch.Queue // nil: a context without packets of its own
	kmd     ddi.KmdContext
}
