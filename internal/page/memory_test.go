package page

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func file(t *testing.T, fd int) *os.File {
	t.Helper()
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(own), "memory")
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestTwoMappingsAreOnePage(t *testing.T) {
	before := Mapped()
	m, err := NewPage()
	if err != nil {
		t.Fatal(err)
	}
	defer m.CloseFD()
	other, err := Map(m.FD(), PageSize, true)
	if err != nil {
		t.Fatal(err)
	}
	m.View().Cell.Init(3)
	other.View().Cell.Raise(7)
	other.View().slot(PageSlots - 1).Store(9)
	if m.View().Cell.Value() != 7 || m.View().slot(PageSlots-1).Load() != 9 {
		t.Fatal("one page, two contents")
	}
	if n := Mapped(); n < before+1 { // older ones may go meanwhile
		t.Errorf("%d mappings, %d before two were made", n, before)
	}
	if other.FD() != -1 || m.Size() != PageSize || m.Base() == other.Base() {
		t.Fatalf("fd %d, size %d", other.FD(), m.Size())
	}
	m.Unmap()
	m.Unmap() // again is nothing
	if other.View().Cell.Value() != 7 {
		t.Fatal("the other mapping must stay")
	}
}

// No holder can change the size or the seals: that would be SIGBUS for the others.
func TestSeals(t *testing.T) {
	page, err := NewPage()
	if err != nil {
		t.Fatal(err)
	}
	slab, err := NewSlab()
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]*Memory{"page": page, "slab": slab, "bells": newMappedBells(t).Memory()} {
		for _, size := range []int64{0, int64(m.Size()) - 1, int64(m.Size()) + 1} {
			if err := unix.Ftruncate(m.FD(), size); err != unix.EPERM {
				t.Errorf("%s: truncate to %d: %v, want EPERM", name, size, err)
			}
		}
		if _, err := unix.FcntlInt(uintptr(m.FD()), unix.F_ADD_SEALS, unix.F_SEAL_WRITE); err != unix.EPERM {
			t.Errorf("%s: another seal: %v, want EPERM", name, err)
		}
		if flags, _ := unix.FcntlInt(uintptr(m.FD()), unix.F_GETFD, 0); flags&unix.FD_CLOEXEC == 0 {
			t.Errorf("%s: would be inherited by exec", name)
		}
		out, err := runChild("shrink", nil, file(t, m.FD()))
		if err != nil || out != "EPERM" {
			t.Errorf("%s: another process: %q, %v", name, out, err)
		}
	}
	page.CloseFD()
	slab.CloseFD()
}

func childShrink() { fmt.Println(unix.ErrnoName(unix.Ftruncate(3, 0).(unix.Errno))) }

// A read-only descriptor maps read-only, cannot be mapped for writing, and a store
// through it is SIGSEGV.
func TestReadOnly(t *testing.T) {
	m, err := NewPage()
	if err != nil {
		t.Fatal(err)
	}
	defer m.CloseFD()
	m.View().Cell.Init(42)
	ro, err := m.ReadOnly()
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(ro)
	if _, err := Map(ro, PageSize, true); !errors.Is(err, unix.EACCES) {
		t.Errorf("writable mapping of it: %v, want EACCES", err)
	}
	view, err := Map(ro, PageSize, false)
	if err != nil {
		t.Fatal(err)
	}
	if v := view.View().Cell.Value(); v != 42 {
		t.Errorf("a viewer sees %d", v)
	}
	out, err := runChild("write-read-only", nil, file(t, ro))
	if err == nil || !strings.HasPrefix(out, "value 42\n") || !strings.Contains(out, "SIGSEGV") {
		t.Errorf("a store through it: %v\n%s", err, out)
	}
}

func childWriteReadOnly() {
	m, err := Map(3, PageSize, false)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("value", m.View().Cell.Value())
	m.store(43)
	fmt.Println("stored")
}

// Another user with a read-only descriptor can neither map it for writing nor reopen
// it. A memory file as the system makes it he can.
func TestReopenByAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can start a process of another user")
	}
	nobody := &syscall.Credential{Uid: 65534, Gid: 65534}
	m, err := NewPage()
	if err != nil {
		t.Fatal(err)
	}
	defer m.CloseFD()
	born, err := memfd("born")
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(born)
	if out, err := runChild("reopen", nobody, file(t, born)); err != nil || out != "opened" {
		t.Fatalf("the test must see the hole that narrowing closes: %q, %v", out, err)
	}
	ro, err := m.ReadOnly()
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(ro)
	if out, err := runChild("reopen", nobody, file(t, ro)); err != nil || out != "EACCES" {
		t.Errorf("reopening: %q, %v; want EACCES", out, err)
	}
	if out, err := runChild("map-both-ways", nobody, file(t, ro)); err != nil || out != "read <nil>, write EACCES" {
		t.Errorf("mapping: %q, %v", out, err)
	}
}

