package kernel

import (
	"encoding/binary"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/page"
	"github.com/dxgsync/dxgsync/internal/syncobj"
	"github.com/dxgsync/dxgsync/internal/wait"
)

// A keyedMutex is a keyed mutex with what the kernel needs beside it. It belongs to
// no adapter and no device.
type keyedMutex struct {
	syncobj.KeyedMutex
	kernel *Kernel
	serial uint64
	global abi.Handle // 0: made with NtSecuritySharing
	nt     bool       // NtSecuritySharing: it may go into a bundle
	uid    uint32     // whom its data counts for
	bytes  int        // of it
}

// A keyedLocal is a process's own view of a keyed mutex.
type keyedLocal struct {
	mutex   *keyedMutex
	process *Process
	handle  abi.Handle
	created bool
	since   int64
}

// A keyedWait is a thread that waits for a keyed mutex on a line of the bell table.
type keyedWait struct {
	wait.Wait
	turn    syncobj.Turn
	local   *keyedLocal
	bells   *page.Bells
	ticket  uint32
	bell    uint32
	timeout timer
	since   int64
}

// drop ends a reference. With the last one nobody can come back to what the owner has.
func (m *keyedMutex) drop() {
	owner, owned := m.Owner()
	m.Unref(&m.kernel.fx.wakes)
	if m.State() != syncobj.Gone {
		return
	}
	m.kernel.removeGlobal(m.global)
	m.kernel.giveData(m.uid, m.bytes)
	if !owned {
		return
	}
	p := owner.Process.(*Process)
	delete(p.owned, m)
	if ticket := uint32(owner.ID); p.granted[ticket] == m {
		delete(p.granted, ticket)
	}
}

func (p *Process) linkMutex(m *keyedMutex) *keyedLocal {
	l := &keyedLocal{mutex: m, process: p, since: p.k.now()}
	if l.handle = p.add(l); l.handle == 0 {
		return nil
	}
	p.mutexes[l] = struct{}{}
	return l
}

// destroy drops the view. Who waits through it is told that it is no handle any more;
// a thread that owns the mutex goes on owning it.
func (l *keyedLocal) destroy() {
	p := l.process
	for w := range p.turns {
		if w.local == l {
			w.End(abi.StatusInvalidParameter)
		}
	}
	delete(p.mutexes, l)
	p.table.Remove(l.handle)
	l.mutex.drop()
}

func (p *Process) createKeyedMutex(r *abi.Request) abi.Status {
	rec := abi.View[abi.CreateKeyedMutex](r.Record)
	return p.newKeyedMutex(rec.InitialValue, nil, false, &rec.HSharedHandle, &rec.HKeyedMutex)
}

func (p *Process) createKeyedMutex2(r *abi.Request) abi.Status {
	rec := abi.View[abi.CreateKeyedMutex2](r.Record)
	if rec.Flags&^abi.KeyedMutexNtSecuritySharing != 0 || r.Arrays[0] == nil && rec.PrivateRuntimeDataSize != 0 {
		return abi.StatusInvalidParameter
	}
	return p.newKeyedMutex(rec.InitialValue, r.Arrays[0], rec.Flags&abi.KeyedMutexNtSecuritySharing != 0, &rec.HSharedHandle, &rec.HKeyedMutex)
}

// newKeyedMutex makes a mutex with a global handle, or without one but fit for a bundle.
// Source: calls.md §7.
func (p *Process) newKeyedMutex(key uint64, data []byte, nt bool, shared, handle *abi.Handle) abi.Status {
	k := p.k
	k.lock()
	defer k.unlock()
	if !nt && k.noGlobals {
		return abi.StatusNotSupported
	}
	m := &keyedMutex{kernel: k, nt: nt, uid: p.Info.UID, bytes: len(data)}
	if !k.takeData(m.uid, m.bytes) {
		return abi.StatusNoMemory
	}
	l := p.linkMutex(m)
	if l == nil {
		k.giveData(m.uid, m.bytes)
		return abi.StatusNoMemory
	}
	if !nt {
		if m.global = k.addGlobal(m, p.Info.UID); m.global == 0 {
			delete(p.mutexes, l)
			p.table.Remove(l.handle)
			k.giveData(m.uid, m.bytes)
			return abi.StatusNoMemory
		}
	}
	m.Init(key, data)
	l.created = true
	k.objects++
	m.serial = k.objects
	*shared, *handle = m.global, l.handle
	return abi.StatusSuccess
}

