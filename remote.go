package dxgsync

import (
	"sync"
	"sync/atomic"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/client"
	"github.com/dxgsync/dxgsync/internal/wait"
	"github.com/dxgsync/dxgsync/internal/wire"
)

// remote is the door to a daemon.
type remote struct {
	conn    *client.Conn
	tickets lines

	mu    sync.Mutex // guards the making of the hub
	sleep atomic.Pointer[wait.Hub]
}

func openRemote(address string) (door, error) {
	if address == DefaultAddress {
		address = wire.Address()
	}
	conn, err := client.Dial(address)
	if err != nil {
		return nil, err
	}
	d := &remote{conn: conn}
	d.tickets.more = func() (first, count uint32, st abi.Status) {
		first, st = conn.AllocBell()
		return first, 1, st
	}
	conn.OnDeath(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if h := d.sleep.Load(); h != nil {
			h.Lose(abi.StatusDeviceRemoved)
		}
	})
	return d, nil
}

func (d *remote) do(r *abi.Request) abi.Status {
	st := d.conn.Do(r)
	if st == abi.StatusDeviceRemoved {
		d.lost()
	}
	return st
}

func (d *remote) lines() *lines { return &d.tickets }

// lost reports whether the daemon has gone; then every value is at Lost already.
func (d *remote) lost() bool {
	if !d.conn.IsDead() {
		return false
	}
	<-d.conn.Dead()
	return true
}

func (d *remote) hub() *wait.Hub {
	if h := d.sleep.Load(); h != nil {
		return h
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if h := d.sleep.Load(); h != nil {
		return h
	}
	bell, st := d.conn.AllocBell()
	if st != abi.StatusSuccess {
		return nil
	}
	h := wait.NewHub(d.conn.Bells(), bell)
	h.Over = d.lost
	d.sleep.Store(h)
	return h
}

func (d *remote) memory(r *abi.Request, _ abi.Handle) (*memory, abi.Status) {
	view, release, st := d.conn.Memory(r.Grant, r.Out)
	r.Out = nil
	if st != abi.StatusSuccess {
		return nil, st
	}
	m := &memory{view: view, writable: r.Grant.Writable != 0, release: release}
	if r.Grant.Kind == abi.GrantSlab {
		m.lease = new(lease)
	}
	return m, abi.StatusSuccess
}

// doorbellPages is how many descriptors of a doorbell come, before that of a fence.
const doorbellPages = 2

func (d *remote) doorbell(r *abi.Request, _ abi.Handle) (doorbell, abi.Status) {
	n := min(doorbellPages, len(r.Out))
	files := r.Out[:n:n]
	r.Out = r.Out[n:]
	b, st := d.conn.Doorbell(files)
	if st != abi.StatusSuccess {
		return nil, st
	}
	return b, st
}

func (d *remote) close() error {
	_ = d.conn.Close() // it may have ended already
	return nil
}
