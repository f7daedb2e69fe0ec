package client

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/page"
	"github.com/dxgsync/dxgsync/internal/server"
)

func startDaemon(address string, limits server.Limits) (*server.Daemon, error) {
	d, err := server.NewDaemon(kernel.Config{}, server.Config{Limits: limits, KernelID: 5})
	if err == nil {
		err = d.Open(address)
	}
	return d, err
}

// newDaemon runs a daemon in this process until the test ends.
func newDaemon(t testing.TB, limits server.Limits) (d *server.Daemon, address string) {
	t.Helper()
	address = filepath.Join(t.TempDir(), "socket")
	d, err := startDaemon(address, limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d, address
}

func dial(t testing.TB, address string) *Conn {
	t.Helper()
	c, err := Dial(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// roles are what the test binary plays when it is started again.
var roles = map[string]func(args []string) error{
	"daemon":   playDaemon,
	"creator":  playCreator,
	"signaler": playSignaler,
}

// A process is the test binary in a role.
type process struct {
	cmd    *exec.Cmd
	input  io.Closer // the role ends when this is closed
	output *bufio.Reader
}

// start starts a role and waits for its first line.
func start(t testing.TB, role string, files []*os.File, args ...string) (p *process, line string) {
	t.Helper()
	p = &process{cmd: exec.Command("/proc/self/exe", args...)}
	p.cmd.Env = append(os.Environ(), "DXGSYNC_TEST_ROLE="+role)
	p.cmd.ExtraFiles = files
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.input, p.output = in, bufio.NewReader(out)
	t.Cleanup(p.kill)
	if line, err = p.output.ReadString('\n'); err != nil {
		t.Fatalf("%s said %q, %v", role, line, err)
	}
	return p, line
}

// kill ends the process as nobody can prevent.
func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait() // "signal: killed"
	}
}

// stay says a line and waits for the end of the input.
func stay(line string) {
	fmt.Println(line)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func playDaemon(args []string) error {
	d, err := startDaemon(args[0], server.Limits{})
	if err != nil {
		return err
	}
	stay("ready")
	d.Close()
	return nil
}

// A fence is a monitored fence by raw calls.
type fence struct {
	c       *Conn
	device  abi.Handle
	handle  abi.Handle
	view    page.View
	release func()
}

// call does an operation whose record is rec, and copies the answer back.
func call[T any](c *Conn, op *abi.Op, rec *T, arrays [][]byte, files ...int) (*abi.Request, abi.Status) {
	r := &abi.Request{Op: op, Record: make([]byte, op.Size), Arrays: arrays, Files: files}
	*abi.View[T](r.Record) = *rec
	st := c.Do(r)
	*rec = *abi.View[T](r.Record)
	return r, st
}

func newDevice(c *Conn) (abi.Handle, error) {
	infos := make([]byte, 8*abi.OpEnumAdapters2.Arrays[0].Elem)
	enum := abi.EnumAdapters2{NumAdapters: 8}
	if _, st := call(c, abi.OpEnumAdapters2, &enum, [][]byte{infos}); !st.OK() {
		return 0, fmt.Errorf("enumerate: %w", st)
	}
	dev := abi.CreateDevice{HAdapter: abi.Handle(binary.LittleEndian.Uint32(infos))}
	if _, st := call(c, abi.OpCreateDevice, &dev, nil); !st.OK() {
		return 0, fmt.Errorf("create device: %w", st)
	}
	return dev.HDevice, nil
}

func newFence(c *Conn, device abi.Handle, flags abi.SyncObjectFlags, initial uint64) (*fence, error) {
	rec := abi.CreateSynchronizationObject2{HDevice: device}
	rec.Info.Type, rec.Info.Flags = abi.MonitoredFence, flags
	rec.Info.MonitoredFence().InitialFenceValue = initial
	r, st := call(c, abi.OpCreateSynchronizationObject2, &rec, nil, noFiles(abi.OpCreateSynchronizationObject2)...)
	if !st.OK() {
		return nil, fmt.Errorf("create: %w", st)
	}
	return mapFence(c, device, rec.HSyncObject, r)
}

// noFiles are the inward descriptor fields of an operation, all 0.
func noFiles(op *abi.Op) (files []int) {
	for _, f := range op.Files {
		if f.Dir != abi.Out {
			files = append(files, abi.FileNone)
		}
	}
	return files
}

func mapFence(c *Conn, device, handle abi.Handle, r *abi.Request) (*fence, error) {
	v, release, st := c.Memory(r.Grant, r.Out)
	if !st.OK() {
		return nil, fmt.Errorf("map: %w", st)
	}
	return &fence{c, device, handle, v, release}, nil
}

func (f *fence) share() (int, error) {
	rec := abi.ShareObjects{ObjectCount: 1, DesiredAccess: 0x1F0003}
	r, st := call(f.c, abi.OpShareObjects, &rec, [][]byte{f.handles(), nil, make([]byte, 8), nil, nil})
	if !st.OK() {
		return -1, fmt.Errorf("share: %w", st)
	}
	return r.Out[0].FD, nil
}

func openFence(c *Conn, device abi.Handle, fd int) (*fence, error) {
	rec := abi.OpenSyncObjectFromNtHandle2{HDevice: device}
	r, st := call(c, abi.OpOpenSyncObjectFromNtHandle2, &rec, nil, fd)
	if !st.OK() {
		return nil, fmt.Errorf("open: %w", st)
	}
	return mapFence(c, device, rec.HSyncObject, r)
}

func (f *fence) handles() []byte {
	return binary.LittleEndian.AppendUint32(nil, uint32(f.handle))
}

// signal signals by request.
func (f *fence) signal(v uint64) abi.Status {
	rec := abi.SignalSynchronizationObjectFromCpu{HDevice: f.device, ObjectCount: 1}
	_, st := call(f.c, abi.OpSignalSynchronizationObjectFromCpu, &rec, [][]byte{f.handles(), binary.LittleEndian.AppendUint64(nil, v)})
	return st
}

// raise signals by memory, as a holder does.
func (f *fence) raise(v uint64) abi.Status {
	want, lower := f.view.Cell.Raise(v)
	if lower {
		return f.signal(v)
	}
	f.view.WakeSlots(want, f.c.Bells(), 0)
	if f.view.Cell.WantsNews(want) {
		rec := abi.Ring{Count: 1}
		_, st := call(f.c, abi.OpRing, &rec, [][]byte{f.handles()})
		return st
	}
	return abi.StatusSuccess
}

// await blocks in a kernel-side wait until the value is reached or the daemon is gone.
func (f *fence) await(v uint64) abi.Status {
	line, st := f.c.AllocBell()
	if !st.OK() {
		return st
	}
	defer f.c.FreeBell(line)
	b := f.c.Bells()
	b.Issue(line)
	op := abi.OpWaitForSynchronizationObjectFromCpu
	r := &abi.Request{
		Op: op, Record: make([]byte, op.Size), Files: []int{abi.FileNone}, Bell: line, Ticket: line,
		Arrays: [][]byte{f.handles(), binary.LittleEndian.AppendUint64(nil, v)},
	}
	*abi.View[abi.WaitForSynchronizationObjectFromCpu](r.Record) = abi.WaitForSynchronizationObjectFromCpu{HDevice: f.device, ObjectCount: 1}
	if st := f.c.Do(r); st != abi.StatusPending {
		return st
	}
	for {
		rung := b.Value(line)
		if st, ok := b.Ticket(line); ok {
			return abi.Status(st)
		}
		if f.c.IsDead() {
			return abi.StatusDeviceRemoved
		}
		b.Sleep(line, rung)
	}
}

const sharable = abi.SyncObjectShared | abi.SyncObjectNtSecuritySharing

// playCreator makes a shared fence and hands its descriptor over on descriptor 3.
func playCreator(args []string) error {
	c, err := Dial(args[0])
	if err != nil {
		return err
	}
	device, err := newDevice(c)
	if err != nil {
		return err
	}
	f, err := newFence(c, device, sharable, 1)
	if err != nil {
		return err
	}
	fd, err := f.share()
	if err != nil {
		return err
	}
	if err := unix.Sendmsg(3, []byte("x"), unix.UnixRights(fd), nil, 0); err != nil {
		return err
	}
	stay("shared")
	return nil
}

// playSignaler opens the fence on descriptor 3, waits for 1 and answers with 2, and so
// on, as often as it is told.
func playSignaler(args []string) error {
	c, err := Dial(args[0])
	if err != nil {
		return err
	}
	device, err := newDevice(c)
	if err != nil {
		return err
	}
	f, err := openFence(c, device, 3)
	if err != nil {
		return err
	}
	fmt.Println("open")
	for v := uint64(1); v < 2000; v += 2 {
		if st := f.await(v); !st.OK() {
			return fmt.Errorf("wait for %d: %w", v, st)
		}
		if st := f.raise(v + 1); !st.OK() {
			return fmt.Errorf("signal %d: %w", v+1, st)
		}
	}
	return c.Close()
}
