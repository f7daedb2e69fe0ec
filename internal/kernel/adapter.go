package kernel

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/syncobj"
	"github.com/dxgsync/dxgsync/internal/vidmm"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// An Adapter is one logical adapter with its driver, for as long as the kernel lives.
type Adapter struct {
	LUID    abi.LUID
	Profile *adapter.Profile
	kernel  *Kernel
	driver  ddi.Driver

	// Guarded by Kernel.mu:
	events  map[ddi.DxgCpuEvent]*syncobj.CPUNotification
	notices map[uint32]*notice
	byFence map[*fence]*notice
	// Addresses that packets may use yet of fences that have no local object there.
	remnants map[*fence]map[*fenceRemnant]struct{}
	noticed  map[uint32]int // notifications of each user

	bells map[ddi.KmdHwQueue]*doorbell

	paging      []*pagingOp // in the order in which they came
	pager       timer       // when they are done
	resident    uint64      // bytes
	nativeVideo uint64      // bytes of video memory that values of native fences have

	devicesMade, contextsMade, queuesMade quota

	sched     *vidsch.Scheduler
	stopped   bool // removed: nothing can be made on it any more
	incidents []incident

	recoveries uint32 // so far

	asking sync.Locker // calls of the driver that sched decided on are being made

	written written

	natives     map[ddi.DxgNativeFence]*nativeOn
	nativesMade quota
	tell        tell // what of native fences the driver is to be told

	logs       map[ddi.KmdHwQueue]*fenceLogs
	logsAsked  []*fenceLogs // to be read
	logNews    logNews
	eventsKept quota // of what was read in them

	system *vidmm.Space // what the GPU's own process sees: native fences, and logs
}

// luidBase keeps adapter LUIDs away from zero, which means "none" to clients.
const luidBase = 0x10000

func newAdapter(k *Kernel, i int, p *adapter.Profile, d ddi.Driver) *Adapter {
	return &Adapter{
		asking:  new(sync.Mutex),
		natives: map[ddi.DxgNativeFence]*nativeOn{}, logs: map[ddi.KmdHwQueue]*fenceLogs{},
		system: vidmm.NewSpace((*spaceLock)(k), p.Engines(), 63, false),
		LUID:   abi.LUID{LowPart: luidBase + uint32(i)}, Profile: p, kernel: k, driver: d,
		events: map[ddi.DxgCpuEvent]*syncobj.CPUNotification{}, notices: map[uint32]*notice{}, byFence: map[*fence]*notice{}, bells: map[ddi.KmdHwQueue]*doorbell{}, remnants: map[*fence]map[*fenceRemnant]struct{}{}, noticed: map[uint32]int{},
	}
}

// An adapterHandle is one opening of an adapter. Each must be closed on its own;
// devices made through it do not depend on it (calls.md §2 CloseAdapter).
type adapterHandle struct{ adapter *Adapter }

func (p *Process) openAdapterFromLUID(r *abi.Request) abi.Status {
	rec := abi.View[abi.OpenAdapterFromLuid](r.Record)
	p.k.lock()
	defer p.k.unlock()
	for _, a := range p.k.adapters {
		if a.LUID == rec.AdapterLuid && !a.stopped {
			h := p.add(&adapterHandle{a})
			if h == 0 {
				return abi.StatusNoMemory
			}
			p.uses[a]++
			rec.HAdapter = h
			return abi.StatusSuccess
		}
	}
	return abi.StatusInvalidParameter
}

// Filter bits of EnumAdapters3. Source: calls.md §2.
const (
	includeComputeOnly = 1 << 0
	includeDisplayOnly = 1 << 1
	filterKnown        = includeComputeOnly | includeDisplayOnly
)

func (p *Process) enumAdapters2(r *abi.Request) abi.Status {
	rec := abi.View[abi.EnumAdapters2](r.Record)
	return p.enumAdapters(&rec.NumAdapters, r.Arrays[0], p.k.adapters)
}

func (p *Process) enumAdapters3(r *abi.Request) abi.Status {
	rec := abi.View[abi.EnumAdapters3](r.Record)
	if rec.Filter&^filterKnown != 0 {
		return abi.StatusInvalidParameter
	}
	var some []*Adapter
	for _, a := range p.k.adapters {
		computeOnly, displayOnly := a.Profile.ComputeOnly(), a.Profile.DisplayOnly()
		if computeOnly && rec.Filter&includeComputeOnly == 0 || displayOnly && rec.Filter&includeDisplayOnly == 0 {
			continue
		}
		some = append(some, a)
	}
	return p.enumAdapters(&rec.NumAdapters, r.Arrays[0], some)
}

// enumAdapters opens every adapter of the list into the caller's array, or with a
// NULL array reports how many there could ever be.
func (p *Process) enumAdapters(num *uint32, out []byte, list []*Adapter) abi.Status {
	if out == nil {
		*num = uint32(p.k.limits.MaxAdapters)
		return abi.StatusSuccess
	}
	const size = abi.SizeofAdapterInfo
	if len(out)/size < len(list) {
		return abi.StatusBufferTooSmall
	}
	p.k.lock()
	defer p.k.unlock()
	list = slices.DeleteFunc(slices.Clone(list), func(a *Adapter) bool { return a.stopped })
	if !p.room(len(list)) {
		return abi.StatusNoMemory
	}
	for i, a := range list {
		info := out[i*size : (i+1)*size]
		clear(info)
		binary.LittleEndian.PutUint32(info[0:], uint32(p.add(&adapterHandle{a})))
		p.uses[a]++
		binary.LittleEndian.PutUint32(info[4:], a.LUID.LowPart)
		binary.LittleEndian.PutUint32(info[8:], uint32(a.LUID.HighPart))
		binary.LittleEndian.PutUint32(info[12:], uint32(a.Profile.Sources()))
	}
	*num = uint32(len(list))
	return abi.StatusSuccess
}

func (p *Process) closeAdapter(r *abi.Request) abi.Status {
	rec := abi.View[abi.CloseAdapter](r.Record)
	p.k.lock()
	defer p.k.unlock()
	h, ok := object.Get[*adapterHandle](&p.table, rec.HAdapter)
	if !ok {
		return abi.StatusInvalidParameter
	}
	p.table.Remove(rec.HAdapter)
	p.leaveAdapter(h.adapter)
	return abi.StatusSuccess
}

func (p *Process) queryAdapterInfo(r *abi.Request) abi.Status {
	rec := abi.View[abi.QueryAdapterInfo](r.Record)
	if r.Arrays[0] == nil {
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	h, ok := object.Get[*adapterHandle](&p.table, rec.HAdapter)
	stopped := ok && h.adapter.stopped
	p.k.unlock()
	switch {
	case !ok:
		return abi.StatusInvalidParameter
	case stopped:
		return abi.StatusDeviceRemoved
	}
	return h.adapter.Profile.Query(uint32(rec.Type), r.Arrays[0])
}

// add puts obj into the handle table of a process that still exists.
func (p *Process) add(obj any) abi.Handle {
	if !p.room(1) {
		return 0
	}
	return p.table.Add(obj)
}

// room reports whether the process may have n more handles. What its packets may still
// use counts as if it had its handle yet: else there were no end to it.
func (p *Process) room(n int) bool { return !p.gone && p.table.Room(n+p.remnants) }
