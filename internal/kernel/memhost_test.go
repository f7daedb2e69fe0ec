package kernel

import (
	"encoding/binary"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/page"
)

// memHost is a machine of plain memory: descriptors are numbers in a table.
type memHost struct {
	files map[int]any // object.Key or *memEvent
	next  int
	live  int // memories not freed

	alarms int
	grant  abi.Status // of the memories
	lends  bool       // with a descriptor
}

type memMemory struct {
	host         *memHost
	cell         page.Cell
	wakes, sweep int
	granted      int
	freed        bool
}

type memEvent struct {
	sets, refs int
	onSet      func()
}

type memSyncFile struct {
	memEvent
	status abi.Status
}

func newMemHost() *memHost { return &memHost{files: map[int]any{}, next: 100} }

func (h *memHost) add(v any) int {
	h.next++
	h.files[h.next] = v
	return h.next
}

func (h *memHost) memory(initial uint64) (Memory, abi.Status) {
	m := &memMemory{host: h}
	m.cell.Init(initial)
	h.live++
	return m, abi.StatusSuccess
}

func (h *memHost) PrivateMemory(_ *Process, v uint64) (Memory, abi.Status) { return h.memory(v) }
func (h *memHost) SharedMemory(_ *Process, v uint64) (Memory, abi.Status)  { return h.memory(v) }
func (h *memHost) NewNTHandle() (object.Key, int, abi.Status) {
	key := object.Key{Dev: 1, Ino: uint64(h.next)}
	return key, h.add(key), abi.StatusSuccess
}

func (h *memHost) Identify(_ *Process, fd int) (object.Key, abi.Status) {
	switch f := h.files[fd].(type) {
	case nil:
		return object.Key{}, abi.StatusInvalidHandle
	case object.Key:
		return f, abi.StatusSuccess
	}
	return object.Key{}, abi.StatusObjectTypeMismatch
}

func (h *memHost) Event(_ *Process, fd int) (Event, abi.Status) {
	switch f := h.files[fd].(type) {
	case nil:
		return nil, abi.StatusInvalidHandle
	case *memEvent:
		f.refs++
		return f, abi.StatusSuccess
	}
	return nil, abi.StatusObjectTypeMismatch
}

// memHeap is memory of an allocation.
type memHeap struct {
	host  *memHost
	bytes []byte
}

func (h *memHost) NewAllocationMemory(_ uint32, size uint64) (AllocationMemory, abi.Status) {
	if size > 1<<30 {
		return nil, abi.StatusNoMemory
	}
	h.live++
	return &memHeap{h, make([]byte, size)}, abi.StatusSuccess
}

func (h *memHost) ClientMemory(_ *Process, _ uint64) AllocationMemory {
	return &memHeap{&memHost{}, make([]byte, 1<<16)}
}

func (m *memHeap) Read(offset uint64, b []byte) int {
	return copy(b, m.bytes[min(offset, uint64(len(m.bytes))):])
}

func (m *memHeap) Write(offset uint64, b []byte) int {
	return copy(m.bytes[min(offset, uint64(len(m.bytes))):], b)
}

func (m *memHeap) Load(offset uint64, size int) (uint64, bool) {
	var b [8]byte
	n := m.Read(offset, b[:size])
	return binary.LittleEndian.Uint64(b[:]), n == size
}

func (m *memHeap) Store(offset uint64, size int, v uint64) bool {
	return m.Write(offset, binary.LittleEndian.AppendUint64(nil, v)[:size]) == size
}
func (m *memHeap) File() (int, abi.Status) { return m.host.add(m), abi.StatusSuccess }
func (m *memHeap) Free()                   { m.host.live-- }

// memDoorbell is the memory of a doorbell: its descriptors are two numbers.
type memDoorbell struct {
	host                                *memHost
	bell, secondary, lastQueued, status atomic.Uint64
}

func (h *memHost) NewDoorbell(*Process) (DoorbellMemory, abi.Status) {
	h.live++
	return &memDoorbell{host: h}, abi.StatusSuccess
}

func (m *memDoorbell) Words() DoorbellWords {
	return DoorbellWords{Bell: &m.bell, Secondary: &m.secondary, LastQueued: &m.lastQueued, Status: &m.status}
}

func (m *memDoorbell) Files() ([]abi.OutFile, abi.Status) {
	if !m.host.grant.OK() {
		return nil, m.host.grant
	}
	return []abi.OutFile{{FD: m.host.add(m)}, {FD: m.host.add(m)}}, abi.StatusSuccess
}
func (m *memDoorbell) Free() { m.host.live-- }

func (h *memHost) NewSyncFile(*Process) (SyncFile, int, abi.Status) {
	f := &memSyncFile{memEvent: memEvent{refs: 1}}
	return f, h.add(f), abi.StatusSuccess
}
func (f *memSyncFile) Fail(st abi.Status)                 { f.status = st }
func (h *memHost) Close(fd int)                           { delete(h.files, fd) }
func (h *memHost) Bells(uint32) (*page.Bells, abi.Status) { return nil, abi.StatusNotSupported }
func (h *memHost) Detach(*Process)                        {}
func (h *memHost) Settle()                                {}
func (h *memHost) Alarm()                                 { h.alarms++ }
func (h *memHost) Due()                                   { h.alarms++ }
func (e *memEvent) Set() {
	if e.sets++; e.onSet != nil {
		e.onSet()
	}
}
func (e *memEvent) Close()                             { e.refs-- }
func (m *memMemory) View() page.View                   { return page.View{Cell: &m.cell} }
func (m *memMemory) WakeAll()                          { m.wakes++ }
func (m *memMemory) Free()                             { m.freed = true; m.host.live-- }
func (m *memMemory) Sweep(*Process, func(uint32) bool) { m.sweep++ }
func (m *memMemory) Grant(*Process) (abi.Grant, []abi.OutFile, abi.Status) {
	m.granted++
	if st := m.host.grant; !st.OK() {
		return abi.Grant{}, nil, st
	}
	if m.host.lends {
		return abi.Grant{Kind: abi.GrantPage}, []abi.OutFile{{FD: m.host.add(m)}}, abi.StatusSuccess
	}
	return abi.Grant{Kind: abi.GrantPage}, nil, abi.StatusSuccess
}

