package main

import (
	"errors"
	"log/slog"
	"runtime"

	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/server"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// kernelConfig is what run and serve make their kernel of.
type kernelConfig struct {
	profiles []*adapter.Profile
	limits   limits
	global   bool // global handles are on
	names    bool // everybody may share names in \BaseNamedObjects
	tdr      vidsch.TDR
	paging   uint64 // first value of paging fences, 0 for the standard one
	log      *slog.Logger
}

// A runningKernel is a kernel that is being served.
type runningKernel struct {
	*server.Daemon
	served chan error // one result per listener
}

// startKernel makes a kernel and serves it on the listeners, which stay the
// caller's and must outlive stop.
func startKernel(cfg kernelConfig, listeners ...*server.Listener) (*runningKernel, error) {
	// On a single processor the runtime's monitor would take it away from every
	// blocked session; a second one to hand over makes requests a third faster.
	runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0)))
	l := cfg.limits.agreed()
	d, err := server.NewDaemon(kernel.Config{
		Profiles: cfg.profiles,
		Limits:   l.kernel,

		NoGlobalHandles: !cfg.global,
		NoGlobalNames:   !cfg.names,

		TDR:              cfg.tdr,
		FirstPagingValue: cfg.paging,
	}, server.Config{Limits: l.server, Log: cfg.log})
	if err != nil {
		return nil, err
	}
	r := &runningKernel{d, make(chan error, len(listeners))}
	for _, l := range listeners {
		go func() { r.served <- d.Serve(l) }()
	}
	return r, nil
}

// stop ends every session and the kernel.
func (k *runningKernel) stop() {
	k.Close()
	for range cap(k.served) {
		<-k.served
	}
}

// wait returns when a listener fails; nil after stop.
func (k *runningKernel) wait() error {
	err := <-k.served
	k.served <- err
	if errors.Is(err, server.ErrClosed) {
		return nil
	}
	return err
}
