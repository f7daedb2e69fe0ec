package host

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/page"
)

func TestAllocationMemory(t *testing.T) {
	h, _ := newHost(t)
	m, st := h.NewAllocationMemory(1, 2*page.PageSize)
	if !st.OK() {
		t.Fatal(st)
	}
	fd, st := m.File()
	if !st.OK() {
		t.Fatal(st)
	}
	defer unix.Close(fd)
	there, err := page.Map(fd, 2*page.PageSize, true)
	if err != nil {
		t.Fatal(err)
	}
	defer there.Unmap()
	if n := m.Write(page.PageSize, []byte("hello")); n != 5 || string(there.Bytes()[page.PageSize:][:5]) != "hello" {
		t.Errorf("%d bytes, %q", n, there.Bytes()[page.PageSize:][:5])
	}
	copy(there.Bytes()[8:], "world...")
	b := make([]byte, 5)
	if n := m.Read(8, b); n != 5 || string(b) != "world" {
		t.Errorf("%d bytes, %q", n, b)
	}
	for _, size := range []int{4, 8} {
		if !m.Store(16, size, 0x11) {
			t.Errorf("store %d bytes", size)
		}
		if v, ok := m.Load(16, size); !ok || v != 0x11 {
			t.Errorf("load %d bytes: %#x, %v", size, v, ok)
		}
		if m.Store(2*page.PageSize, size, 1) || m.Store(1<<63, size, 1) {
			t.Errorf("store %d bytes behind the end", size)
		}
		if _, ok := m.Load(2*page.PageSize, size); ok {
			t.Errorf("load %d bytes behind the end", size)
		}
	}
	if n := m.Read(2*page.PageSize-2, b); n != 2 {
		t.Errorf("read over the end: %d bytes", n)
	}
	if err := unix.Ftruncate(fd, 0); err == nil {
		t.Error("whoever has it can take the memory away from under us")
	}
	m.Free()
	if _, st := m.File(); st != abi.StatusInvalidParameter {
		t.Errorf("a descriptor of freed memory: %v", st)
	}
	if there.Bytes()[page.PageSize] != 'h' {
		t.Error("a mapping elsewhere lost its memory")
	}
	if h.mine[1] != 0 {
		t.Errorf("%d descriptors are counted", h.mine[1])
	}
	half, st := h.NewAllocationMemory(1, maxHeapBytes/2+page.PageSize)
	if !st.OK() {
		t.Fatal(st)
	}
	if _, st := h.NewAllocationMemory(1, maxHeapBytes/2); st != abi.StatusNoMemory {
		t.Errorf("more than a user may have: %v", st)
	}
	if other, st := h.NewAllocationMemory(2, maxHeapBytes/2); !st.OK() {
		t.Errorf("for another user: %v", st)
	} else {
		other.Free()
	}
	half.Free()
	if len(h.heaps) != 0 {
		t.Errorf("memory is still counted: %v", h.heaps)
	}
	if _, st := h.NewAllocationMemory(1, 1<<63); st != abi.StatusNoMemory {
		t.Errorf("more than can be mapped: %v", st)
	}
}

// TestMemoryOfThisProcess: what goes is gone, and that is no crash.
func TestMemoryOfThisProcess(t *testing.T) {
	h, _ := newHost(t)
	own, err := unix.Mmap(-1, 0, 2*page.PageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	m := h.ClientMemory(&kernel.Process{Info: kernel.ProcessInfo{InProcess: true}}, uint64(uintptr(unsafe.Pointer(&own[0]))))
	if n := m.Write(1, []byte("hello")); n != 5 || string(own[1:6]) != "hello" {
		t.Errorf("%d bytes, %q", n, own[1:6])
	}
	if !m.Store(8, 8, 77) || own[8] != 77 {
		t.Error("store")
	}
	if v, ok := m.Load(8, 4); !ok || v != 77 {
		t.Errorf("load: %d, %v", v, ok)
	}
	if err := unix.Mprotect(own[page.PageSize:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 100)
	if n := m.Read(page.PageSize-50, b); n != 50 {
		t.Errorf("read over the end: %d bytes", n)
	}
	if err := unix.Munmap(own); err != nil {
		t.Fatal(err)
	}
	if m.Store(0, 8, 1) || m.Store(1<<62, 8, 1) || m.Read(0, b) != 0 || m.Write(1<<63, b) != 0 {
		t.Error("memory that is not mapped can be had")
	}
}

// TestMemoryOfAClient: a child, which every system lets us look into.
func TestMemoryOfAClient(t *testing.T) {
	h, _ := newHost(t)
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	// Its image is there when it answers.
	echo := make([]byte, 1)
	if _, err := in.Write([]byte{7}); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, echo); err != nil {
		t.Fatal(err)
	}
	maps, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/maps")
	if err != nil {
		t.Fatal(err)
	}
	// The first mapping is the beginning of its image.
	var from uint64
	for _, c := range maps[:bytes.IndexByte(maps, '-')] {
		from = from<<4 | uint64(bytes.IndexByte([]byte("0123456789abcdef"), c))
	}
	who := kernel.ProcessInfo{PID: cmd.Process.Pid, UID: h.user}
	b := make([]byte, 4)
	if n := h.ClientMemory(&kernel.Process{Info: who}, from).Read(0, b); n != 4 || string(b) != "\x7fELF" {
		t.Errorf("%d bytes, %q", n, b)
	}
	who.UID++
	m := h.ClientMemory(&kernel.Process{Info: who}, from)
	if m.Read(0, b) != 0 || m.Write(0, b) != 0 || m.Store(0, 8, 1) {
		t.Error("the memory of another user's process can be had")
	}
	if _, st := m.File(); st != abi.StatusInvalidParameter {
		t.Errorf("a descriptor of it: %v", st)
	}
}
