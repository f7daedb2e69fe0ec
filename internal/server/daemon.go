package server

import (
	"crypto/rand"
	"encoding/binary"
	"sync"

	"github.com/dxgsync/dxgsync/internal/host"
	"github.com/dxgsync/dxgsync/internal/kernel"
)

// A Daemon is a kernel, the host below it and the server before it.
type Daemon struct {
	*Server
	Kernel *kernel.Kernel
	Host   *host.Host

	opened []*Listener
	work   sync.WaitGroup
}

// NewDaemon makes a daemon that nobody can reach yet. k.Host and c.Backend are its
// own affair. A nil k.Now stands for the machine's clocks, by which the kernel is then
// driven; whoever gives it other clocks calls Kernel.Tick himself. A c.KernelID of 0
// stands for a random one. Errors are the system's, or say what is wrong with the
// configuration.
func NewDaemon(k kernel.Config, c Config) (*Daemon, error) {
	h, err := host.New()
	if err != nil {
		return nil, err
	}
	driven := k.Now == nil
	if driven {
		k.Now, k.Time, k.FaultDelay = host.Now, host.Time, kernel.FaultDelay
	}
	d, err := newDaemon(h, k, c)
	if err != nil {
		h.Stop()
		return nil, err
	}
	if driven {
		h.Drive(d.Kernel)
	}
	h.Start(d.Kernel.NTClosed)
	return d, nil
}

func newDaemon(h *host.Host, k kernel.Config, c Config) (*Daemon, error) {
	k.Host = h
	kern, err := kernel.New(k)
	if err != nil {
		return nil, err
	}
	if c.KernelID == 0 {
		var id [8]byte
		_, _ = rand.Read(id[:]) // never fails
		c.KernelID = binary.LittleEndian.Uint64(id[:])
	}
	c.Backend = newBackend(kern, h)
	s, err := New(c)
	if err != nil {
		return nil, err
	}
	return &Daemon{Server: s, Kernel: kern, Host: h}, nil
}

// Open serves at address, for this user alone, until Close. Errors are those of
// Listen.
func (d *Daemon) Open(address string) error {
	l, err := Listen(address, 0o600)
	if err != nil {
		return err
	}
	d.opened = append(d.opened, l)
	d.work.Go(func() { _ = d.Serve(l) })
	return nil
}

// Close ends every session with what it held, and then the kernel.
func (d *Daemon) Close() {
	d.Server.Close()
	d.work.Wait()
	for _, l := range d.opened {
		l.Close()
	}
	d.Host.Stop()
	d.Kernel.Stop()
}