// rig is a kernel on a memHost with short forms of the calls.
type rig struct {
	t    testing.TB
	host *memHost
	k    *Kernel
}

func newRig(t testing.TB, profiles ...string) *rig {
	t.Helper()
	r := &rig{t: t, host: newMemHost()}
	cfg := Config{Host: r.host}
	for _, name := range profiles {
		p, err := adapter.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Profiles = append(cfg.Profiles, p)
	}
	k, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.k = k
	return r
}

func (r *rig) process() *Process {
	r.t.Helper()
	p, st := r.k.Attach(ProcessInfo{PID: 1, Name: "test"})
	if !st.OK() {
		r.t.Fatal(st)
	}
	return p
}

// do runs the operation nr with a record and arrays as the doors would hand it in.
func do[T any](p *Process, nr uint16, rec *T, files []int, arrays ...[]byte) (*abi.Request, abi.Status) {
	op := abi.OpByNr(nr)
	q := &abi.Request{Op: op, Record: unsafe.Slice((*byte)(unsafe.Pointer(rec)), unsafe.Sizeof(*rec)), Files: files}
	q.Arrays = make([][]byte, len(op.Arrays))
	copy(q.Arrays, arrays)
	return q, p.Do(q)
}

func handles(hs ...abi.Handle) []byte {
	var b []byte
	for _, h := range hs {
		b = binary.LittleEndian.AppendUint32(b, uint32(h))
	}
	return b
}

func values(vs ...uint64) []byte {
	var b []byte
	for _, v := range vs {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// device opens adapter i and makes a device on it.
func (r *rig) device(p *Process, i int) abi.Handle {
	r.t.Helper()
	a := abi.OpenAdapterFromLuid{AdapterLuid: r.k.adapters[i].LUID}
	if _, st := do(p, 0x01, &a, nil); !st.OK() {
		r.t.Fatal("OpenAdapterFromLuid:", st)
	}
	d := abi.CreateDevice{HAdapter: a.HAdapter}
	if _, st := do(p, 0x02, &d, nil); !st.OK() {
		r.t.Fatal("CreateDevice:", st)
	}
	return d.HDevice
}

const shareable = abi.SyncObjectShared | abi.SyncObjectNtSecuritySharing

func (r *rig) fence(p *Process, d abi.Handle, flags abi.SyncObjectFlags, initial uint64) abi.Handle {
	r.t.Helper()
	rec := abi.CreateSynchronizationObject2{HDevice: d}
	rec.Info.Type, rec.Info.Flags = abi.MonitoredFence, flags
	rec.Info.MonitoredFence().InitialFenceValue = initial
	if _, st := do(p, 0x10, &rec, nil); !st.OK() {
		r.t.Fatal("CreateSynchronizationObject2:", st)
	}
	return rec.HSyncObject
}

func (r *rig) share(p *Process, h abi.Handle, access object.Access) (int, abi.Status) {
	rec := abi.ShareObjects{ObjectCount: 1, DesiredAccess: uint32(access)}
	q, st := do(p, 0x3F, &rec, nil, handles(h), nil, make([]byte, 8))
	if !st.OK() {
		return -1, st
	}
	return q.Out[0].FD, st
}

func open(p *Process, d abi.Handle, fd int, flags abi.SyncObjectFlags) (abi.Handle, abi.Status) {
	rec := abi.OpenSyncObjectFromNtHandle2{HDevice: d, Flags: flags}
	_, st := do(p, 0x40, &rec, []int{fd})
	return rec.HSyncObject, st
}

func destroy(p *Process, h abi.Handle) abi.Status {
	_, st := do(p, 0x1D, &abi.DestroySynchronizationObject{HSyncObject: h}, nil)
	return st
}

func signal(p *Process, d abi.Handle, flags abi.SignalFlags, h []byte, v []byte) abi.Status {
	rec := abi.SignalSynchronizationObjectFromCpu{HDevice: d, ObjectCount: uint32(len(h) / 4), Flags: flags}
	_, st := do(p, 0x31, &rec, nil, h, v)
	return st
}

func waitEvent(p *Process, d abi.Handle, flags abi.WaitFromCpuFlags, fd int, h []byte, v []byte) abi.Status {
	rec := abi.WaitForSynchronizationObjectFromCpu{HDevice: d, ObjectCount: uint32(len(h) / 4), Flags: flags}
	_, st := do(p, 0x3A, &rec, []int{fd}, h, v)
	return st
}

func (r *rig) event() (int, *memEvent) {
	e := &memEvent{}
	return r.host.add(e), e
}

func (r *rig) value(p *Process, h abi.Handle) uint64 {
	r.t.Helper()
	v, ok := p.FenceView(h)
	if !ok {
		r.t.Fatalf("handle %#x is no fence", uint32(h))
	}
	return v.Cell.Value()
}

// pass moves the kernel's clock on, from one moment when something is due to the next.
func (r *rig) pass(clock *int64, d int64) {
	r.t.Helper()
	end := *clock + d
	for range 100_000 {
		at, _ := r.k.Next()
		if at > end {
			*clock = end
			return
		}
		*clock = max(*clock, at)
		r.k.Tick()
	}
	r.t.Fatal("something is due for ever")
}
