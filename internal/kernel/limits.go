package kernel

import "github.com/dxgsync/dxgsync/internal/object"

// Limits bound what one peer can make the kernel hold. Reaching one is answered
// with STATUS_NO_MEMORY and changes nothing. A zero field means its default.
type Limits struct {
	// Processes is how many processes may be attached at once. Default 4096.
	Processes int
	// Handles is how many local handles one process may hold. Default 2^24-1, all
	// that the handle format allows, for a process of the kernel's own; doors that
	// serve strangers set less.
	Handles int
	// NTHandles is how many NT handles may exist at once, in all; one user may have
	// three quarters of them. Default 8192.
	NTHandles int
	// GlobalHandles is how many global handles may exist at once, in all; one user may have
	// three quarters of them. Default 65536.
	GlobalHandles int
	// Data is how many bytes of private data, of runtimes and drivers, are kept for one
	// user; each allocation counts 64 more. Default 64 MiB.
	Data int
	// Queued is how many bytes the packets may take that are queued for one user: each
	// counts 128, 64 more for each object that it names, and its private data. Default
	// 256 MiB.
	Queued int
	// GPUObjects is how many devices, how many contexts and how many hardware queues
	// there may be on one adapter, in all; one user may have three quarters of each.
	// Default 65536.
	GPUObjects int
	// Waits is how many kernel-side waits one process may have pending. Default 65536.
	Waits int
	// Points is how many objects, repeats counted, the pending kernel-side waits of one
	// process may name together. Default 262144.
	Points int
	// MaxAdapters is what EnumAdapters2 reports for a NULL array. Default 34 (OQ-31).
	MaxAdapters int
}

// MaxWaitObjects is the largest object count of a call with pointer arrays (OQ-23).
const MaxWaitObjects = 4096

func (l Limits) withDefaults() Limits {
	set := func(field *int, value int) {
		if *field == 0 {
			*field = value
		}
	}
	set(&l.Processes, 4096)
	set(&l.Handles, 1<<24-1)
	set(&l.NTHandles, 8192)
	set(&l.GlobalHandles, object.MaxGlobals)
	set(&l.Data, 64<<20)
	set(&l.Queued, 256<<20)
	set(&l.GPUObjects, 65536)
	set(&l.Waits, 65536)
	set(&l.Points, 262144)
	set(&l.MaxAdapters, 34)
	return l
}

// A quota counts things of which one user may have three quarters of all.
type quota struct {
	all int
	of  map[uint32]int
}

// take counts one more for a user; false at the limit.
func (q *quota) take(uid uint32, most int) bool {
	if q.all >= most || q.of[uid] >= most-most/4 {
		return false
	}
	if q.of == nil {
		q.of = map[uint32]int{}
	}
	q.all++
	q.of[uid]++
	return true
}

// give counts one less.
func (q *quota) give(uid uint32) {
	q.all--
	if q.of[uid]--; q.of[uid] == 0 {
		delete(q.of, uid)
	}
}

// take counts one more for the process's user; false at the limit. The lock is held.
func (p *Process) take(q *quota) bool { return q.take(p.Info.UID, p.k.limits.GPUObjects) }

// give counts one less. Without the lock.
func (p *Process) give(q *quota) {
	p.k.lock()
	q.give(p.Info.UID)
	p.k.unlock()
}
