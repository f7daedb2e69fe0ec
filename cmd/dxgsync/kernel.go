package main

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"log/slog"
	"runtime"
	"time"

	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/host"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/server"
)

// kernelConfig is what run and serve make their kernel of.
type kernelConfig struct {
	profiles []*adapter.Profile
	limits   limits
	log      *slog.Logger
}

// A runningKernel is a kernel that is being served.
type runningKernel struct {
	host   *host.Host
	server *server.Server
	served chan error // one result per listener
}

// startKernel makes a kernel and serves it on the listeners, which stay the
// caller's and must outlive stop.
func startKernel(cfg kernelConfig, listeners ...*server.Listener) (*runningKernel, error) {
	// On a single processor the runtime's monitor would take it away from every
	// blocked session; a second one to hand over makes requests a third faster.
	runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0)))
	l := cfg.limits.agreed()
	h, err := host.New()
	if err != nil {
		return nil, err
	}
	start := time.Now()
	k, err := kernel.New(kernel.Config{
		Profiles: cfg.profiles,
		Limits:   l.kernel,
		Host:     h,
		Now:      func() int64 { return int64(time.Since(start)) },
	})
	if err != nil {
		h.Stop()
		return nil, err
	}
	var id [8]byte
	_, _ = rand.Read(id[:])
	s, err := server.New(server.Config{
		Backend:  server.KernelBackend(k, h),
		Limits:   l.server,
		Log:      cfg.log,
		KernelID: binary.LittleEndian.Uint64(id[:]),
	})
	if err != nil {
		h.Stop()
		return nil, err
	}
	h.Start(k.NTClosed)
	r := &runningKernel{h, s, make(chan error, len(listeners))}
	for _, l := range listeners {
		go func() { r.served <- s.Serve(l) }()
	}
	return r, nil
}

// stop ends every session and the kernel.
func (k *runningKernel) stop() {
	k.server.Close()
	for range cap(k.served) {
		<-k.served
	}
	k.host.Stop()
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
