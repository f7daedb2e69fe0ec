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
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/softgpu"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// Config is what a kernel is made of.
type Config struct {
	// Profiles describe the adapters, in order. None means the neutral preset.
	Profiles []*adapter.Profile
	// Limits bound what processes can make; zero fields mean the defaults.
	Limits Limits
	// Host is the machine. Required.
	Host Host
	// Now is the steady clock, in nanoseconds since any fixed moment. Nil means one that
	// stands still.
	Now func() int64
	// Time is the system's time as NT has it, in units of 100 ns since 1601. Nil means
	// one that stands still.
	Time func() int64
	// Driver makes the driver of an adapter from its profile. Nil means the software GPU.
	Driver func(p *adapter.Profile) ddi.Driver
	// FirstPagingValue is what the fence of a new paging queue shows; 0 means 7000, as it
	// was seen on Windows (OQ-53).
	FirstPagingValue uint64
	// Random makes global handles hard to guess, with all 32 bits. Nil means the
	// system's randomness.
	Random func() uint32
	// NoGlobalHandles turns global handles off: making an object with one answers
	// NOT_SUPPORTED.
	NoGlobalHandles bool
	// FaultDelay is how long after the fault of a packet its device is lost, in
	// nanoseconds of Now; until then nothing more of it runs (OQ-72).
	FaultDelay int64
	// TDR is how engines are watched. The zero one means Windows' defaults.
	TDR vidsch.TDR
	// NoGlobalNames keeps names in \BaseNamedObjects for root: others who share one
	// there are answered ACCESS_DENIED, as without the privilege to create global
	// objects (OQ-21).
	NoGlobalNames bool
}

// FaultDelay is what kernels in real time have for Config.FaultDelay: long enough for who
// submitted the packet to wait for it, in nanoseconds.
const FaultDelay = 1_000_000

// A Kernel is one synchronization subsystem.
type Kernel struct {
	host     Host
	limits   Limits
	now      func() int64
	time     func() int64
	adapters []*Adapter

	firstPaging   uint64
	tdr           vidsch.TDR
	faultDelay    int64
	ticking       atomic.Bool // Tick makes the calls that callbacks decide on
	noGlobals     bool
	noGlobalNames bool

	mu        sync.Mutex
	processes map[*Process]struct{}
	handles   object.NTHandles
	shared    map[uint32]int // how many of them each user has made
	globals   *object.GlobalTable
	names     *object.Namespace
	data      map[uint32]int  // bytes of private data that are kept for each user
	loads     map[uint32]*int // bytes of queued packets of each user
	steady    timers
	wall      timers
	fx        effects // of the operation that holds mu
	serial    uint64  // of the last process, for listings
	objects   uint64  // number of the last object
	waits     uint64  // order of the last wait of a CPU
	numbers   uint64  // last of what drivers are told by number
	logged    uint64  // events read in logs
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
		names:     object.NewNamespace(),
		data:      map[uint32]int{},
		loads:     map[uint32]*int{},
		time:      cfg.Time,
		noGlobals: cfg.NoGlobalHandles,
		tdr:       cfg.TDR.WithDefaults(),

		faultDelay: cfg.FaultDelay,

		noGlobalNames: cfg.NoGlobalNames,
		firstPaging:   cfg.FirstPagingValue,
	}
	if k.firstPaging == 0 {
		k.firstPaging = firstPagingValue
	}
	stopped := func() int64 { return 0 }
	if k.now == nil {
		k.now = stopped
	}
	if k.time == nil {
		k.time = stopped
	}
	if cfg.Random == nil {
		cfg.Random = random
	}
	k.globals = object.NewGlobalTable(cfg.Random, k.limits.GlobalHandles)
	if cfg.Driver == nil {
		cfg.Driver = func(p *adapter.Profile) ddi.Driver { return softgpu.New(p) }
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
			k.Stop()
			return nil, err
		}
		a := newAdapter(k, i, p, cfg.Driver(p))
		if st := a.driver.StartDevice(callbacks{a}); !st.OK() {
			k.Stop()
			return nil, fmt.Errorf("start the driver of adapter %d (%s): %w", i, p.Name, st)
		}
		if a.driver.Caps().Has(ddi.NativeGpuFence) && !p.NativeFences() {
			a.driver.StopDevice()
			k.Stop()
			return nil, fmt.Errorf("start the driver of adapter %d (%s): it has native fences, which are not enabled", i, p.Name)
		}
		a.bound(a.system)
		k.lock()
		a.sched = vidsch.New(watcher{a}, k.now, a.driver.Caps(), len(p.Nodes), p.Engines(), k.tdr)
		k.unlock()
		k.adapters = append(k.adapters, a)
	}
	return k, nil
}

func random() uint32 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint32(b[:])
}

// addGlobal gives an object a global handle that counts for a user; 0 at a limit.
func (k *Kernel) addGlobal(o any, uid uint32) abi.Handle { return k.globals.Add(o, uid) }

// removeGlobal takes it away again; 0 is none.
func (k *Kernel) removeGlobal(h abi.Handle) { k.globals.Remove(h) }

// lock and unlock bracket every operation; unlock lets packets proceed that can, and runs
// the effects.
func (k *Kernel) lock() { k.mu.Lock() }

func (k *Kernel) unlock() {
	if k.release() {
		k.drain()
	}
}

// unlockInside is unlock inside a callback of a driver, or between calls of one: what it
// is to be asked waits until the callback has returned.
func (k *Kernel) unlockInside() {
	if k.release() && !k.ticking.Load() {
		k.host.Alarm()
	}
}

// release does what unlock does without a driver, and reports whether one is to be asked
// something.
func (k *Kernel) release() (asks bool) {
	asks = k.settle()
	if k.fx.empty() {
		k.mu.Unlock()
		return asks
	}
	fx := k.fx
	k.fx = effects{}
	k.mu.Unlock()
	fx.run()
	if fx.alarm {
		k.host.Alarm()
	}
	return asks
}

// Do answers one request. It never blocks: a wait that cannot end yet is
// registered and answered with STATUS_PENDING when the request names a bell and a
// ticket. Anything a caller sends is answered with a status; on failure nothing
// has changed and the request's record is as it was.
func (p *Process) Do(r *abi.Request) abi.Status {
	if r.Op.Support == abi.NotImplemented {
		return abi.StatusNotImplemented
	}
	if f := operationOf(r.Op.Nr); f != nil {
		return f(p, r)
	}
	return abi.StatusNotSupported
}