func childReopen() {
	fd, err := unix.Open("/proc/self/fd/3", unix.O_RDWR, 0)
	if err != nil {
		fmt.Println(unix.ErrnoName(err.(unix.Errno)))
		return
	}
	_ = unix.Close(fd)
	fmt.Println("opened")
}

func childMapBothWays() {
	_, read := Map(3, PageSize, false)
	_, write := Map(3, PageSize, true)
	var errno unix.Errno
	if !errors.As(write, &errno) {
		fmt.Println("read", read, "and write", write)
		return
	}
	fmt.Printf("read %v, write %s\n", read, unix.ErrnoName(errno))
}

// mapped counts the process's mappings of memory with a name.
func mapped(t *testing.T, name string) int {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "/memfd:"+name)
}

// A View keeps its memory mapped; when nothing is left the memory goes by itself.
func TestUnmappedWhenUnreachable(t *testing.T) {
	const name = "dxgsync-test"
	views := make([]View, 0, 50)
	for range cap(views) {
		m, err := create(name, PageSize)
		if err != nil {
			t.Fatal(err)
		}
		m.CloseFD()
		views = append(views, m.View())
	}
	runtime.GC()
	runtime.GC()
	if n := mapped(t, name); n != len(views) {
		t.Fatalf("%d mappings while the views are in use, want %d", n, len(views))
	}
	for _, v := range views {
		v.Cell.Raise(1) // faults if it is gone
	}
	runtime.KeepAlive(views)
	clear(views)
	// Cleanups run on a goroutine after a collection; how soon is not for us to say.
	for mapped(t, name) > 0 {
		runtime.GC()
		runtime.Gosched()
	}
}

func TestMapRefusals(t *testing.T) {
	if _, err := Map(-1, PageSize, true); !errors.Is(err, unix.EBADF) {
		t.Errorf("no descriptor: %v, want EBADF", err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if _, err := Map(int(r.Fd()), PageSize, false); err == nil {
		t.Error("a pipe was mapped")
	}
	if _, err := MapBells(int(r.Fd())); err == nil {
		t.Error("a pipe became a bell table")
	}
}

// Without descriptors every maker fails cleanly and leaves nothing behind.
func TestNoDescriptors(t *testing.T) {
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	m, err := NewPage()
	if err != nil {
		t.Fatal(err)
	}
	defer m.CloseFD()
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	_, pageErr := NewPage()
	_, slabErr := NewSlab()
	_, bellsErr := CreateBells()
	_, roErr := m.ReadOnly()
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"page": pageErr, "slab": slabErr, "bells": bellsErr, "read-only": roErr} {
		if !errors.Is(err, unix.EMFILE) {
			t.Errorf("%s: %v, want EMFILE", name, err)
		}
	}
}

// The cells of a slab are apart from each other, and a used one is made new by Reset.
func TestCellsOfASlab(t *testing.T) {
	m, err := NewSlab()
	if err != nil {
		t.Fatal(err)
	}
	defer m.CloseFD()
	for i := range SlabCells {
		v := m.CellView(i * CellSize)
		v.Reset(uint64(i))
		for n := range CellSlots {
			v.Claim(uint32(i*CellSlots + n + 1))
		}
		v.Arm(uint64(i))
	}
	for i := range SlabCells {
		v := m.CellView(i * CellSize)
		if v.Cell.Value() != uint64(i) || v.Cell.Monitored() != uint64(i) || v.slot(CellSlots-1).Load() != uint32((i+1)*CellSlots) {
			t.Fatalf("cell %d was written by another: %+v", i, v.Cell)
		}
		v.Reset(5)
		if v.Cell.Value() != 5 || v.Sleepers() != 0 || v.Cell.Monitored() != MvalNone || v.slot(0).Load() != 0 {
			t.Fatalf("cell %d is not new: %+v", i, v.Cell)
		}
	}
}

func TestCellViewPanics(t *testing.T) {
	m, err := NewSlab()
	if err != nil {
		t.Fatal(err)
	}
	defer m.CloseFD()
	for _, off := range []int{-64, -1, 1, 63, SlabSize, SlabSize - 63} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("offset %d was accepted", off)
				}
			}()
			m.CellView(off)
		}()
	}
}
