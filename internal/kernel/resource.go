package kernel

import (
	"bytes"
	"encoding/binary"
	"maps"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
)

// A resource is a group of allocations that is made, shared and destroyed as one.
// What it holds of memory is the description: sizes and private data.
type resource struct {
	kernel      *Kernel
	adapter     *Adapter
	serial      uint64
	flags       abi.CreateAllocationFlags
	runtime     []byte // private data of the runtime
	driver      []byte // private data of the driver, for the resource
	allocations []*allocation
	global      abi.Handle // 0: none
	refs        int
	uid         uint32 // whom its data counts for
	bytes       int    // of it
}

// An allocation is memory that the GPU can use.
type allocation struct {
	size   uint64 // bytes, 0: the driver's business
	system uint64 // address in the process that made it, 0: none
	driver []byte // private data of the driver

	owner *Process // that made it, for system
	heap  *heap

	pins  int  // by views that were destroyed while packets were queued
	ended bool // nobody has a view of it

	residents int    // times that it was made resident, by anybody
	counted   uint64 // bytes of it that count as resident
	there     bool   // resident, as far as operations were done
	priority  uint32
}

// bytes is how much the allocation is as far as is known; 0: not yet.
func (a *allocation) bytes() uint64 {
	a.heap.mu.Lock()
	defer a.heap.mu.Unlock()
	return a.heap.size
}

// end gives the memory back: nobody has a view of the allocation any more.
func (a *allocation) end(k *Kernel) {
	a.ended = true
	a.finish(k)
}

// finish does so as soon as no queued packet may use it either.
func (a *allocation) finish(k *Kernel) {
	if a.ended && a.pins == 0 {
		k.fx.heaps = append(k.fx.heaps, a.heap)
	}
}

// A resourceLocal is a device's own view of a resource.
type resourceLocal struct {
	resource    *resource
	device      *device
	handle      abi.Handle
	allocations map[*allocationLocal]struct{}
	created     bool
	since       int64
}

// An allocationLocal is a device's own view of an allocation.
type allocationLocal struct {
	allocation *allocation
	device     *device
	owner      *resourceLocal // nil: it belongs to no resource
	handle     abi.Handle
	uid        uint32
	bytes      int  // that count for uid: without an owner only
	locks      int  // by Lock2
	resident   int  // times that it was made resident here
	mapped     bool // perhaps, somewhere in the process's space
	gone       bool
}

func (r *resource) Ref() { r.refs++ }

func (r *resource) drop() {
	if r.refs--; r.refs > 0 {
		return
	}
	r.kernel.globals.Remove(r.global)
	r.kernel.giveData(r.uid, r.bytes)
	for _, a := range r.allocations {
		a.end(r.kernel)
	}
}

// dataSize is the size of the private data of all allocations.
func (r *resource) dataSize() (n int) {
	for _, a := range r.allocations {
		n += len(a.driver)
	}
	return n
}

func (r *resource) shared() bool { return r.flags&abi.AllocationCreateShared != 0 }

func (r *resource) ntShared() bool { return r.flags&abi.AllocationNtSecuritySharing != 0 }

// takeData counts n bytes of data that the kernel keeps for a user; false at the limit.
func (k *Kernel) takeData(uid uint32, n int) bool {
	if k.data[uid]+n > k.limits.Data {
		return false
	}
	if k.data[uid] += n; k.data[uid] == 0 {
		delete(k.data, uid)
	}
	return true
}

func (k *Kernel) giveData(uid uint32, n int) { k.takeData(uid, -n) }

func (l *resourceLocal) link(a *allocation) abi.Handle {
	al := l.device.linkAllocation(a)
	al.owner = l
	l.allocations[al] = struct{}{}
	return al.handle
}

func (d *device) linkAllocation(a *allocation) *allocationLocal {
	al := &allocationLocal{allocation: a, device: d}
	al.handle = d.process.add(al)
	d.allocations[al] = struct{}{}
	return al
}

