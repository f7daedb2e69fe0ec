// Package kernel is the single waist of the house: it holds all state of the
// synchronization subsystem (processes, adapters, devices, contexts, local
// objects, waits) and answers every operation of the table in package abi. The
// doors hand it requests; the parts (object, syncobj, wait, adapter) know nothing
// of each other and meet only here.
//
// The kernel has no goroutine, no socket and no sleep. An operation first
// decodes and checks (may fail, changes nothing), then commits (cannot fail);
// what must happen to the world — wake a sleeper, set an event — is collected
// under the lock and done after it is dropped.
//
// Lock order: Kernel.mu, and below it only what Host implementations lock for
// themselves.
package kernel

import (
	"sync"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/object"
)

// Config is what a kernel is made of.
type Config struct {
	// Profiles describe the adapters, in order. None means the neutral preset.
	Profiles []*adapter.Profile
	// Limits bound what processes can make; zero fields mean the defaults.
	Limits Limits
	// Host is the machine. Required.
	Host Host
	// Now is the clock for ages in listings, in nanoseconds since any fixed moment.
	// Nil means that everything has age 0.
	Now func() int64
}

// A Kernel is one synchronization subsystem.
type Kernel struct {
	host     Host
	limits   Limits
	now      func() int64
	adapters []*Adapter

	mu        sync.Mutex
	processes map[*Process]struct{}
	handles   object.NTHandles
	shared    map[uint32]int // how many of them each user has made
	fx        effects        // of the operation that holds mu
	serial    uint64         // of the last process, for listings
	objects   uint64         // number of the last object
}

// New makes a kernel. The error names the profile and the rule it breaks.
func New(cfg Config) (*Kernel, error) {
	k := &Kernel{
		host:      cfg.Host,
		limits:    cfg.Limits.withDefaults(),
		now:       cfg.Now,
		processes: map[*Process]struct{}{},
		handles:   object.NTHandles{},
		shared:    map[uint32]int{},
	}
	if k.now == nil {
		k.now = func() int64 { return 0 }
	}
	profiles := cfg.Profiles
	if len(profiles) == 0 {
		neutral, err := adapter.Load("neutral")
		if err != nil {
			return nil, err
		}
		profiles = []*adapter.Profile{neutral}
	}
	for i, p := range profiles {
		if err := p.Validate(); err != nil {
			return nil, err
		}
		k.adapters = append(k.adapters, newAdapter(i, p))
	}
	return k, nil
}

// lock and unlock bracket every operation; unlock runs its effects.
func (k *Kernel) lock() { k.mu.Lock() }

func (k *Kernel) unlock() {
	if k.fx.empty() {
		k.mu.Unlock()
		return
	}
	fx := k.fx
	k.fx = effects{}
	k.mu.Unlock()
	fx.run()
}

// NTClosed tells that the last descriptor of an NT handle was closed, anywhere.
// Later openers find nothing; the object lives on while a local object refers to
// it (sharing.md §6).
func (k *Kernel) NTClosed(key object.Key) {
	k.lock()
	defer k.unlock()
	h, ok := k.handles[key]
	if !ok {
		return
	}
	delete(k.handles, key)
	if k.shared[h.UID]--; k.shared[h.UID] == 0 {
		delete(k.shared, h.UID)
	}
	if h.Close() {
		h.Object.(*fence).Unref(&k.fx.wakes)
	}
}

// Do answers one request. It never blocks: a wait that cannot end yet is
// registered and answered with STATUS_PENDING when the request names a bell and a
// ticket. Anything a caller sends is answered with a status; on failure nothing
// has changed and the request's record is as it was.
func (p *Process) Do(r *abi.Request) abi.Status {
	switch {
	case r.Op.Support == abi.NotImplemented:
		return abi.StatusNotImplemented
	case int(r.Op.Nr) < len(publicOps) && publicOps[r.Op.Nr] != nil:
		return publicOps[r.Op.Nr](p, r)
	}
	if f := sessionOps[r.Op.Nr]; f != nil {
		return f(p, r)
	}
	return abi.StatusNotSupported
}
