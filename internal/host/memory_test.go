package host

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/page"
)

// grant grants m to p and returns the grant with its descriptor, -1 if none.
func grant(t *testing.T, m kernel.Memory, p *kernel.Process) (abi.Grant, int) {
	t.Helper()
	g, files, st := m.Grant(p)
	if !st.OK() {
		t.Fatal(st)
	}
	if len(files) > 1 || (len(files) == 1) != (g.HasFile == 1) {
		t.Fatalf("%d files, HasFile %d", len(files), g.HasFile)
	}
	if len(files) == 0 {
		return g, -1
	}
	if files[0].Borrowed {
		t.Error("a borrowed descriptor may be another file when it is sent")
	}
	t.Cleanup(func() { close1(files[0].FD) })
	return g, files[0].FD
}

func writable(t *testing.T, fd int) bool {
	t.Helper()
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		t.Fatal(err)
	}
	return flags&unix.O_ACCMODE != unix.O_RDONLY
}

func TestSharedMemory(t *testing.T) {
	h, _ := newHost(t)
	maker := process(1000)
	m, st := h.SharedMemory(maker, 42)
	if !st.OK() {
		t.Fatal(st)
	}
	if m.View().Cell.Value() != 42 || m.View().Slots != page.PageSlots {
		t.Fatalf("value %d, %d slots", m.View().Cell.Value(), m.View().Slots)
	}
	for _, row := range []struct {
		name     string
		p        *kernel.Process
		writable bool
	}{
		{"maker", maker, true},
		{"same user", process(1000), true},
		{"another user", process(1001), false},
		{"root", process(0), false}, // its bells are in another table
	} {
		g, fd := grant(t, m, row.p)
		want := abi.Grant{Kind: abi.GrantPage, Slots: page.PageSlots, Size: page.PageSize, HasFile: 1}
		if row.writable {
			want.Writable = 1
		}
		if g != want || writable(t, fd) != row.writable {
			t.Errorf("%s: %+v, descriptor writable %v; want %+v", row.name, g, writable(t, fd), want)
		}
		mem, err := page.Map(fd, page.PageSize, row.writable)
		if err != nil {
			t.Fatalf("%s: %v", row.name, err)
		}
		m.View().Cell.Raise(m.View().Cell.Value() + 1)
		if got := mem.View().Cell.Value(); got != m.View().Cell.Value() {
			t.Errorf("%s sees %d, want %d", row.name, got, m.View().Cell.Value())
		}
		mem.Unmap()
	}
	own := &kernel.Process{Info: kernel.ProcessInfo{UID: 1000, InProcess: true}}
	if g, fd := grant(t, m, own); fd != -1 || g.Writable != 1 {
		t.Errorf("in process: %+v, descriptor %d", g, fd)
	}
	m.Free()
	m.WakeAll() // by somebody who was about to when it was freed
}

// The memory of an in-process fence stays while somebody can use it, the others' goes
// at once. Both give their descriptor back.
func TestFreeGivesBack(t *testing.T) {
	h, _ := newHost(t)
	if _, st := h.Bells(1000); !st.OK() {
		t.Fatal(st)
	}
	before := openFiles(t)
	for _, inProcess := range []bool{false, true} {
		p := &kernel.Process{Info: kernel.ProcessInfo{UID: 1000, InProcess: inProcess}}
		m, st := h.SharedMemory(p, 1)
		if !st.OK() {
			t.Fatal(st)
		}
		g, files, st := m.Grant(p)
		if !st.OK() {
			t.Fatal(st)
		}
		if g.HasFile == 1 {
			close1(files[0].FD)
		}
		v := m.View()
		m.Free()
		if inProcess && v.Cell.Value() != 1 {
			t.Error("a fence that is being closed elsewhere lost its value")
		}
		if n := openFiles(t); n != before {
			t.Errorf("in process %v: %d descriptors, want %d", inProcess, n, before)
		}
	}
}

// Cells of slabs: distinct, new when used again, the slab's descriptor once.
func TestPrivateMemory(t *testing.T) {
	h, _ := newHost(t)
	if _, st := h.Bells(1000); !st.OK() {
		t.Fatal(st)
	}
	before := openFiles(t)
	p := process(1000)
	type place struct{ slab, offset uint32 }
	seen := map[place]kernel.Memory{}
	files := 0
	const cells = page.SlabCells + 3
	for i := range cells {
		m, st := h.PrivateMemory(p, uint64(i))
		if !st.OK() {
			t.Fatal(st)
		}
		g, out, st := m.Grant(p)
		if !st.OK() {
			t.Fatal(st)
		}
		if g.Kind != abi.GrantSlab || g.Writable != 1 || g.Slots != page.CellSlots || g.Size != page.SlabSize || m.View().Cell.Value() != uint64(i) {
			t.Fatalf("cell %d: %+v, value %d", i, g, m.View().Cell.Value())
		}
		at := place{g.Slab, g.Offset}
		if seen[at] != nil {
			t.Fatalf("cell %d: slab %d offset %d is in use", i, g.Slab, g.Offset)
		}
		seen[at] = m
		for _, o := range out {
			files++
			mem, err := page.Map(o.FD, page.SlabSize, true)
			if err != nil {
				t.Fatal(err)
			}
			if v := mem.CellView(int(g.Offset)).Cell.Value(); v != uint64(i) {
				t.Errorf("the client sees %d in cell %d", v, i)
			}
			mem.Unmap()
			close1(o.FD)
		}
	}
	if files != 2 {
		t.Errorf("%d slabs were sent, want 2", files)
	}
	for at, m := range seen {
		m.View().Claim(7)
		m.View().Saturate()
		m.Free()
		again, st := h.PrivateMemory(p, 5)
		if !st.OK() {
			t.Fatal(st)
		}
		if v := again.View(); v.Cell.Value() != 5 || v.Sleepers() != 0 || v.Cell.Monitored() != page.MvalNone {
			t.Fatalf("a cell that is used again is not new: value %d, %d sleepers", v.Cell.Value(), v.Sleepers())
		}
		seen[at] = again
		break
	}
	h.Detach(p) // the kernel frees the rest after that
	for _, m := range seen {
		m.Free()
		m.WakeAll()
	}
	if n := openFiles(t); n != before {
		t.Errorf("%d descriptors, want %d", n, before)
	}
}

