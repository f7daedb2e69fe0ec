package kernel

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/syncobj"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// DeviceRow is a device in a listing.
type DeviceRow struct {
	Handle   abi.Handle `json:"device"`
	PID      int        `json:"pid"`
	Process  uint64     `json:"process"`
	Name     string     `json:"name"` // of the process
	Adapter  string     `json:"adapter"`
	State    string     `json:"state"` // D3DKMT_DEVICEEXECUTION_STATE
	Contexts int        `json:"contexts"`
	// FaultAddress is what a device in ERROR_DMAPAGEFAULT touched.
	FaultAddress uint64 `json:"fault_address,omitempty"`
	Age          int64  `json:"age_ns"`
}

// QueueRow is a stream of GPU work: a context, or a hardware queue.
type QueueRow struct {
	Handle   abi.Handle `json:"handle"`
	Kind     string     `json:"kind"`              // context, hw-context (which has no packets of its own), hw-queue, user-queue
	Context  abi.Handle `json:"context,omitempty"` // of a hardware queue
	PID      int        `json:"pid"`
	Process  uint64     `json:"process"`
	Device   abi.Handle `json:"device"`
	Adapter  string     `json:"adapter"`
	Engine   string     `json:"engine"`   // node.engine
	Priority int32      `json:"priority"` // among all contexts, -7 to 7
	InFront  bool       `json:"in_front"` // of the others of its process with that priority
	Packets  int        `json:"packets"`  // that are not complete
	AtGPU    int        `json:"at_gpu"`   // of them, those that were given to the GPU
	// Waits are what the first packet waits for, if that is what holds the queue up, and what
	// those at the GPU do.
	Waits []QueuePointRow `json:"waits_for,omitempty"`
	// Log: the GPU logs what it does with native fences there.
	Log bool `json:"log,omitempty"`
	// Progress is how far a queue that programs submit to has come; such queues have no
	// packets that the kernel knows. Doorbell is how it is, nil: there is none.
	Progress uint64       `json:"progress,omitempty"`
	Doorbell *DoorbellRow `json:"doorbell,omitempty"`
	Age      int64        `json:"age_ns"`

	queueOf
}

// DoorbellRow is the doorbell of a queue.
type DoorbellRow struct {
	Status     string `json:"status"`      // D3DDDI_DOORBELLSTATUS
	LastQueued uint64 `json:"last_queued"` // the progress that its program has promised
}

// QueuePointRow is one object that a queue waits for.
type QueuePointRow struct {
	Object uint64 `json:"object"` // number, as in ObjectRow
	Kind   string `json:"kind"`
	// Value and Target are what a fence has now and what is waited for; of a semaphore,
	// Value is its count.
	Value  uint64 `json:"value"`
	Target uint64 `json:"target"`
	// AtGPU: it is a packet at the GPU that waits, for a native fence.
	AtGPU bool `json:"at_gpu"`
}

// EngineRow is an engine in a listing.
type EngineRow struct {
	Adapter string `json:"adapter"`
	Engine  string `json:"engine"` // node.engine
	Node    string `json:"node"`   // what kind of node it is
	State   string `json:"state"`  // idle, running, preempting, gathering, held, resetting, stopped
	// PID and Queue are whose packet runs, as far as the kernel knows, and for how long it
	// has; 0 for nobody's, or another user's.
	PID   int        `json:"pid,omitempty"`
	Queue abi.Handle `json:"queue,omitempty"`
	Age   int64      `json:"running_ns,omitempty"`
	AtGPU int        `json:"at_gpu"` // packets
	Ready int        `json:"ready"`  // contexts whose next packet could be given to it

	process uint64
}

// IncidentRow is a recovery, or the end of an adapter.
type IncidentRow struct {
	Adapter string `json:"adapter"`
	What    string `json:"what"`
	Code    uint32 `json:"code"`             // 0x141, 0x117, a bug check; 0: removed on request
	Engine  string `json:"engine,omitempty"` // that was reset
	// PID and Name are the guilty process; 0 if it is unknown, or another user's.
	PID  int    `json:"pid,omitempty"`
	Name string `json:"name,omitempty"`
	Age  int64  `json:"age_ns"`

	uid uint32 // of the guilty
}

// gpuRows adds what GPUs have. The lock is held.
func (s *Snapshot) gpuRows(k *Kernel, now int64) {
	s.Devices, s.Queues, s.Engines, s.Incidents = []DeviceRow{}, []QueueRow{}, []EngineRow{}, []IncidentRow{}
	for _, a := range k.adapters {
		for _, d := range a.devices() {
			s.Devices = append(s.Devices, d.row(now))
			for _, c := range d.sortedContexts() {
				s.Queues = append(s.Queues, c.rows(now, nil)...)
			}
		}
		for _, e := range a.sched.Engines() {
			s.Engines = append(s.Engines, a.engineRow(e, now))
		}
		for _, i := range a.incidents {
			s.Incidents = append(s.Incidents, i.row(a, now))
		}
	}
	slices.SortStableFunc(s.Incidents, func(x, y IncidentRow) int { return cmp.Compare(y.Age, x.Age) })
}

