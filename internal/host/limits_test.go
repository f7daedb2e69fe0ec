package host

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
)

// At the limit of descriptors everything is NO_MEMORY, the reserve is left, and nothing
// stays behind.
func TestDescriptorLimit(t *testing.T) {
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	before := openFiles(t)
	low := unix.Rlimit{Cur: uint64(before) + reserve + 60, Max: old.Max}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
			t.Fatal(err)
		}
	}()
	h, err := New()
	if err != nil {
		t.Fatal(err)
	}
	defer h.Stop()
	// Descriptors that the host does not know of count too.
	foreign := make([]int, 20)
	for i := range foreign {
		foreign[i] = dup(t, 0)
	}
	var kept []int
	var memories []kernel.Memory
	makers := map[string]func() abi.Status{
		"handle": func() abi.Status {
			_, fd, st := h.NewNTHandle()
			if st.OK() {
				kept = append(kept, fd)
			}
			return st
		},
		"page": func() abi.Status {
			m, st := h.SharedMemory(process(uint32(len(memories))), 0) // a user each
			if st.OK() {
				memories = append(memories, m)
			}
			return st
		},
	}
	for name, make := range makers {
		n := 0
		for make().OK() {
			if n++; n > 1000 {
				t.Fatalf("%s: no limit", name)
			}
		}
		status(t, name+" at the limit", make(), abi.StatusNoMemory)
	}
	_, st := h.PrivateMemory(process(0), 0)
	status(t, "cell at the limit", st, abi.StatusNoMemory)
	if len(memories) > 0 {
		_, _, st = memories[0].Grant(process(0))
		status(t, "grant at the limit", st, abi.StatusNoMemory)
	}
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	_, st = h.Event(process(1000), event)
	status(t, "event at the limit", st, abi.StatusNoMemory)
	close1(event)
	left := 0
	for ; left < reserve; left++ {
		fd, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			break
		}
		foreign = append(foreign, fd)
	}
	if left < reserve {
		t.Errorf("%d descriptors are left for others, want %d", left, reserve)
	}
	for _, fd := range append(foreign, kept...) {
		close1(fd)
	}
	for _, m := range memories {
		m.Free()
	}
}

// At the limit of mappings memory is NO_MEMORY.
func TestMappingLimit(t *testing.T) {
	h, _ := newHost(t)
	p := process(1000)
	if _, st := h.Bells(1000); !st.OK() {
		t.Fatal(st)
	}
	before := openFiles(t)
	h.maps.most = 0
	_, st := h.SharedMemory(p, 0)
	status(t, "page", st, abi.StatusNoMemory)
	_, st = h.PrivateMemory(p, 0)
	status(t, "cell", st, abi.StatusNoMemory)
	if n := openFiles(t); n != before {
		t.Errorf("%d descriptors, want %d", n, before)
	}
	h.maps.most = newMapLimit().most
	m, st := h.SharedMemory(p, 0)
	status(t, "page, below the limit", st, abi.StatusSuccess)
	m.Free()
	h.Detach(p)
}

// One user cannot take what all have.
func TestShareOfAUser(t *testing.T) {
	h, _ := newHost(t)
	h.maps.most = 8
	greedy, modest := process(1), process(2)
	var held []kernel.Memory
	defer func() {
		for _, m := range held {
			m.Free()
		}
	}()
	if !h.takeFor(1, 6) {
		t.Fatal("three quarters of 8 are 6")
	}
	if h.takeFor(1, 1) {
		t.Error("a seventh for the same user")
	}
	if !h.takeFor(2, 1) {
		t.Error("nothing left for another user")
	}
	h.giveFor(1, 6)
	h.giveFor(2, 1)
	h.maps.most = newMapLimit().most
	for _, p := range []*kernel.Process{greedy, modest} {
		m, st := h.SharedMemory(p, 0)
		status(t, "page", st, abi.StatusSuccess)
		held = append(held, m)
	}
	if len(h.mine) != 2 {
		t.Errorf("%d users are counted, want 2", len(h.mine))
	}
}
