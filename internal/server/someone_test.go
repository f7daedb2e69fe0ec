package server

import (
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"unicode/utf16"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/page"
	"github.com/dxgsync/dxgsync/internal/wire"
)

// A someone is a process of another user with a session that we speak through: the
// daemon knows who connected, and does not see who writes. The process lives until the
// test ends or it is killed, and tries for us what only its user can try.
type someone struct {
	*client
	uid    uint32
	cmd    *exec.Cmd
	wire   int // to the process
	device abi.Handle
	bell   uint32 // the first of its lines

	one, mutex abi.Handle // what greed is about
	gpu        *gpuSet    // likewise
	daemon     *Daemon    // for greed
	kept       []int      // descriptors
}

// needRoot skips, and says what is not tested then.
func needRoot(t *testing.T, what string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skipf("not tested: %s; only root can start processes of other users", what)
	}
}

// public serves a daemon at an address that everybody may connect to.
func public(t *testing.T, k kernel.Config) (*Daemon, string) {
	t.Helper()
	d, err := NewDaemon(k, Config{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, open := range []string{dir, filepath.Dir(dir)} { // to the directory and the one above, which is the test's too
		if err := os.Chmod(open, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "socket")
	l, err := Listen(path, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- d.Serve(l) }()
	t.Cleanup(func() {
		d.Close()
		<-served
		l.Close()
	})
	return d, path
}

// somebody starts a process of a user; without root it must be our own.
func somebody(t *testing.T, path string, uid, gid uint32, groups ...uint32) *someone {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs := os.NewFile(uintptr(fds[1]), "theirs")
	defer theirs.Close()
	s := &someone{uid: uid, wire: fds[0]}
	s.cmd = exec.Command("/proc/self/exe", path)
	s.cmd.Dir = "/"
	s.cmd.Env = append(os.Environ(), "DXGSYNC_TEST_ROLE=somebody", "GOCOVERDIR=")
	s.cmd.ExtraFiles = []*os.File{theirs}
	s.cmd.Stderr = os.Stderr
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 {
		s.cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uid, Gid: gid, Groups: groups}
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.die)
	link, err := receiveFile(s.wire)
	if err != nil {
		t.Fatal("no session of somebody's: ", err)
	}
	s.client = &client{t: t, link: wire.NewLink(link)}
	t.Cleanup(s.link.Close)
	st, hello := s.hello(1)
	if !st.OK() || hello.UID != uid {
		t.Fatalf("hello: %v as user %d, want %d", st, hello.UID, uid)
	}
	s.bell = hello.FirstBell
	s.device = s.openDevice()
	return s
}

// die kills the process. Its session is still open here, where nobody can use it.
func (s *someone) die() {
	if s.wire >= 0 {
		_ = unix.Close(s.wire)
		s.wire = -1
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	}
}

// beSomebody hands its session to the test, then tries what can be done with each
// descriptor that it is sent.
func beSomebody(args []string) error {
	link, err := wire.Connect(args[0])
	if err != nil {
		return err
	}
	if err := unix.Sendmsg(3, []byte{0}, unix.UnixRights(link.FD()), nil, 0); err != nil {
		return err
	}
	for {
		fd, err := receiveFile(3)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := unix.Write(3, []byte(tryToWrite(fd))); err != nil {
			return err
		}
		_ = unix.Close(fd)
	}
}

// tryToWrite says how writing to a memory file can be had.
func tryToWrite(fd int) string {
	how := "none"
	if _, err := page.Map(fd, page.PageSize, true); err == nil {
		how = "map"
	}
	if _, err := unix.Pwrite(fd, []byte{1}, 0); err == nil {
		how += " write"
	}
	for _, flags := range []int{unix.O_RDWR, unix.O_WRONLY} {
		if again, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", fd), flags, 0); err == nil {
			how += " reopen"
			_ = unix.Close(again)
		}
	}
	return how
}

// writing is what the process can do to write to a memory file.
func (s *someone) writing(fd int) string {
	s.t.Helper()
	if err := unix.Sendmsg(s.wire, []byte{0}, unix.UnixRights(fd), nil, 0); err != nil {
		s.t.Fatal(err)
	}
	answer := make([]byte, 100)
	n, err := unix.Read(s.wire, answer)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(answer[:n])
}

func receiveFile(socket int) (int, error) {
	rights := make([]byte, unix.CmsgSpace(4))
	n, more, _, _, err := unix.Recvmsg(socket, make([]byte, 1), rights, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return -1, err
	}
	if n == 0 {
		return -1, io.EOF
	}
	list, err := unix.ParseSocketControlMessage(rights[:more])
	if err != nil || len(list) != 1 {
		return -1, fmt.Errorf("no descriptor came: %w", err)
	}
	fds, err := unix.ParseUnixRights(&list[0])
	if err != nil {
		return -1, err
	}
	return fds[0], nil
}

// ask does a request, which must reach the kernel.
func (c *client) ask(r *abi.Request) abi.Status {
	c.t.Helper()
	st, err := c.do(r)
	if err != nil {
		c.t.Fatalf("%s: %v", r.Op.Name, err)
	}
	return st
}

// openDevice opens the first adapter and makes a device on it.
func (c *client) openDevice() abi.Handle {
	c.t.Helper()
	adapter := c.openAdapter()
	r := request(abi.OpCreateDevice)
	abi.View[abi.CreateDevice](r.Record).HAdapter = adapter
	c.must(r, abi.StatusSuccess)
	device := abi.View[abi.CreateDevice](r.Record).HDevice
	r = request(abi.OpCloseAdapter)
	abi.View[abi.CloseAdapter](r.Record).HAdapter = adapter
	c.must(r, abi.StatusSuccess)
	return device
}

// openAdapter opens the first adapter.
func (c *client) openAdapter() abi.Handle {
	c.t.Helper()
	r := request(abi.OpEnumAdapters2)
	abi.View[abi.EnumAdapters2](r.Record).NumAdapters = 1
	r.Arrays[0] = make([]byte, 20)
	c.must(r, abi.StatusSuccess)
	return abi.Handle(binary.LittleEndian.Uint32(r.Arrays[0]))
}

const ntShared = abi.SyncObjectShared | abi.SyncObjectNtSecuritySharing

// create makes an object on a device; a page that comes with it is closed.
func (c *client) create(device abi.Handle, kind abi.SyncObjectType, flags abi.SyncObjectFlags) (local, global abi.Handle, st abi.Status) {
	c.t.Helper()
	r := request(abi.OpCreateSynchronizationObject2)
	rec := abi.View[abi.CreateSynchronizationObject2](r.Record)
	rec.HDevice, rec.Info.Type, rec.Info.Flags = device, kind, flags
	st = c.ask(r)
	c.drop(r)
	return rec.HSyncObject, rec.Info.SharedHandle, st
}

// share makes an NT handle, named if there is a name, with a descriptor if there is
// one.
func (c *client) share(name string, security []byte, access object.Access, objects ...abi.Handle) (fd int, st abi.Status) {
	c.t.Helper()
	r := request(abi.OpShareObjects)
	rec := abi.View[abi.ShareObjects](r.Record)
	rec.ObjectCount, rec.DesiredAccess = uint32(len(objects)), uint32(access)
	r.Arrays[0] = handleArray(objects...)
	r.Arrays[1], r.Arrays[3] = attributes(name)
	r.Arrays[2], r.Arrays[4] = make([]byte, 8), security
	return fileOf(r, c.ask(r))
}

// byName makes an NT handle on the synchronization object of a name.
func (c *client) byName(name string, access object.Access) (fd int, st abi.Status) {
	c.t.Helper()
	r := request(abi.OpOpenSyncObjectNtHandleFromName)
	abi.View[abi.OpenSyncObjectNtHandleFromName](r.Record).DwDesiredAccess = uint32(access)
	r.Arrays[0], r.Arrays[1] = attributes(name)
	return fileOf(r, c.ask(r))
}

func fileOf(r *abi.Request, st abi.Status) (int, abi.Status) {
	if !st.OK() {
		return -1, st
	}
	return r.Out[0].FD, st
}

// attributes are an OBJECT_ATTRIBUTES and the name that it leads to.
func attributes(name string) (record, utf16le []byte) {
	record = make([]byte, 0x30)
	record[0] = 0x30
	if name == "" {
		return record, nil
	}
	for _, unit := range utf16.Encode([]rune(`\BaseNamedObjects\` + name)) {
		utf16le = binary.LittleEndian.AppendUint16(utf16le, unit)
	}
	return record, utf16le
}

// open opens an NT handle on a device. The descriptor of the page, if one comes, is
// the caller's.
func (c *client) open(device abi.Handle, fd int) (h abi.Handle, memory int, st abi.Status) {
	c.t.Helper()
	r := request(abi.OpOpenSyncObjectFromNtHandle2)
	rec := abi.View[abi.OpenSyncObjectFromNtHandle2](r.Record)
	rec.HDevice, r.Files[0] = device, fd
	if st = c.ask(r); len(r.Out) == 0 {
		return rec.HSyncObject, -1, st
	}
	return rec.HSyncObject, r.Out[0].FD, st
}

func (c *client) openGlobal(g abi.Handle) (abi.Handle, abi.Status) {
	c.t.Helper()
	r := request(abi.OpOpenSynchronizationObject)
	rec := abi.View[abi.OpenSynchronizationObject](r.Record)
	rec.HSharedHandle = g
	st := c.ask(r)
	return rec.HSyncObject, st
}

func (c *client) destroy(h abi.Handle) abi.Status {
	c.t.Helper()
	r := request(abi.OpDestroySynchronizationObject)
	abi.View[abi.DestroySynchronizationObject](r.Record).HSyncObject = h
	return c.ask(r)
}

// signal and wait are about one fence; a wait for a value to come is PENDING.
func (s *someone) signal(h abi.Handle, value uint64) abi.Status {
	s.t.Helper()
	r := request(abi.OpSignalSynchronizationObjectFromCpu)
	rec := abi.View[abi.SignalSynchronizationObjectFromCpu](r.Record)
	rec.HDevice, rec.ObjectCount = s.device, 1
	r.Arrays[0], r.Arrays[1] = point(h, value)
	return s.ask(r)
}

func (s *someone) wait(h abi.Handle, value uint64) abi.Status {
	s.t.Helper()
	r := request(abi.OpWaitForSynchronizationObjectFromCpu)
	rec := abi.View[abi.WaitForSynchronizationObjectFromCpu](r.Record)
	rec.HDevice, rec.ObjectCount = s.device, 1
	r.Arrays[0], r.Arrays[1] = point(h, value)
	r.Bell, r.Ticket = s.bell, s.bell
	return s.ask(r)
}

func point(h abi.Handle, value uint64) (handle, target []byte) {
	return handleArray(h), binary.LittleEndian.AppendUint64(nil, value)
}

// handleArray makes an array of handles.
func handleArray(hs ...abi.Handle) (b []byte) {
	for _, h := range hs {
		b = binary.LittleEndian.AppendUint32(b, uint32(h))
	}
	return b
}
