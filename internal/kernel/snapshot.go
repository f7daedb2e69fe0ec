package kernel

import (
	"cmp"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/syncobj"
)

// A Snapshot is everything the kernel holds at one moment, for listings.
type Snapshot struct {
	Adapters  []AdapterInfo `json:"adapters"`
	Processes []ProcessRow  `json:"processes"`
	Objects   []ObjectRow   `json:"objects"`
	Waits     []WaitRow     `json:"waits"`
	Devices   []DeviceRow   `json:"devices"`
	Queues    []QueueRow    `json:"queues"`
	Engines   []EngineRow   `json:"engines"`
	Incidents []IncidentRow `json:"incidents"`
	NTObjects []NTObjectRow `json:"nt_objects"`
	NTHandles int           `json:"nt_handles"`
	Globals   int           `json:"global_handles"`
	Natives   []NativeRow   `json:"native_fences"`

	made map[uint32]shares // what each user has made of the last two
}

// shares counts a user's NT handles and global handles.
type shares struct{ handles, globals int }

// AdapterInfo is an adapter in a listing.
type AdapterInfo struct {
	LUID        string `json:"luid"`
	Profile     string `json:"profile"`
	Description string `json:"description"`
	WDDM        string `json:"wddm"`
	Nodes       int    `json:"nodes"`
	Stopped     bool   `json:"stopped"` // removed, or there was no way to go on
}

// ProcessRow is a process in a listing. Ages are in nanoseconds.
type ProcessRow struct {
	ID       uint64 `json:"id"`
	PID      int    `json:"pid"`
	UID      uint32 `json:"uid"`
	Name     string `json:"name"`
	Devices  int    `json:"devices"`
	Contexts int    `json:"contexts"`
	Objects  int    `json:"objects"`

	Allocations  int    `json:"allocations"`
	Memory       uint64 `json:"memory_bytes"`   // of those that have some by now
	Resident     uint64 `json:"resident_bytes"` // as counted, on all adapters
	PagingQueues int    `json:"paging_queues"`
	Paging       int    `json:"paging_operations"` // queued

	Handles int   `json:"handles"`
	Waits   int   `json:"waits"`
	Age     int64 `json:"age_ns"`
}

// NTObjectRow is what an NT handle stands for.
type NTObjectRow struct {
	Type    string `json:"type"`           // DxgkSharedSyncObject, DxgkSharedResource
	Name    string `json:"name,omitempty"` // as its creator spelled it
	Object  uint64 `json:"object"`         // number of what is shared, of a bundle its resource
	UID     uint32 `json:"uid"`            // of its creator
	Access  string `json:"access"`         // owner:group and mode
	Handles int    `json:"handles"`        // open anywhere
}

// ObjectRow is a local object: one process's view of a synchronization object, a
// keyed mutex, a resource.
type ObjectRow struct {
	Handle  abi.Handle `json:"handle"`
	Object  uint64     `json:"object"` // the same number for every view of one object
	Kind    string     `json:"kind"`
	State   string     `json:"state"`
	Value   uint64     `json:"value"`     // of a fence; a semaphore's count; the key of a keyed mutex's last release
	Waiters int        `json:"waiters"`   // kernel-side waits and sleepers on the page
	Kernel  int        `json:"in_kernel"` // of them, those that the kernel decides
	Flags   string     `json:"flags"`
	Rights  string     `json:"rights"`
	Created bool       `json:"created"` // by this process, not opened
	PID     int        `json:"pid"`
	Process uint64     `json:"process"`
	Device  abi.Handle `json:"device"`
	Adapter string     `json:"adapter"`
	Age     int64      `json:"age_ns"`
}

// WaitRow is a wait that the kernel decides.
type WaitRow struct {
	PID     int        `json:"pid"`
	Process uint64     `json:"process"`
	Device  abi.Handle `json:"device"`
	Mode    string     `json:"mode"` // any or all; without fences, idle for WaitForIdle, drain for DestroyPagingQueue
	Kind    string     `json:"kind"` // event or blocked
	Age     int64      `json:"age_ns"`
	Points  []PointRow `json:"points"`
}

// PointRow is one fence of a wait: its value now and the value waited for.
type PointRow struct {
	Handle abi.Handle `json:"handle"`
	Object uint64     `json:"object"`
	Value  uint64     `json:"value"`
	Target uint64     `json:"target"`
	Met    bool       `json:"met"`
}