// of leaves away what is not one user's: mine has its processes.
func (s *Snapshot) gpuRowsOf(uid uint32, mine map[uint64]bool) {
	s.Devices = slices.DeleteFunc(s.Devices, func(d DeviceRow) bool { return !mine[d.Process] })
	s.Queues = slices.DeleteFunc(s.Queues, func(q QueueRow) bool { return !mine[q.Process] })
	for i := range s.Engines {
		if e := &s.Engines[i]; !mine[e.process] {
			e.PID, e.Queue = 0, 0
		}
	}
	for i := range s.Incidents {
		if r := &s.Incidents[i]; r.uid != uid {
			r.PID, r.Name = 0, ""
		}
	}
}

func (d *device) row(now int64) DeviceRow {
	p := d.process
	r := DeviceRow{
		Handle: d.handle, PID: p.Info.PID, Process: p.id, Name: p.Info.Name, Adapter: d.adapter.LUID.String(), State: d.state.String(),
		Contexts: len(d.contexts), Age: now - d.since,
	}
	if d.state == abi.DeviceExecutionDMAPageFault {
		r.FaultAddress = d.fault.Address
	}
	return r
}

// sortedContexts are the device's contexts, by handle.
func (d *device) sortedContexts() []*context {
	var list []*context
	for c := range d.contexts {
		list = append(list, c)
	}
	slices.SortFunc(list, func(x, y *context) int { return cmp.Compare(x.handle, y.handle) })
	return list
}

// rows are those of a context and its hardware queues, or of only one of them.
func (c *context) rows(now int64, only *hwQueue) []QueueRow {
	d := c.device
	row := QueueRow{
		Handle: c.handle, Kind: "context", PID: d.process.Info.PID, Process: d.process.id, Device: d.handle, Adapter: d.adapter.LUID.String(),
		Engine: c.engine.String(), Priority: c.priority, InFront: c.ahead != 0, Age: now - c.since,
		queueOf: queueOf{adapter: d.adapter, kmd: c.sched.Kmd},
	}
	if !c.hardware() {
		row.packets(c.sched.Queue())
		return []QueueRow{row}
	}
	var queues []QueueRow
	for q := range c.queues {
		if only == nil || q == only {
			r := row
			r.Handle, r.Kind, r.Context, r.Age = q.handle, "hw-queue", c.handle, now-q.since
			r.packets(q.sched)
			r.Log = q.logs != nil
			if q.userMode() {
				r.Kind, r.Progress = "user-queue", q.progress.fence.Value()
			}
			if b := q.bell; b != nil {
				r.Doorbell = &DoorbellRow{abi.DoorbellStatus(b.words.Status.Load()).String(), b.words.LastQueued.Load()}
			}
			queues = append(queues, r)
		}
	}
	slices.SortFunc(queues, func(x, y QueueRow) int { return cmp.Compare(x.Handle, y.Handle) })
	if only != nil {
		return queues
	}
	row.Kind = "hw-context"
	return append([]QueueRow{row}, queues...)
}

func (r *QueueRow) packets(q *vidsch.Queue) {
	r.sched = q
	r.Packets, r.AtGPU = q.Len()
	w, ok := q.Waiting().(*gpuWait)
	if !ok {
		return
	}
	for _, o := range w.objects {
		r.Waits = append(r.Waits, o.row())
	}
}

func (o queuedObject) row() QueuePointRow {
	r := QueuePointRow{Kind: o.object.Kind().String(), Target: o.value}
	switch shared := o.object.(type) {
	case *fence:
		r.Object, r.Value = shared.serial, shared.Value()
	case *plain:
		r.Object = shared.serial
		switch legacy := shared.Object.(type) {
		case *syncobj.Fence:
			r.Value = legacy.Value()
		case *syncobj.Semaphore:
			count, _ := legacy.Count()
			r.Value = uint64(count)
		}
	}
	return r
}

func (a *Adapter) engineRow(e vidsch.EngineInfo, now int64) EngineRow {
	r := EngineRow{
		Adapter: a.LUID.String(), Engine: e.Name.String(), Node: a.Profile.Nodes[e.Name.NodeOrdinal].Engine.String(), State: e.State,
		AtGPU: e.AtGPU, Ready: e.Ready,
	}
	if e.Running == nil {
		return r
	}
	r.Age = now - e.Since
	switch owner := e.Running.Owner.(type) {
	case *context:
		r.PID, r.Queue, r.process = owner.device.process.Info.PID, owner.handle, owner.device.process.id
	case *hwQueue:
		r.PID, r.Queue, r.process = owner.context.device.process.Info.PID, owner.handle, owner.context.device.process.id
	}
	return r
}

func (i incident) row(a *Adapter, now int64) IncidentRow {
	r := IncidentRow{Adapter: a.LUID.String(), Code: i.code, PID: i.pid, Name: i.process, Age: now - i.at, uid: i.uid}
	switch i.code {
	case vidsch.VideoEngineTimeoutDetected:
		r.What, r.Engine = "engine reset", i.engine
	case vidsch.VideoTDRTimeoutDetected:
		r.What = "adapter reset"
		if i.promoted {
			r.What = "adapter reset, as an engine's failed"
		}
	case adapterRemoved:
		r.What = "adapter removed"
	default:
		r.What = fmt.Sprintf("adapter stopped: bug check %#x", i.code)
	}
	return r
}
