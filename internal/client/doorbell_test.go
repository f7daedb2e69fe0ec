package client

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/page"
	"github.com/dxgsync/dxgsync/internal/server"
)

// A kernelBell is the kernel's side of the pages of a doorbell.
type kernelBell struct{ program, status *page.Memory }

func newKernelBell(t *testing.T) kernelBell {
	t.Helper()
	b := kernelBell{must(page.NewPage())(t), must(page.NewPage())(t)}
	t.Cleanup(func() {
		for _, m := range []*page.Memory{b.program, b.status} {
			_ = unix.Close(m.FD())
			m.Unmap()
		}
	})
	b.status.Word64(0).Store(uint64(abi.DoorbellDisconnectedRetry))
	return b
}

// files are what an answer brings.
func (b kernelBell) files(t *testing.T) []abi.OutFile {
	t.Helper()
	return []abi.OutFile{copied(t, b.program.FD()), copied(t, b.status.FD())}
}

func copied(t *testing.T, fd int) abi.OutFile {
	t.Helper()
	return abi.OutFile{FD: must(unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 3))(t)}
}

// TestDoorbell: both sides see the same words, and the daemon's death is the doorbell's.
func TestDoorbell(t *testing.T) {
	address := filepath.Join(t.TempDir(), "socket")
	p, _ := start(t, "daemon", nil, address)
	c := dial(t, address)
	kernel := newKernelBell(t)
	before := openFiles(t)
	d, st := c.Doorbell(kernel.files(t))
	if !st.OK() {
		t.Fatal(st)
	}
	if n := openFiles(t); n != before {
		t.Errorf("%d descriptors, %d before", n, before)
	}
	if st := d.Status(); st != abi.DoorbellDisconnectedRetry {
		t.Errorf("not connected: %v", st)
	}
	d.Ring(4, 6)
	for at, want := range map[int]uint64{page.DoorbellAt: 4, page.DoorbellLastQueuedAt: 6, page.DoorbellSecondaryAt: 0} {
		if got := kernel.program.Word64(at).Load(); got != want {
			t.Errorf("%d at %d, want %d", got, at, want)
		}
	}
	kernel.status.Word64(0).Store(uint64(abi.DoorbellConnected))
	if st := d.Status(); st != abi.DoorbellConnected {
		t.Errorf("connected: %v", st)
	}
	p.kill()
	<-c.Dead()
	if st := d.Status(); st != abi.DoorbellDisconnectedAbort {
		t.Errorf("the daemon is dead: %v", st)
	}
	d.Ring(5, 7) // harms nobody
}

// TestDoorbellWithoutPages: what cannot be mapped leaves nothing behind.
func TestDoorbellWithoutPages(t *testing.T) {
	_, address := newDaemon(t, server.Limits{})
	c := dial(t, address)
	b := newKernelBell(t)
	pipe := make([]int, 2)
	if err := unix.Pipe2(pipe, unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(pipe[0])
	defer unix.Close(pipe[1])
	before, mapped := openFiles(t), page.Mapped()
	for name, files := range map[string][]abi.OutFile{
		"none": nil, "one": {copied(t, b.program.FD())}, "three": append(b.files(t), copied(t, pipe[0])),
		"no program's page": {copied(t, pipe[0]), copied(t, b.status.FD())},
		"no status":         {copied(t, b.program.FD()), copied(t, pipe[1])},
	} {
		if _, st := c.Doorbell(files); st != abi.StatusNoMemory {
			t.Errorf("%s: %v", name, st)
		}
	}
	if n := page.Mapped(); n != mapped {
		t.Errorf("%d mappings, %d before", n, mapped)
	}
	if n := openFiles(t); n != before {
		t.Errorf("%d descriptors, %d before", n, before)
	}
}