// Snapshot lists everything. It holds the lock while it copies.
func (k *Kernel) Snapshot() Snapshot {
	stalls := k.stalls()
	k.lock()
	defer k.unlock()
	now := k.now()
	s := Snapshot{
		NTHandles: len(k.handles), Globals: k.globals.Len(), NTObjects: k.ntObjects(), Natives: k.nativeRows(),
		Adapters: []AdapterInfo{}, Processes: []ProcessRow{}, Objects: []ObjectRow{}, Waits: []WaitRow{}, made: map[uint32]shares{},
	}
	s.gpuRows(k, now)
	for a, list := range stalls {
		s.addStalls(a, list)
	}
	for _, a := range k.adapters {
		s.Adapters = append(s.Adapters, AdapterInfo{a.LUID.String(), a.Profile.Name, a.Profile.Description, a.Profile.WDDM.String(), len(a.Profile.Nodes), a.stopped})
	}
	for uid, n := range k.shared {
		s.made[uid] = shares{handles: n}
	}
	for uid, n := range k.globals.Users() {
		s.made[uid] = shares{s.made[uid].handles, n}
	}
	for p := range k.processes {
		row := ProcessRow{ID: p.id, PID: p.Info.PID, UID: p.Info.UID, Name: p.Info.Name, Devices: len(p.devices), Handles: p.table.Len(), Waits: len(p.waits), Age: now - p.since}
		for d := range p.devices {
			row.Contexts += len(d.contexts)
			row.Allocations += len(d.allocations)
			row.PagingQueues += len(d.paging)
			for w := range d.idlers {
				row.Waits++
				s.Waits = append(s.Waits, w.row(now))
			}
			for q := range d.paging {
				if q.closing != nil && !q.closing.cancelled {
					row.Waits++
					s.Waits = append(s.Waits, q.closing.row(q, now))
				}
			}
			for a := range d.allocations {
				row.Memory += a.allocation.heap.made()
			}
			for l := d.locals; l != nil; l = l.next {
				row.Objects++
				s.Objects = append(s.Objects, l.row(now))
			}
			for l := range d.resources {
				row.Objects++
				s.Objects = append(s.Objects, l.row(now))
			}
		}
		for _, a := range k.adapters {
			row.Resident += p.residentOn(a)
		}
		row.Paging = p.paging
		for l := range p.plains {
			row.Objects++
			s.Objects = append(s.Objects, l.row(now))
		}
		for l := range p.mutexes {
			row.Objects++
			s.Objects = append(s.Objects, l.row(now))
		}
		for w := range p.turns {
			row.Waits++
			s.Waits = append(s.Waits, w.row(now))
		}
		for w := range p.waits {
			s.Waits = append(s.Waits, w.row(now))
		}
		s.Processes = append(s.Processes, row)
	}
	slices.SortFunc(s.Processes, func(a, b ProcessRow) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(s.Objects, func(a, b ObjectRow) int {
		return cmp.Or(cmp.Compare(a.Process, b.Process), cmp.Compare(a.Handle, b.Handle))
	})
	slices.SortFunc(s.Waits, func(a, b WaitRow) int {
		return cmp.Or(cmp.Compare(b.Age, a.Age), cmp.Compare(a.Process, b.Process))
	})
	return s
}

func (l *local) row(now int64) ObjectRow {
	inKernel, asleep := l.fence.Waiters()
	p := l.device.process
	return ObjectRow{
		Handle: l.handle, Object: l.fence.serial, Kind: l.fence.Kind().String(), State: l.fence.State().String(),
		Value: l.fence.Value(), Waiters: inKernel + asleep, Kernel: inKernel,
		Flags: (l.fence.Flags | l.flags).String(), Rights: rightsText(l.rights), Created: l.created,
		PID: p.Info.PID, Process: p.id, Device: l.device.handle, Adapter: l.device.adapter.LUID.String(), Age: now - l.since,
	}
}

func rightsText(r uint8) string {
	switch r & (abi.GrantSignal | abi.GrantWait) {
	case abi.GrantSignal:
		return "signal"
	case abi.GrantWait:
		return "wait"
	case abi.GrantSignal | abi.GrantWait:
		return "signal|wait"
	}
	return "none"
}

func (w *cpuWait) row(now int64) WaitRow {
	r := WaitRow{PID: w.process.Info.PID, Process: w.process.id, Device: w.device.handle, Mode: "all", Kind: "blocked", Age: now - w.since}
	if w.any {
		r.Mode = "any"
	}
	if w.event != nil {
		r.Kind = "event"
	}
	for i := range w.points {
		pt := &w.points[i]
		if pt.local == nil {
			continue
		}
		f := pt.local.fence
		r.Points = append(r.Points, PointRow{pt.local.handle, f.serial, f.Value(), pt.Target, pt.Met()})
	}
	return r
}

func (l *plainLocal) row(now int64) ObjectRow {
	o, p := l.object, l.process
	waiting, _ := o.Waiters()
	r := ObjectRow{
		Handle: l.handle, Object: o.serial, Kind: o.Kind().String(), State: o.State().String(), Waiters: waiting, Kernel: waiting,
		Flags: o.CreateFlags().String(), Rights: rightsText(abi.GrantSignal | abi.GrantWait), Created: l.created,
		PID: p.Info.PID, Process: p.id, Adapter: o.adapter.LUID.String(), Age: now - l.since,
	}
	switch o := o.Object.(type) {
	case *syncobj.Fence:
		r.Value = o.Value()
	case *syncobj.Semaphore:
		count, _ := o.Count()
		r.Value = uint64(count)
	}
	return r
}

func (l *keyedLocal) row(now int64) ObjectRow {
	m, p := l.mutex, l.process
	return ObjectRow{
		Handle: l.handle, Object: m.serial, Kind: "keyed-mutex", State: m.State().String(), Value: m.Key(), Waiters: m.Waiters(), Kernel: m.Waiters(),
		Flags: abi.SyncObjectFlags(0).String(), Rights: rightsText(abi.GrantSignal | abi.GrantWait), Created: l.created,
		PID: p.Info.PID, Process: p.id, Age: now - l.since,
	}
}

func (l *resourceLocal) row(now int64) ObjectRow {
	res, p := l.resource, l.device.process
	return ObjectRow{
		Handle: l.handle, Object: res.serial, Kind: "resource", State: "Live",
		Flags: res.flags.String(), Rights: rightsText(0), Created: l.created,
		PID: p.Info.PID, Process: p.id, Device: l.device.handle, Adapter: res.adapter.LUID.String(), Age: now - l.since,
	}
}

func (w *keyedWait) row(now int64) WaitRow {
	p, m := w.local.process, w.local.mutex
	return WaitRow{
		PID: p.Info.PID, Process: p.id, Mode: "all", Kind: "blocked", Age: now - w.since,
		Points: []PointRow{{w.local.handle, m.serial, m.Key(), w.turn.Key, false}},
	}
}

// ntObjects lists what NT handles stand for, those with a name first.
func (k *Kernel) ntObjects() []NTObjectRow {
	handles := map[*object.NTObject]int{}
	for _, h := range k.handles {
		handles[h.NTObject]++
	}
	rows := []NTObjectRow{}
	for o, n := range handles {
		rows = append(rows, NTObjectRow{o.Type.String(), o.Name.String(), serialOf(o.Object), o.UID, o.Security.String(), n})
	}
	slices.SortFunc(rows, func(a, b NTObjectRow) int {
		return cmp.Or(-cmp.Compare(min(len(a.Name), 1), min(len(b.Name), 1)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Object, b.Object))
	})
	return rows
}

func serialOf(shared any) uint64 {
	switch s := shared.(type) {
	case *fence:
		return s.serial
	case *plain:
		return s.serial
	case *bundle:
		return s.resource.serial
	}
	return 0
}

// Of returns the part of s that belongs to one user: its processes, their objects
// and waits, the handles that it has made. Adapters are everybody's.
func (s Snapshot) Of(uid uint32) Snapshot {
	mine := map[uint64]bool{}
	s.Processes = slices.DeleteFunc(s.Processes, func(p ProcessRow) bool {
		mine[p.ID] = p.UID == uid
		return p.UID != uid
	})
	s.Objects = slices.DeleteFunc(s.Objects, func(o ObjectRow) bool { return !mine[o.Process] })
	s.Waits = slices.DeleteFunc(s.Waits, func(w WaitRow) bool { return !mine[w.Process] })
	s.gpuRowsOf(uid, mine)
	s.Natives = slices.DeleteFunc(s.Natives, func(n NativeRow) bool { return !n.users[uid] })
	s.NTObjects = slices.DeleteFunc(s.NTObjects, func(o NTObjectRow) bool { return o.UID != uid })
	s.NTHandles, s.Globals = s.made[uid].handles, s.made[uid].globals
	return s
}