func (p *Process) openKeyedMutex(r *abi.Request) abi.Status {
	rec := abi.View[abi.OpenKeyedMutex](r.Record)
	return p.openMutex(rec.HSharedHandle, nil, &rec.HKeyedMutex)
}

func (p *Process) openKeyedMutex2(r *abi.Request) abi.Status {
	rec := abi.View[abi.OpenKeyedMutex2](r.Record)
	if r.Arrays[0] == nil && rec.PrivateRuntimeDataSize != 0 {
		return abi.StatusInvalidParameter
	}
	return p.openMutex(rec.HSharedHandle, r.Arrays[0], &rec.HKeyedMutex)
}

func (p *Process) openMutex(global abi.Handle, data []byte, handle *abi.Handle) abi.Status {
	k := p.k
	k.lock()
	defer k.unlock()
	m, ok := k.globals.Get(global).(*keyedMutex)
	if !ok || !m.CheckOpen(len(data)).OK() {
		return abi.StatusInvalidParameter
	}
	adopted := 0
	if len(m.Data()) == 0 {
		adopted = len(data)
	}
	if !k.takeData(m.uid, adopted) {
		return abi.StatusNoMemory
	}
	l := p.linkMutex(m)
	if l == nil {
		k.giveData(m.uid, adopted)
		return abi.StatusNoMemory
	}
	m.bytes += adopted
	m.Open(data)
	*handle = l.handle
	return abi.StatusSuccess
}

// openKeyedMutexFromNtHandle can find nothing: a keyed mutex is shared in a bundle
// only, and a bundle is no keyed mutex (OQ-28).
func (p *Process) openKeyedMutexFromNtHandle(r *abi.Request) abi.Status {
	if _, st := p.identify(r); !st.OK() {
		return st
	}
	return abi.StatusObjectTypeMismatch
}

func (p *Process) destroyKeyedMutex(r *abi.Request) abi.Status {
	rec := abi.View[abi.DestroyKeyedMutex](r.Record)
	p.k.lock()
	defer p.k.unlock()
	l, ok := object.Get[*keyedLocal](&p.table, rec.HKeyedMutex)
	if !ok {
		return abi.StatusInvalidParameter
	}
	l.destroy()
	return abi.StatusSuccess
}

func (p *Process) acquireKeyedMutex(r *abi.Request) abi.Status {
	rec := abi.View[abi.AcquireKeyedMutex](r.Record)
	return p.acquire(r, rec.HKeyedMutex, rec.Key, &rec.FenceValue, nil)
}

func (p *Process) acquireKeyedMutex2(r *abi.Request) abi.Status {
	rec := abi.View[abi.AcquireKeyedMutex2](r.Record)
	data := r.Arrays[1]
	if data == nil && rec.PrivateRuntimeDataSize != 0 {
		return abi.StatusInvalidParameter
	}
	return p.acquire(r, rec.HKeyedMutex, rec.Key, &rec.FenceValue, data)
}

// thread is who makes a request: the line of the bell table that its thread has, or
// for a process that has none yet the process as such.
func (p *Process) thread(r *abi.Request) (syncobj.Thread, bool) {
	return syncobj.Thread{Process: p, ID: uint64(r.Ticket)}, r.Ticket == 0 || p.ownsBell(r.Ticket)
}

// acquire makes the caller the owner, and answers the fence value and the private data.
// PENDING: the answer comes on the caller's ticket; after SUCCESS there, the same request
// again tells what was acquired.
func (p *Process) acquire(r *abi.Request, h abi.Handle, key uint64, fence *uint64, data []byte) abi.Status {
	k := p.k
	k.lock()
	defer k.unlock()
	l, ok := object.Get[*keyedLocal](&p.table, h)
	thread, known := p.thread(r)
	if !ok || !known {
		return abi.StatusInvalidParameter
	}
	m := l.mutex
	st := abi.StatusSuccess
	if p.granted[r.Ticket] == m && r.Ticket != 0 {
		delete(p.granted, r.Ticket)
	} else if st = m.Acquire(thread, key, len(data)); st == abi.StatusSuccess {
		p.owned[m] = struct{}{}
	}
	if st == abi.StatusSuccess {
		// Under the lock: an open may adopt data at any time.
		*fence = m.Fence()
		copy(data, m.Data())
	}
	if st != abi.StatusPending {
		return st
	}
	var timeout *int64
	if t := r.Arrays[0]; t != nil {
		v := int64(binary.LittleEndian.Uint64(t))
		timeout = &v
	}
	until, now := k.untilNT(timeout)
	switch {
	case now:
		return abi.StatusTimeout
	case r.Ticket == 0 || !p.ownsBell(r.Bell) || p.tickets[r.Ticket] != nil:
		return abi.StatusInvalidParameter // nothing of its own to block on
	case len(p.waits)+len(p.turns) >= k.limits.Waits:
		return abi.StatusNoMemory
	}
	w := &keyedWait{local: l, bells: p.bells, ticket: r.Ticket, bell: r.Bell, since: k.now()}
	w.turn = syncobj.Turn{Wait: &w.Wait, Thread: thread, Key: key, Room: len(data)}
	w.Init(w, 1)
	p.turns[w], p.tickets[w.ticket] = struct{}{}, w
	m.Enlist(&w.turn)
	if until.set {
		k.set(&w.timeout, until, func() { w.End(abi.StatusTimeout) })
	}
	return abi.StatusPending
}

