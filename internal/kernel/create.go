package kernel

import (
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/syncobj"
)

func (p *Process) createSynchronizationObject2(r *abi.Request) abi.Status {
	rec := abi.View[abi.CreateSynchronizationObject2](r.Record)
	kind, flags := rec.Info.Type, rec.Info.Flags
	d, st := p.checkCreate(rec.HDevice, kind, flags)
	if !st.OK() {
		return st
	}
	switch kind {
	case abi.MonitoredFence:
	case abi.PeriodicMonitoredFence:
		return p.createPeriodic(r, rec)
	default:
		return p.createPlain(r, rec)
	}
	info := rec.Info.MonitoredFence()
	// The memory is made before the lock is taken: it takes microseconds.
	var m Memory
	if flags&abi.SyncObjectShared != 0 {
		m, st = p.k.host.SharedMemory(p, info.InitialFenceValue)
	} else {
		m, st = p.k.host.PrivateMemory(p, info.InitialFenceValue)
	}
	if !st.OK() {
		return st
	}
	room := new(FenceRoom)
	p.k.lock()
	defer p.k.unlock()
	if st := d.usable(); !st.OK() { // destroyed or lost since it was looked up
		p.k.fx.wakes.Free(m)
		return st
	}
	l, st := p.place(room, d, flags, m)
	if !st.OK() {
		p.k.fx.wakes.Free(m)
		return st
	}
	l.mapFence(info.EngineAffinity)
	if st := l.grant(r, m); !st.OK() {
		return st
	}
	rec.HSyncObject = l.handle
	info.FenceValueCPUVirtualAddress = 0 // the client's library knows it
	info.FenceValueGPUVirtualAddress = l.gpu
	return abi.StatusSuccess
}

// checkCreate checks what can be refused before any memory is made.
func (p *Process) checkCreate(h abi.Handle, kind abi.SyncObjectType, flags abi.SyncObjectFlags) (*device, abi.Status) {
	p.k.lock()
	defer p.k.unlock()
	d, ok := object.Get[*device](&p.table, h)
	if !ok {
		return nil, abi.StatusInvalidParameter
	}
	if st := abi.CheckCreateFlags(kind, flags, d.adapter.Profile.WDDM); !st.OK() {
		return nil, st
	}
	if kind == abi.CPUNotification {
		return d, abi.StatusSuccess // its event is judged before the device's loss
	}
	return d, d.usable()
}

// A FenceRoom is the kernel's part of a fence and of its first local object, in
// one piece so that a Go program's fence can hold it and cost one allocation.
type FenceRoom struct {
	fence fence
	local local
}

// GPUAddress is where GPUs see the fence in room, which was just made; 0: nowhere.
func (r *FenceRoom) GPUAddress() uint64 { return r.local.gpu }

// place makes a fence, with 32-bit storage where it must have that, and its first local
// object in room. The lock is held.
func (p *Process) place(room *FenceRoom, d *device, flags abi.SyncObjectFlags, back syncobj.Backing) (*local, abi.Status) {
	l, st := p.placeWide(room, d, flags, back)
	if st.OK() && p.k.narrow(d.adapter, flags) {
		room.fence.Narrow()
	}
	return l, st
}

// placeWide is place for storage of 64 bits.
func (p *Process) placeWide(room *FenceRoom, d *device, flags abi.SyncObjectFlags, back syncobj.Backing) (*local, abi.Status) {
	l := &room.local
	*l = local{fence: &room.fence, device: d, flags: flags, rights: rights(flags, true, true), created: true}
	if !p.Info.InProcess { // whose listings nobody sees; the clock is a tenth of a creation
		l.since = p.k.now()
	}
	if !l.link() {
		return nil, abi.StatusNoMemory
	}
	room.fence.adapter = d.adapter
	p.k.objects++
	room.fence.serial = p.k.objects
	room.fence.Init(flags, back)
	return l, abi.StatusSuccess
}

// narrow says whether a fence gets 32-bit storage: when a GPU that may write it has no
// 64-bit atomics, which for one that crosses adapters is any (objects.md §4.3; OQ-13).
func (k *Kernel) narrow(a *Adapter, flags abi.SyncObjectFlags) bool {
	if flags&abi.SyncObjectNoGPUAccess != 0 {
		return false
	}
	return a.narrow() || flags&abi.SyncObjectCrossAdapter != 0 && slices.ContainsFunc(k.adapters, (*Adapter).narrow)
}

// narrow says whether the adapter has fences in memory, and no 64-bit atomics.
func (a *Adapter) narrow() bool {
	return a.Profile.WDDM >= 2000 && a.Profile.Caps&adapter.Support64BitAtomics == 0
}

// CreateFence makes an unshared monitored fence in a process of the kernel's own
// address space: the door brings the room and the memory, whose value must
// already be initial. Statuses are those of CreateSynchronizationObject2 for a
// monitored fence: INVALID_PARAMETER (device, flags), NO_MEMORY.
func (p *Process) CreateFence(room *FenceRoom, hDevice abi.Handle, flags abi.SyncObjectFlags, back syncobj.Backing) (abi.Handle, abi.Status) {
	k := p.k
	k.lock()
	d, ok := object.Get[*device](&p.table, hDevice)
	if !ok || flags&abi.SyncObjectShared != 0 {
		k.unlock()
		return 0, abi.StatusInvalidParameter
	}
	if flags != 0 {
		if st := abi.CheckCreateFlags(abi.MonitoredFence, flags, d.adapter.Profile.WDDM); !st.OK() {
			k.unlock()
			return 0, st
		}
	}
	if st := d.usable(); !st.OK() {
		k.unlock()
		return 0, st
	}
	l, st := p.place(room, d, flags, back)
	if st.OK() {
		l.mapFence(0)
	}
	k.unlock()
	if !st.OK() {
		return 0, st
	}
	return l.handle, st
}

func (p *Process) destroySynchronizationObject(r *abi.Request) abi.Status {
	return p.DestroyFence(abi.View[abi.DestroySynchronizationObject](r.Record).HSyncObject)
}

// DestroyFence is DestroySynchronizationObject, for objects of every kind: SUCCESS, or
// INVALID_PARAMETER for a handle that is no live local synchronization object.
func (p *Process) DestroyFence(h abi.Handle) abi.Status {
	p.k.lock()
	defer p.k.unlock()
	switch l := p.table.Get(h).(type) {
	case *local:
		if l.owned || l.making {
			return abi.StatusInvalidParameter // it goes with its queue (OQ-16), or nobody was told of it
		}
		l.destroy()
	case *plainLocal:
		l.destroy()
	default:
		return abi.StatusInvalidParameter
	}
	return abi.StatusSuccess
}