// Slabs belong to one process each.
func TestSlabsAreNotShared(t *testing.T) {
	h, _ := newHost(t)
	a, b := process(1000), process(1000)
	ma, st := h.PrivateMemory(a, 1)
	if !st.OK() {
		t.Fatal(st)
	}
	mb, st := h.PrivateMemory(b, 2)
	if !st.OK() {
		t.Fatal(st)
	}
	_, fa := grant(t, ma, a)
	_, fb := grant(t, mb, b)
	var sa, sb unix.Stat_t
	if unix.Fstat(fa, &sa) != nil || unix.Fstat(fb, &sb) != nil || sa.Ino == sb.Ino {
		t.Error("two processes got one slab")
	}
	ma.Free()
	mb.Free()
	h.Detach(a)
	h.Detach(b)
}

// A process that has not got a slab's descriptor can have it again, and no other's.
func TestSlabFile(t *testing.T) {
	h, _ := newHost(t)
	p, other := process(1000), process(1000)
	if _, st := h.SlabFile(p, 0); st != abi.StatusInvalidParameter {
		t.Error("without slabs:", st)
	}
	m, st := h.PrivateMemory(p, 7)
	if !st.OK() {
		t.Fatal(st)
	}
	g, out, st := m.Grant(p)
	if !st.OK() || len(out) != 1 {
		t.Fatal(st, out)
	}
	close1(out[0].FD)
	if _, out, st := m.Grant(p); !st.OK() || len(out) != 0 {
		t.Fatal("the second grant:", st, out)
	}
	fd, st := h.SlabFile(p, g.Slab)
	if !st.OK() {
		t.Fatal(st)
	}
	mem, err := page.Map(fd, page.SlabSize, true)
	close1(fd)
	if err != nil {
		t.Fatal(err)
	}
	if v := mem.CellView(int(g.Offset)).Cell.Value(); v != 7 {
		t.Errorf("the cell reads %d", v)
	}
	if _, st := h.SlabFile(p, g.Slab+1); st != abi.StatusInvalidParameter {
		t.Error("beyond the last:", st)
	}
	if _, st := h.SlabFile(other, g.Slab); st != abi.StatusInvalidParameter {
		t.Error("another process's:", st)
	}
	m.Free()
	h.Detach(p)
	if _, st := h.SlabFile(p, g.Slab); st != abi.StatusInvalidParameter {
		t.Error("of a process that is gone:", st)
	}
}

func TestPrivateInProcessIsHeap(t *testing.T) {
	h, _ := newHost(t)
	before := openFiles(t)
	p := &kernel.Process{Info: kernel.ProcessInfo{UID: 1000, InProcess: true}}
	m, st := h.PrivateMemory(p, 9)
	if !st.OK() {
		t.Fatal(st)
	}
	if g, fd := grant(t, m, p); g != (abi.Grant{}) || fd != -1 || m.View().Cell.Value() != 9 {
		t.Errorf("%+v, descriptor %d, value %d", g, fd, m.View().Cell.Value())
	}
	m.Free()
	if n := openFiles(t); n != before {
		t.Errorf("%d descriptors, want %d", n, before)
	}
}

// A sweep through the host frees the dead's slots of the page and of the cell.
func TestSweepThroughHost(t *testing.T) {
	h, _ := newHost(t)
	p := process(1000)
	for name, make := range map[string]func(*kernel.Process, uint64) (kernel.Memory, abi.Status){
		"page": h.SharedMemory, "cell": h.PrivateMemory,
	} {
		m, st := make(p, 0)
		if !st.OK() {
			t.Fatal(st)
		}
		m.View().Claim(5)
		m.View().Claim(6)
		m.Sweep(p, func(b uint32) bool { return b == 5 })
		if m.View().Sleepers() != 1 {
			t.Errorf("%s: %d sleepers, want 1", name, m.View().Sleepers())
		}
		m.Free()
	}
	h.Detach(p)
}

// The same bell numbers are other lines for another user, who could not write the
// page: his death takes nobody's slot, and rings all.
func TestSweepAfterViewer(t *testing.T) {
	h, _ := newHost(t)
	m, st := h.SharedMemory(process(1000), 0)
	if !st.OK() {
		t.Fatal(st)
	}
	defer m.Free()
	bells, st := h.Bells(1000)
	if !st.OK() {
		t.Fatal(st)
	}
	m.View().Claim(5)
	before := bells.Value(5)
	m.Sweep(process(2000), func(b uint32) bool { return b == 5 })
	if n := m.View().Sleepers(); n != 1 {
		t.Errorf("%d sleepers, want 1", n)
	}
	if bells.Value(5) == before {
		t.Error("the sleeper was not rung")
	}
}

func TestBellsPerUser(t *testing.T) {
	h, _ := newHost(t)
	a, st := h.Bells(1)
	if !st.OK() {
		t.Fatal(st)
	}
	if again, _ := h.Bells(1); again != a {
		t.Error("a user has one table")
	}
	if b, _ := h.Bells(2); b == a || b == nil {
		t.Error("another user has another")
	}
}