// Ended answers on the ticket. A thread that owns the mutex now comes to fetch what it
// acquired.
func (w *keyedWait) Ended(_ *wait.Wait, st abi.Status) {
	w.unlink()
	p := w.local.process
	if st == abi.StatusSuccess {
		p.owned[w.local.mutex] = struct{}{}
		p.granted[w.ticket] = w.local.mutex
	}
	w.bells.Answer(w.ticket, uint32(st))
	p.k.fx.rings = append(p.k.fx.rings, ring{w.bells, w.bell})
}

// cancel takes the wait away without telling anybody.
func (w *keyedWait) cancel() {
	if w.Withdrawn() {
		w.unlink()
	}
}

func (w *keyedWait) unlink() {
	p := w.local.process
	w.timeout.clear()
	w.local.mutex.Withdraw(&w.turn)
	delete(p.turns, w)
	if p.tickets[w.ticket] == ticketHolder(w) {
		delete(p.tickets, w.ticket)
	}
}

func (p *Process) releaseKeyedMutex(r *abi.Request) abi.Status {
	rec := abi.View[abi.ReleaseKeyedMutex](r.Record)
	return p.release(r, rec.HKeyedMutex, rec.Key, rec.FenceValue, nil)
}

func (p *Process) releaseKeyedMutex2(r *abi.Request) abi.Status {
	rec := abi.View[abi.ReleaseKeyedMutex2](r.Record)
	if r.Arrays[0] == nil && rec.PrivateRuntimeDataSize != 0 {
		return abi.StatusInvalidParameter
	}
	return p.release(r, rec.HKeyedMutex, rec.Key, rec.FenceValue, r.Arrays[0])
}

func (p *Process) release(r *abi.Request, h abi.Handle, key, fence uint64, data []byte) abi.Status {
	k := p.k
	k.lock()
	defer k.unlock()
	l, ok := object.Get[*keyedLocal](&p.table, h)
	thread, known := p.thread(r)
	if !ok || !known {
		return abi.StatusInvalidParameter
	}
	m := l.mutex
	more := 0
	if len(data) > 0 {
		more = len(data) - m.bytes
	}
	if !k.takeData(m.uid, more) {
		return abi.StatusNoMemory
	}
	delete(p.owned, m) // before the next owner, who may be of this process
	st := m.Release(thread, key, fence, data)
	if st != abi.StatusSuccess {
		k.giveData(m.uid, more)
		if owner, ok := m.Owner(); ok && owner.Process == p {
			p.owned[m] = struct{}{}
		}
		return st
	}
	m.bytes += more
	if p.granted[r.Ticket] == m {
		delete(p.granted, r.Ticket)
	}
	return st
}

// endThread tells that the thread with a line of the bell table has ended: mutexes
// that it owns are abandoned.
func (p *Process) endThread(r *abi.Request) abi.Status {
	rec := abi.View[abi.EndThread](r.Record)
	p.k.lock()
	defer p.k.unlock()
	if !p.ownsBell(rec.Ticket) {
		return abi.StatusInvalidParameter
	}
	thread := syncobj.Thread{Process: p, ID: uint64(rec.Ticket)}
	if w := p.tickets[rec.Ticket]; w != nil {
		w.cancel()
	}
	for m := range p.owned {
		if owner, ok := m.Owner(); ok && owner == thread {
			delete(p.owned, m)
			m.EndThread(thread)
		}
	}
	delete(p.granted, rec.Ticket)
	return abi.StatusSuccess
}

// abandon tells every mutex that the process owns that it has ended.
func (p *Process) abandon() {
	for w := range p.turns {
		w.cancel()
	}
	for m := range p.owned {
		m.EndProcess(p)
	}
	for l := range p.mutexes {
		l.destroy()
	}
	clear(p.owned)
}
