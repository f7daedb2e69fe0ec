package dxgsync

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/host"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/page"
	"github.com/dxgsync/dxgsync/internal/vidsch"
	"github.com/dxgsync/dxgsync/internal/wait"
)

// local is the door to a kernel in this process.
type local struct {
	host    *host.Host
	kernel  *kernel.Kernel
	process *kernel.Process
	tickets lines

	mu    sync.Mutex // guards the making of the hub
	sleep atomic.Pointer[wait.Hub]
}

// Lines of the user's bell table that a session with a kernel of its own takes for
// itself: the first is its bell, the others are tickets.
const (
	ownFirst = page.BellLines - 4096
	ownLines = 4096
)

// TDREnv is the environment variable with settings for sessions that have a kernel of
// their own, as NAME=VALUE with the names of the registry (TdrDelay=200ms, TdrLevel=0),
// with commas or spaces between. [WithTDR] goes before it.
const TDREnv = "DXGSYNC_TDR"

func openLocal(profiles []string, tdr TDR) (door, error) {
	var cfg kernel.Config
	fromEnv, err := vidsch.ParseTDR(strings.FieldsFunc(os.Getenv(TDREnv), func(r rune) bool { return r == ',' || r == ' ' })...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", TDREnv, err)
	}
	cfg.TDR = tdr.over(fromEnv)
	if len(profiles) > 0 {
		if cfg.Profiles, err = adapter.LoadAll(profiles); err != nil {
			return nil, err
		}
	}
	h, err := host.New()
	if err != nil {
		return nil, err
	}
	cfg.Host, cfg.Now, cfg.Time, cfg.FaultDelay = h, host.Now, host.Time, kernel.FaultDelay
	k, err := kernel.New(cfg)
	if err != nil {
		h.Stop()
		return nil, err
	}
	h.Drive(k)
	h.Start(k.NTClosed)
	p, st := k.Attach(kernel.ProcessInfo{
		PID: os.Getpid(), UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()), Groups: groups(), Name: "self", InProcess: true,
	})
	if st != abi.StatusSuccess {
		h.Stop()
		return nil, fmt.Errorf("attach: %w", st)
	}
	d := &local{host: h, kernel: k, process: p}
	next := uint32(ownFirst + 1)
	d.tickets.more = func() (first, count uint32, st abi.Status) {
		const some = 16
		if next >= ownFirst+ownLines {
			return 0, 0, abi.StatusNoMemory
		}
		first, count = next, min(some, ownFirst+ownLines-next)
		next += count
		return first, count, abi.StatusSuccess
	}
	return d, nil
}

// groups are the groups of this process.
func groups() []uint32 {
	all := []uint32{uint32(os.Getegid())}
	more, _ := os.Getgroups() // none is the safe side
	for _, g := range more {
		all = append(all, uint32(g))
	}
	return all
}

func (d *local) do(r *abi.Request) abi.Status { return d.process.Do(r) }

func (d *local) lines() *lines { return &d.tickets }

func (d *local) lost() bool { return false }

func (d *local) hub() *wait.Hub {
	if h := d.sleep.Load(); h != nil {
		return h
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if h := d.sleep.Load(); h != nil {
		return h
	}
	bells, st := d.host.Bells(d.process.Info.UID)
	if st != abi.StatusSuccess {
		return nil // there may be memory the next time
	}
	d.process.Bells(bells, ownFirst, ownLines)
	h := wait.NewHub(bells, ownFirst)
	d.sleep.Store(h)
	return h
}

// memory is the kernel's own mapping, which stays while a view of it can be reached.
func (d *local) memory(r *abi.Request, h abi.Handle) (*memory, abi.Status) {
	closeFiles(r)
	view, ok := d.process.FenceView(h)
	if !ok {
		return nil, abi.StatusDeviceRemoved // destroyed meanwhile
	}
	return &memory{view: view, writable: true, release: func() {}}, abi.StatusSuccess
}

func (d *local) doorbell(_ *abi.Request, h abi.Handle) (doorbell, abi.Status) {
	words, ok := d.process.Doorbell(h)
	if !ok {
		return nil, abi.StatusDeviceRemoved // destroyed meanwhile
	}
	return ownDoorbell{words}, abi.StatusSuccess
}

// ownDoorbell is a doorbell of a kernel in this process.
type ownDoorbell struct{ words kernel.DoorbellWords }

// Ring implements doorbell.
func (d ownDoorbell) Ring(entry, progress uint64) {
	d.words.LastQueued.Store(progress)
	d.words.Bell.Store(entry)
}

// Status implements doorbell.
func (d ownDoorbell) Status() abi.DoorbellStatus {
	return abi.DoorbellStatus(d.words.Status.Load())
}

func (d *local) close() error {
	d.process.Exit()
	if h := d.sleep.Load(); h != nil {
		h.Lose(abi.StatusDeviceRemoved)
	}
	d.host.Stop()
	d.kernel.Stop()
	return nil
}
