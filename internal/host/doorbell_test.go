package host

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/page"
)

// A program writes its page and reads the other, and the words are where the protocol
// says, in another mapping too.
func TestDoorbellPages(t *testing.T) {
	h, err := New()
	if err != nil {
		t.Fatal(err)
	}
	held, mapped := h.held, page.Mapped()
	m, st := h.NewDoorbell(process(1000))
	if !st.OK() {
		t.Fatal(st)
	}
	files, st := m.Files()
	if !st.OK() || len(files) != 2 {
		t.Fatalf("%v, %d descriptors", st, len(files))
	}
	program, err := page.Map(files[0].FD, page.PageSize, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := page.Map(files[1].FD, page.PageSize, true); err == nil {
		t.Error("the program can map the status for writing")
	}
	status, err := page.Map(files[1].FD, page.PageSize, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := unix.Ftruncate(f.FD, 0); err == nil {
			t.Error("the memory can be taken away")
		}
	}
	w := m.Words()
	program.Word64(0).Store(1)
	program.Word64(64).Store(2)
	program.Word64(128).Store(3)
	w.Status.Store(uint64(abi.DoorbellDisconnectedAbort))
	if w.Bell.Load() != 1 || w.Secondary.Load() != 2 || w.LastQueued.Load() != 3 || status.Word64(0).Load() != uint64(abi.DoorbellDisconnectedAbort) {
		t.Errorf("the words are %d, %d, %d, %d", w.Bell.Load(), w.Secondary.Load(), w.LastQueued.Load(), status.Word64(0).Load())
	}
	m.Free()
	if status.Word64(0).Load() != uint64(abi.DoorbellDisconnectedAbort) {
		t.Error("the program's mapping went, too")
	}
	if _, st := m.Files(); st != abi.StatusNoMemory {
		t.Errorf("descriptors of what is gone: %v", st)
	}
	for _, p := range []*page.Memory{program, status} {
		p.Unmap()
	}
	for _, f := range files {
		close1(f.FD)
	}
	if h.held != held || page.Mapped() != mapped || len(h.mine) != 0 {
		t.Errorf("left behind: %d descriptors, %d mappings, %v", h.held-held, page.Mapped()-mapped, h.mine)
	}
	h.Stop()
}

// A user has no more of them than there are descriptors for him; others have theirs.
func TestDoorbellLimit(t *testing.T) {
	h, err := New()
	if err != nil {
		t.Fatal(err)
	}
	h.limit = 160
	var all []kernel.DoorbellMemory
	for {
		m, st := h.NewDoorbell(process(1000))
		if st == abi.StatusNoMemory {
			break
		}
		all = append(all, m)
	}
	other, st := h.NewDoorbell(process(1001))
	if len(all) != 60 || !st.OK() {
		t.Errorf("one user has %d, another gets %v", len(all), st)
	}
	for _, m := range append(all, other) {
		m.Free()
	}
	if h.held != 0 {
		t.Errorf("%d descriptors are left", h.held)
	}
	h.Stop()
}

// In this address space nothing is to be mapped.
func TestDoorbellInProcess(t *testing.T) {
	var h Host
	p := process(0)
	p.Info.InProcess = true
	m, st := h.NewDoorbell(p)
	files, fst := m.Files()
	if !st.OK() || !fst.OK() || len(files) != 0 {
		t.Fatalf("%v, %v, %d descriptors", st, fst, len(files))
	}
	w := m.Words()
	for i, word := range []interface{ Load() uint64 }{w.Bell, w.Secondary, w.LastQueued, w.Status} {
		if word.Load() != 0 {
			t.Errorf("word %d is %d", i, word.Load())
		}
	}
	m.Free()
}
