package kernel

import (
	"cmp"
	"maps"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/page"
	"github.com/dxgsync/dxgsync/internal/vidmm"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// ProcessInfo says who attaches. The door vouches for it.
type ProcessInfo struct {
	PID      int      // process id, for listings
	UID, GID uint32   // Unix user and group; decide who may map what
	Groups   []uint32 // all groups, GID among them; decide what a name gives
	Name     string   // short name for listings
	// InProcess says that the process lives in the kernel's own address space: its
	// private fences are cells on the heap, and nothing needs to be mapped for it.
	InProcess bool
}

// A Process is one client process: its handle table and everything it holds.
// Its methods are safe for concurrent use.
type Process struct {
	k     *Kernel
	Info  ProcessInfo
	id    uint64
	since int64

	// Guarded by k.mu:
	table       object.Table
	devices     map[*device]struct{}
	waits       map[*cpuWait]struct{}
	points      int                     // of all waits
	tickets     map[uint32]ticketHolder // the waits of blocked callers
	turns       map[*keyedWait]struct{}
	uses        map[*Adapter]int // open handles and devices
	plains      map[*plainLocal]struct{}
	mutexes     map[*keyedLocal]struct{}
	owned       map[*keyedMutex]struct{}  // by a thread of this process
	granted     map[uint32]*keyedMutex    // by ticket: acquired, and not fetched yet
	bells       *page.Bells               // of the user; nil until the process asks for bells
	lines       []bellRange               // lines of it that belong to this process
	spaces      map[*Adapter]*vidmm.Space // what GPUs see
	logs        map[*fenceLogs]struct{}
	nativeVideo map[*Adapter]uint64    // bytes
	paging      int                    // operations on memory that are queued
	reserved    map[reservation]uint64 // video memory, in bytes
	remnants    int                    // what is gone, but for the packets that may use it
	gone        bool

	timeouts []timeout // engine timeouts by its fault
}

// A ticketHolder is a wait that is answered on a line of the bell table.
type ticketHolder interface {
	// cancel takes the wait away without telling anybody.
	cancel()
}

type bellRange struct{ first, count uint32 }

// Attach makes a process. NO_MEMORY when too many are attached.
func (k *Kernel) Attach(info ProcessInfo) (*Process, abi.Status) {
	k.lock()
	defer k.unlock()
	if len(k.processes) >= k.limits.Processes {
		return nil, abi.StatusNoMemory
	}
	k.serial++
	p := &Process{
		k: k, Info: info, id: k.serial, since: k.now(),
		devices: map[*device]struct{}{}, waits: map[*cpuWait]struct{}{}, tickets: map[uint32]ticketHolder{}, spaces: map[*Adapter]*vidmm.Space{}, logs: map[*fenceLogs]struct{}{}, nativeVideo: map[*Adapter]uint64{},
		turns: map[*keyedWait]struct{}{}, uses: map[*Adapter]int{}, plains: map[*plainLocal]struct{}{},
		mutexes: map[*keyedLocal]struct{}{}, owned: map[*keyedMutex]struct{}{}, granted: map[uint32]*keyedMutex{},
	}
	p.table.Limit(k.limits.Handles)
	k.processes[p] = struct{}{}
	return p, abi.StatusSuccess
}

// Bells tells the kernel that lines [first, first+count) of the user's bell table
// belong to p: only those may be named by its waits, and their numbers are swept
// out of every page when p ends.
func (p *Process) Bells(table *page.Bells, first, count uint32) {
	p.k.lock()
	defer p.k.unlock()
	p.bells = table
	p.lines = append(p.lines, bellRange{first, count})
}

// ownsBell reports whether a line of the bell table belongs to p.
func (p *Process) ownsBell(n uint32) bool {
	for _, r := range p.lines {
		if n >= r.first && n-r.first < r.count {
			return true
		}
	}
	return false
}

// Exit ends the process as its death does: its waits are cancelled, fences that
// its devices created go to Max unless they carry NoSignalMaxValueOnTdr
// (objects.md §4.6, OQ-17), every page it could write is swept of its bells and
// all other sleepers look again, then everything it held is dropped. A process
// that destroyed its devices first leaves nothing to raise. The door must not
// reuse the process's bell lines before Exit has returned. Exit may be called
// again; later calls do nothing.
func (p *Process) Exit() {
	k := p.k
	k.lock()
	if p.gone {
		k.unlock()
		return
	}
	p.gone = true
	delete(k.processes, p)
	for a := range p.spaces {
		p.closeSpace(a) // no GPU stores anything for the dead
	}
	for _, w := range inOrderOf(p.waits) {
		w.cancel()
	}
	devices := inOrderOf(p.devices)
	for _, d := range devices {
		for w := range d.idlers {
			w.cancel()
		}
		d.sched.Lose(vidsch.Died)
	}
	swept := p.locals()
	for _, l := range swept {
		if l.created && l.fence.Flags&abi.SyncObjectNoSignalMaxValueOnTdr == 0 {
			l.fence.Lose(&k.fx.wakes)
		}
	}
	for _, l := range swept {
		if m, ok := l.fence.Backing().(Memory); ok {
			m.Sweep(p, p.ownsBell)
		}
		l.fence.Look(&k.fx.wakes)
	}
	for _, d := range devices {
		d.losePlains(vidsch.Died)
	}
	p.abandon()
	for _, l := range inOrderOf(p.plains) {
		l.destroy()
	}
	for _, d := range devices {
		d.destroy(vidsch.Died)
	}
	p.table = object.Table{}
	k.unlock()
	k.host.Detach(p)
}

// locals returns every local object of the process.
func (p *Process) locals() []*local {
	var all []*local
	for _, d := range inOrderOf(p.devices) {
		for l := d.locals; l != nil; l = l.next {
			all = append(all, l)
		}
	}
	return all
}

// A numbered thing knows where it stands in the order in which its like were made.
type numbered interface {
	comparable
	number() uint64
}

// inOrderOf lists the things of a set in the order of their making: what is done to all
// of them must not depend on chance.
func inOrderOf[T numbered](set map[T]struct{}) []T {
	return slices.SortedFunc(maps.Keys(set), func(a, b T) int { return cmp.Compare(a.number(), b.number()) })
}

func (d *device) number() uint64     { return uint64(d.handle) }
func (c *context) number() uint64    { return uint64(c.handle) }
func (q *hwQueue) number() uint64    { return uint64(q.handle) }
func (l *plainLocal) number() uint64 { return uint64(l.handle) }
func (w *cpuWait) number() uint64    { return w.order }
