package suite

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/client"
	"github.com/dxgsync/dxgsync/internal/page"
	"github.com/dxgsync/dxgsync/internal/server"
)

// Socket is the daemon's door: each scenario process is a connection of its own to
// a server in this process, and every call is a request through the socket.
type Socket struct{}

// Name implements Door.
func (Socket) Name() string { return "socket" }

// Open implements Door.
func (Socket) Open(spec WorldSpec) (World, error) {
	d, err := newDaemon(spec)
	if err != nil {
		return nil, err
	}
	return &socketWorld{daemon: d}, nil
}

// daemon is a machine behind a door at an address of its own.
type daemon struct {
	*machine
	door    *server.Daemon
	address string
}

// daemons numbers the addresses of this process.
var daemons atomic.Int64

func newDaemon(spec WorldSpec) (*daemon, error) {
	door, err := server.NewDaemon(spec.config(), server.Config{KernelID: 1})
	if err != nil {
		return nil, err
	}
	d := &daemon{&machine{door.Kernel, door.Host, spec}, door, fmt.Sprintf("@dxgsync-suite-%d-%d", os.Getpid(), daemons.Add(1))}
	if err := door.Open(d.address); err != nil {
		door.Close()
		return nil, err
	}
	return d, nil
}

// close ends the daemon with all that its peers hold.
func (d *daemon) close() error {
	d.door.Close()
	return d.left()
}

type socketWorld struct {
	*daemon
	all []*socketProcess
}

type socketProcess struct {
	*requester
	conn  *client.Conn
	inode map[uint64]page.View // pages that are mapped, by their file
	keep  []*page.Memory       // of doorbells
}

// Process implements World.
func (w *socketWorld) Process(string) (Process, error) {
	conn, err := client.Dial(w.address)
	if err != nil {
		return nil, err
	}
	p := &socketProcess{requester: newRequester(), conn: conn, inode: map[uint64]page.View{}}
	w.all = append(w.all, p)
	p.bells = conn.Bells()
	for range bellsPerProcess {
		n, st := conn.AllocBell()
		if !st.OK() {
			return nil, st
		}
		p.lines = append(p.lines, n)
	}
	p.send = func(r *abi.Request) (abi.Status, error) {
		st := conn.Do(r)
		if conn.IsDead() {
			return st, errors.New("the server ended the connection")
		}
		return st, nil
	}
	p.requester.view = func(r *abi.Request, _ abi.Handle) (page.View, bool, error) {
		if r.Grant.Kind == 0 {
			return page.View{}, false, nil
		}
		return p.mapped(r)
	}
	p.requester.words = func(r *abi.Request, _ abi.Handle) (bellWords, error) {
		words, memory, err := mapBell(r)
		p.keep = append(p.keep, memory...)
		return words, err
	}
	return p, nil
}

// mapped is the memory of the fence that r created or opened. A page is mapped once.
func (p *socketProcess) mapped(r *abi.Request) (page.View, bool, error) {
	var stat unix.Stat_t
	if r.Grant.Kind == abi.GrantPage && len(r.Out) > 0 {
		fd := r.Out[len(r.Out)-1].FD
		if err := unix.Fstat(fd, &stat); err != nil {
			return page.View{}, false, fmt.Errorf("look at the page of a fence: %w", err)
		}
		if v, ok := p.inode[stat.Ino]; ok {
			return v, true, unix.Close(fd)
		}
	}
	v, _, st := p.conn.Memory(r.Grant, r.Out)
	if !st.OK() {
		return v, false, st
	}
	if stat.Ino != 0 {
		p.inode[stat.Ino] = v
	}
	return v, true, nil
}

// Close implements World.
func (w *socketWorld) Close() error {
	for _, p := range w.all {
		p.unmap()
		p.closeAll()
		_ = p.conn.Close()
	}
	return w.close()
}

// Exit implements Process.
func (p *socketProcess) Exit() error {
	p.unmap()
	p.closeAll()
	return p.conn.Close()
}

// Kill implements Process: the server sees a hang-up either way.
func (p *socketProcess) Kill() error { return p.Exit() }