// destroy drops the view with the views of its allocations.
func (l *resourceLocal) destroy(notInUse bool) {
	all := slices.Collect(maps.Keys(l.allocations))
	l.device.leaveMemory(slices.Clone(all), notInUse)
	for _, a := range all {
		a.destroy()
	}
	delete(l.device.resources, l)
	l.device.process.table.Remove(l.handle)
	l.resource.drop()
}

// destroy drops the view; leaveMemory comes first.
func (a *allocationLocal) destroy() {
	a.evict(a.resident)
	if a.owner != nil {
		delete(a.owner.allocations, a)
	}
	delete(a.device.allocations, a)
	p := a.device.process
	p.table.Remove(a.handle)
	p.k.giveData(a.uid, a.bytes)
	if a.owner == nil {
		a.allocation.end(p.k)
	}
}

// destroyAllocation2 destroys a resource with all its allocations, or a list of
// allocations. Their memory stays for what is queued, unless AssumeNotInUse promises that
// nothing uses it; it is reclaimed in no time, which SynchronousDestroy could wait for.
// Source: calls.md §7; OQ-62; page of D3DDDICB_DESTROYALLOCATION2FLAGS.
func (p *Process) destroyAllocation2(r *abi.Request) abi.Status {
	rec := abi.View[abi.DestroyAllocation2](r.Record)
	list := r.Arrays[0]
	if (rec.HResource == 0) == (rec.AllocationCount == 0) || rec.AllocationCount != 0 && list == nil {
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	defer p.k.unlock()
	d, ok := object.Get[*device](&p.table, rec.HDevice)
	if !ok {
		return abi.StatusInvalidParameter
	}
	notInUse := rec.Flags&abi.DestroyAllocationAssumeNotInUse != 0
	if rec.HResource != 0 {
		l, ok := object.Get[*resourceLocal](&p.table, rec.HResource)
		if !ok || l.device != d {
			return abi.StatusInvalidParameter
		}
		l.destroy(notInUse)
		return abi.StatusSuccess
	}
	all := map[*allocationLocal]bool{}
	for i := range int(rec.AllocationCount) {
		a, ok := object.Get[*allocationLocal](&p.table, abi.Handle(binary.LittleEndian.Uint32(list[4*i:])))
		if !ok || a.device != d || all[a] {
			return abi.StatusInvalidParameter
		}
		all[a] = true
	}
	d.leaveMemory(slices.Collect(maps.Keys(all)), notInUse)
	for a := range all {
		a.destroy()
	}
	forget(all)
	return abi.StatusSuccess
}

// forget takes destroyed allocations out of their resources, where nobody else can have
// seen those.
func forget(destroyed map[*allocationLocal]bool) {
	gone, from := map[*allocation]bool{}, map[*resource]bool{}
	for l := range destroyed {
		if l.owner != nil && !l.owner.resource.shared() {
			gone[l.allocation], from[l.owner.resource] = true, true
		}
	}
	for r := range from {
		before := bytesOf(r.allocations)
		r.allocations = slices.DeleteFunc(r.allocations, func(a *allocation) bool {
			if gone[a] {
				a.end(r.kernel)
			}
			return gone[a]
		})
		n := before - bytesOf(r.allocations)
		r.bytes -= n
		r.kernel.giveData(r.uid, n)
	}
}

// queryResourceInfo tells what a shared resource has, by its global handle. The
// runtime's data is not copied, only its size told.
func (p *Process) queryResourceInfo(r *abi.Request) abi.Status {
	rec := abi.View[abi.QueryResourceInfo](r.Record)
	p.k.lock()
	defer p.k.unlock()
	d, ok := object.Get[*device](&p.table, rec.HDevice)
	if !ok {
		return abi.StatusInvalidParameter
	}
	res, ok := p.k.globals.Get(rec.HGlobalShare).(*resource)
	if !ok || !res.opensOn(d) {
		return abi.StatusInvalidParameter
	}
	rec.PrivateRuntimeDataSize, rec.TotalPrivateDriverDataSize = uint32(len(res.runtime)), uint32(res.dataSize())
	rec.ResourcePrivateDriverDataSize, rec.NumAllocations = uint32(len(res.driver)), uint32(len(res.allocations))
	return abi.StatusSuccess
}

// queryResourceInfoFromNtHandle is the same for an NT handle on a resource or bundle.
func (p *Process) queryResourceInfoFromNtHandle(r *abi.Request) abi.Status {
	rec := abi.View[abi.QueryResourceInfoFromNtHandle](r.Record)
	key, keyStatus := p.identify(r)
	p.k.lock()
	defer p.k.unlock()
	d, ok := object.Get[*device](&p.table, rec.HDevice)
	if !ok {
		return abi.StatusInvalidParameter
	}
	b, _, st := p.k.bundleOf(key, keyStatus)
	if !st.OK() {
		return st
	}
	res := b.resource
	if !res.opensOn(d) {
		return abi.StatusInvalidParameter
	}
	rec.PrivateRuntimeDataSize, rec.TotalPrivateDriverDataSize = uint32(len(res.runtime)), uint32(res.dataSize())
	rec.ResourcePrivateDriverDataSize, rec.NumAllocations = uint32(len(res.driver)), uint32(len(res.allocations))
	return abi.StatusSuccess
}

// opensOn reports whether a device may open the resource.
func (r *resource) opensOn(d *device) bool {
	return r.adapter == d.adapter || r.flags&abi.AllocationCrossAdapter != 0
}

// A resourceOpening is the part that the two openers of resources have in common:
// the caller's buffers, in the order of both operations' arrays.
type resourceOpening struct {
	infos, runtime, driver, total     []byte
	runtimeSize, driverSize, totalMax uint32
}

// refuseArguments finds what is wrong with the arguments alone.
func (o *resourceOpening) refuseArguments(allocations uint32) bool {
	return allocations == 0 || o.infos == nil || o.runtime == nil && o.runtimeSize != 0 ||
		o.driver == nil && o.driverSize != 0 || o.total == nil && o.totalMax != 0
}

// check compares the buffers with a resource: the runtime's must have exactly its
// size; too small a one for the driver's data of all allocations is NO_MEMORY, none at
// all INVALID_PARAMETER (measured).
func (o *resourceOpening) check(r *resource, allocations uint32) abi.Status {
	total := r.dataSize()
	switch {
	case int(allocations) != len(r.allocations), int(o.runtimeSize) != len(r.runtime), int(o.driverSize) < len(r.driver), o.total == nil && total > 0:
		return abi.StatusInvalidParameter
	case int(o.totalMax) < total:
		return abi.StatusNoMemory
	}
	return abi.StatusSuccess
}

// fill answers a view of the resource in the buffers: each allocation's handle, the
// size of its private data and where that is in the buffer for all.
func (o *resourceOpening) fill(l *resourceLocal, handles []abi.Handle) {
	r := l.resource
	copy(o.runtime, r.runtime)
	copy(o.driver, r.driver)
	at := 0
	for i, a := range r.allocations {
		info := o.infos[i*abi.SizeofOpenAllocationInfo2:][:abi.SizeofOpenAllocationInfo2]
		binary.LittleEndian.PutUint32(info, uint32(handles[i]))
		binary.LittleEndian.PutUint64(info[8:], uint64(at))
		binary.LittleEndian.PutUint32(info[16:], uint32(len(a.driver)))
		at += copy(o.total[min(at, len(o.total)):], a.driver)
	}
}

// openResource makes a view with its handles. The caller has found room for them.
func (d *device) openResource(r *resource) (*resourceLocal, []abi.Handle) {
	l := &resourceLocal{resource: r, device: d, allocations: map[*allocationLocal]struct{}{}, since: d.process.k.now()}
	l.handle = d.process.add(l)
	d.resources[l] = struct{}{}
	handles := make([]abi.Handle, len(r.allocations))
	for i, a := range r.allocations {
		handles[i] = l.link(a)
	}
	r.Ref()
	return l, handles
}

// openResource opens a resource by its global handle.
func (p *Process) openResource(r *abi.Request) abi.Status {
	rec := abi.View[abi.OpenResource](r.Record)
	o := resourceOpening{r.Arrays[0], r.Arrays[1], r.Arrays[2], r.Arrays[3], rec.PrivateRuntimeDataSize, rec.ResourcePrivateDriverDataSize, rec.TotalPrivateDriverDataBufferSize}
	if o.refuseArguments(rec.NumAllocations) {
		return abi.StatusInvalidParameter
	}
	p.k.lock()
	defer p.k.unlock()
	d, ok := object.Get[*device](&p.table, rec.HDevice)
	if !ok {
		return abi.StatusInvalidParameter
	}
	res, ok := p.k.globals.Get(rec.HGlobalShare).(*resource)
	if !ok || !res.opensOn(d) {
		return abi.StatusInvalidParameter
	}
	if st := o.check(res, rec.NumAllocations); !st.OK() {
		return st
	}
	if !p.room(1 + len(res.allocations)) {
		return abi.StatusNoMemory
	}
	l, handles := d.openResource(res)
	o.fill(l, handles)
	rec.TotalPrivateDriverDataBufferSize, rec.HResource = uint32(res.dataSize()), l.handle
	return abi.StatusSuccess
}

// openResourceFromNtHandle opens a resource, or a bundle of a resource, a keyed mutex
// and a synchronization object, behind an NT handle.
func (p *Process) openResourceFromNtHandle(r *abi.Request) abi.Status {
	rec := abi.View[abi.OpenResourceFromNtHandle](r.Record)
	o := resourceOpening{r.Arrays[0], r.Arrays[1], r.Arrays[2], r.Arrays[3], rec.PrivateRuntimeDataSize, rec.ResourcePrivateDriverDataSize, rec.TotalPrivateDriverDataBufferSize}
	data := r.Arrays[4]
	if o.refuseArguments(rec.NumAllocations) || data == nil && rec.KeyedMutexPrivateRuntimeDataSize != 0 {
		return abi.StatusInvalidParameter
	}
	key, keyStatus := p.identify(r)
	k := p.k
	k.lock()
	defer k.unlock()
	d, ok := object.Get[*device](&p.table, rec.HDevice)
	if !ok {
		return abi.StatusInvalidParameter
	}
	b, access, st := k.bundleOf(key, keyStatus)
	if !st.OK() {
		return st
	}
	res := b.resource
	if !res.opensOn(d) || b.sync != nil && !b.sync.opensOn(d) {
		return abi.StatusInvalidParameter
	}
	if !access.Opens() {
		return abi.StatusAccessDenied
	}
	if st := o.check(res, rec.NumAllocations); !st.OK() {
		return st
	}
	var stored []byte
	if b.mutex != nil {
		stored = b.mutex.Data()
	}
	if len(data) != 0 && len(data) != len(stored) {
		return abi.StatusInvalidParameter
	}
	if !p.room(3 + len(res.allocations)) {
		return abi.StatusNoMemory
	}
	l, handles := d.openResource(res)
	var mutex, sync abi.Handle
	if b.mutex != nil {
		mutex = p.linkMutex(b.mutex).handle
		b.mutex.Ref()
		if sync, st = p.openBundled(r, d, b.sync); !st.OK() {
			l.destroy(true)
			p.table.Get(mutex).(*keyedLocal).destroy()
			return st
		}
	}
	o.fill(l, handles)
	copy(data, stored)
	rec.TotalPrivateDriverDataBufferSize, rec.HResource = uint32(res.dataSize()), l.handle
	rec.HKeyedMutex, rec.HSyncObject = mutex, sync
	return abi.StatusSuccess
}

// clone copies private data that the kernel keeps; nil for none.
func clone(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return bytes.Clone(b)
}
