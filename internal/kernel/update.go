package kernel

import (
	"encoding/binary"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/syncobj"
	"github.com/dxgsync/dxgsync/internal/vidmm"
)

// An update is a batch of changes of page tables that waits for a fence, and signals it
// one higher when it is done. A hidden companion of a context does that, so that the
// context's own work is not held up. Source: gpu.md §5.
type update struct {
	packet syncobj.Packet
	device *device
	fence  *local
	value  uint64
	ops    []*change
}

// A change is one operation of an update.
type change struct {
	pagingOp
	kind    abi.UpdateGpuVirtualAddressOperationType
	engines uint32
	mapping vidmm.Mapping
	from    uint64 // of a copy
	zeros   bool
}

// updateGpuVirtualAddress queues changes of page tables. INVALID_PARAMETER: counts,
// flags, kinds, handles, a fence that is not the device's or has no memory, ranges that
// were never reserved or mapped, parts of allocations that there are not. ACCESS_DENIED:
// the fence may not be waited for, or not be signalled. NO_MEMORY.
func (p *Process) updateGpuVirtualAddress(r *abi.Request) abi.Status {
	rec := abi.View[abi.UpdateGpuVirtualAddress](r.Record)
	list := r.Arrays[0]
	if rec.Flags[0]&^abi.UpdateGpuVirtualAddressDoNotWait != 0 || rec.NumOperations == 0 || list == nil {
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	defer p.k.unlock()
	d, ok := object.Get[*device](&p.table, rec.HDevice)
	c, known := object.Get[*context](&p.table, rec.HContext)
	f, isFence := object.Get[*local](&p.table, rec.HFenceObject)
	if !ok || !known || !isFence || c.device != d || f.device != d || f.fence.intra() {
		return abi.StatusInvalidParameter
	}
	s := p.space(d.adapter)
	u := &update{device: d, fence: f, value: rec.FenceValue}
	for i := range int(rec.NumOperations) {
		op, st := p.change(d, s, 1<<c.engine.EngineOrdinal, list[64*i:64*(i+1)])
		if !st.OK() {
			return st
		}
		u.ops = append(u.ops, op)
	}
	if st := d.usable(); !st.OK() {
		return st
	}
	wait := rec.Flags[0]&abi.UpdateGpuVirtualAddressDoNotWait == 0
	if !f.maySignal() || wait && !f.mayWait() {
		return abi.StatusAccessDenied
	}
	if p.paging+len(u.ops) > maxPaging || !s.Expect(len(u.ops)).OK() {
		return abi.StatusNoMemory
	}
	p.paging += len(u.ops)
	f.fence.Ref() // a queued signal keeps it
	if d.updates == nil {
		d.updates = map[*update]struct{}{}
	}
	d.updates[u] = struct{}{}
	if !wait {
		u.Ready(nil)
		return abi.StatusSuccess
	}
	u.packet.Init(u, u, []syncobj.Point{{Object: &f.fence.MonitoredFence, Value: rec.FenceValue}})
	u.packet.Start()
	return abi.StatusSuccess
}

// change reads one operation of 64 bytes.
func (p *Process) change(d *device, s *vidmm.Space, engines uint32, b []byte) (*change, abi.Status) {
	field := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8+8*i:]) }
	c := &change{kind: abi.UpdateGpuVirtualAddressOperationType(binary.LittleEndian.Uint32(b)), engines: engines}
	c.process, c.space, c.va, c.size = p, s, field(0), field(1)
	st := abi.StatusSuccess
	switch c.kind {
	case abi.UpdateGpuVirtualAddressMap, abi.UpdateGpuVirtualAddressMapProtect:
		if field(3)%vidmm.PageSize != 0 || field(4) != 0 && field(4) != c.size {
			return nil, abi.StatusInvalidParameter
		}
		if c.mapping, st = p.mapping(d, abi.Handle(field(2)), field(3), c.size); !st.OK() {
			return nil, st
		}
		if c.kind == abi.UpdateGpuVirtualAddressMapProtect {
			c.mapping.Writable = abi.GpuVirtualAddressProtectionType(field(5))&abi.GpuProtectionWrite != 0
		}
	case abi.UpdateGpuVirtualAddressUnmap:
		c.zeros = abi.GpuVirtualAddressProtectionType(field(2))&abi.GpuProtectionZero != 0
	case abi.UpdateGpuVirtualAddressCopy:
		c.from, c.va = field(0), field(2)
		if c.from%vidmm.PageSize != 0 || !s.Has(c.from, c.size) {
			return nil, abi.StatusInvalidParameter
		}
	default:
		return nil, abi.StatusInvalidParameter
	}
	if c.va%vidmm.PageSize != 0 || c.size%vidmm.PageSize != 0 || !s.Has(c.va, c.size) {
		return nil, abi.StatusInvalidParameter
	}
	return c, abi.StatusSuccess
}

// Ready implements syncobj.PacketSink: the changes come when the kernel is next driven.
func (u *update) Ready(*syncobj.Packet) {
	a := u.device.adapter
	op := &pagingOp{process: u.device.process}
	op.do = u.do
	op.update = u
	a.enqueue(op)
}

func (u *update) do() {
	for _, c := range u.ops {
		switch {
		case c.void || !c.space.Has(c.va, c.size): // freed meanwhile
		case c.kind == abi.UpdateGpuVirtualAddressCopy:
			if c.space.Has(c.from, c.size) {
				c.space.Copy(c.engines, c.from, c.va, c.size)
			}
		default:
			c.put(c.engines, c.mapping, c.zeros)
		}
	}
	u.fence.fence.Signal(u.value+1, false, &u.device.process.k.fx.wakes)
	u.end()
}

// drop takes the update back: its device is gone.
func (u *update) drop() {
	u.packet.Withdraw()
	u.device.adapter.forgetPaging(func(op *pagingOp) bool { return op.update == u })
	u.end()
}

func (u *update) end() {
	p := u.device.process
	delete(u.device.updates, u)
	p.paging -= len(u.ops)
	if len(u.ops) > 0 {
		u.ops[0].space.Expected(len(u.ops))
	}
	u.fence.fence.drop()
}
