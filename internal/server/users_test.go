package server

import (
	"encoding/json"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/page"
)

// Users and groups that own nothing on a usual machine.
const (
	alice, bob, carol = 65534, 65533, 65532
	staff             = 65520
)

// TestWhoMayOpenAName: owners, groups, supplementary groups, others and root against
// descriptors, for every access that can be asked for. Source: sharing.md §4.3, §4.4.
func TestWhoMayOpenAName(t *testing.T) {
	needRoot(t, "names between users")
	_, path := public(t, kernel.Config{})
	owner := somebody(t, path, alice, alice)
	people := map[string]*someone{
		"owner":      owner,
		"member":     somebody(t, path, bob, staff),
		"supplement": somebody(t, path, bob, bob, staff-1, staff),
		"other":      somebody(t, path, carol, carol),
		"root":       somebody(t, path, 0, 0),
	}
	const all, read, write = object.GenericAll, object.GenericRead, object.GenericWrite
	asked := []object.Access{all, read, write, object.AccessWait, object.AccessSignal, object.ReadControl, object.MaximumAllowed}
	everything := map[object.Access]bool{all: true, read: true, write: true, object.AccessWait: true, object.AccessSignal: true, object.ReadControl: true, object.MaximumAllowed: true}
	reading := map[object.Access]bool{read: true, object.AccessWait: true, object.ReadControl: true, object.MaximumAllowed: true}
	writing := map[object.Access]bool{write: true, object.AccessSignal: true, object.ReadControl: true, object.MaximumAllowed: true}
	for name, c := range map[string]struct {
		security []byte
		may      map[string]map[object.Access]bool // root may everything
	}{
		"default":   {nil, map[string]map[object.Access]bool{"owner": everything}},
		"rw-r-----": {object.MakeDescriptor(alice, staff, 0o640), map[string]map[object.Access]bool{"owner": everything, "member": reading, "supplement": reading}},
		"rw--w-r--": {object.MakeDescriptor(alice, staff, 0o624), map[string]map[object.Access]bool{"owner": everything, "member": writing, "supplement": writing, "other": reading}},
		"rw-rw-rw-": {object.MakeDescriptor(alice, staff, 0o666), map[string]map[object.Access]bool{"owner": everything, "member": everything, "supplement": everything, "other": everything}},
		"rw----rw-": {object.MakeDescriptor(alice, staff, 0o606), map[string]map[object.Access]bool{"owner": everything, "other": everything}},
	} {
		h, _, st := owner.create(owner.device, abi.MonitoredFence, ntShared)
		if !st.OK() {
			t.Fatal(st)
		}
		shared, st := owner.share(name, c.security, all, h)
		if !st.OK() {
			t.Fatal(st)
		}
		for who, p := range people {
			for _, access := range asked {
				want := abi.StatusAccessDenied
				if who == "root" || c.may[who][access] {
					want = abi.StatusSuccess
				}
				fd, st := p.byName(name, access)
				if st != want {
					t.Errorf("%s: %s asks for %#x: %v, want %v", name, who, access, st, want)
				}
				if st.OK() {
					_ = unix.Close(fd)
				}
			}
		}
		_ = unix.Close(shared)
	}
}

// TestReadersOnlyRead: who may only wait for a fence cannot signal it by request nor by
// memory; who may signal it, of another user, can by request only.
func TestReadersOnlyRead(t *testing.T) {
	needRoot(t, "the memory of fences between users")
	_, path := public(t, kernel.Config{})
	owner, reader := somebody(t, path, alice, alice), somebody(t, path, bob, bob, staff)
	h, _, _ := owner.create(owner.device, abi.MonitoredFence, ntShared)
	shared, st := owner.share("read", object.MakeDescriptor(alice, staff, 0o640), object.GenericAll, h)
	if !st.OK() {
		t.Fatal(st)
	}
	defer unix.Close(shared)
	fd, st := reader.byName("read", object.MaximumAllowed)
	if !st.OK() {
		t.Fatal(st)
	}
	defer unix.Close(fd)
	view, memory, st := reader.open(reader.device, fd)
	if !st.OK() {
		t.Fatal(st)
	}
	defer unix.Close(memory)
	if st := reader.signal(view, 5); st != abi.StatusAccessDenied {
		t.Errorf("a reader signals: %v", st)
	}
	if how := reader.writing(memory); how != "none" {
		t.Errorf("a reader writes: %s", how)
	}
	if st := owner.signal(h, 5); !st.OK() {
		t.Fatal(st)
	}
	if st := reader.wait(view, 5); st != abi.StatusSuccess {
		t.Errorf("a reader waits: %v", st)
	}

	// The descriptor itself, passed on: nobody is asked again, and everything goes but
	// writing to the memory of another user.
	view, all, st := reader.open(reader.device, shared)
	if !st.OK() {
		t.Fatal("possession: ", st)
	}
	defer unix.Close(all)
	if st := reader.signal(view, 6); !st.OK() {
		t.Errorf("a holder signals: %v", st)
	}
	if st := owner.wait(h, 6); st != abi.StatusSuccess {
		t.Errorf("the owner waits: %v", st)
	}
	if how := reader.writing(all); how != "none" {
		t.Errorf("a holder of another user writes: %s", how)
	}
	own, mine, st := owner.open(owner.device, shared)
	if !st.OK() || own == h {
		t.Fatal(st)
	}
	defer unix.Close(mine)
	if how := owner.writing(mine); how != "map write" {
		t.Errorf("the test must see who can write: the owner: %s", how)
	}

	// What the handle itself was made with stays with it.
	signals, st := owner.share("", nil, object.AccessSignal, h)
	if !st.OK() {
		t.Fatal(st)
	}
	defer unix.Close(signals)
	view, memory2, st := reader.open(reader.device, signals)
	if !st.OK() {
		t.Fatal(st)
	}
	_ = unix.Close(memory2)
	if a, b := reader.signal(view, 7), reader.wait(view, 7); !a.OK() || b != abi.StatusAccessDenied {
		t.Errorf("a handle to signal through: signal %v, wait %v", a, b)
	}
}

// TestUnnamedIsUnreachable: nothing that another process can say leads to an object
// without a name.
func TestUnnamedIsUnreachable(t *testing.T) {
	_, path := public(t, kernel.Config{})
	owner, other := pair(t, path)
	h, _, _ := owner.create(owner.device, abi.MonitoredFence, ntShared)
	shared, st := owner.share("", object.MakeDescriptor(owner.uid, staff, 0o666), object.GenericAll, h)
	if !st.OK() {
		t.Fatal(st)
	}
	defer unix.Close(shared)
	if _, st := other.openGlobal(h); st != abi.StatusInvalidParameter {
		t.Errorf("its number as a global handle: %v", st)
	}
	if st := other.signal(h, 1); st != abi.StatusInvalidParameter {
		t.Errorf("its number as a handle: %v", st)
	}
	for _, name := range []string{"x", "unnamed"} {
		if _, st := other.byName(name, object.GenericAll); st != abi.StatusObjectNameNotFound {
			t.Errorf("name %q: %v", name, st)
		}
	}
	r := request(abi.OpOpenSyncObjectNtHandleFromName)
	abi.View[abi.OpenSyncObjectNtHandleFromName](r.Record).DwDesiredAccess = uint32(object.GenericAll)
	r.Arrays[0], r.Arrays[1] = attributes("")
	if st := other.ask(r); st != abi.StatusInvalidParameter {
		t.Errorf("no name: %v", st)
	}
	if _, _, st := other.open(other.device, other.link.FD()); st != abi.StatusObjectTypeMismatch {
		t.Errorf("another descriptor: %v", st)
	}
}

// pair is two processes, of two users where that is possible, else of our own.
func pair(t *testing.T, path string) (a, b *someone) {
	t.Helper()
	if os.Geteuid() == 0 {
		return somebody(t, path, alice, alice), somebody(t, path, bob, bob)
	}
	t.Logf("both processes are of user %d: only root can start others", os.Getuid())
	uid, gid := uint32(os.Getuid()), uint32(os.Getgid())
	return somebody(t, path, uid, gid), somebody(t, path, uid, gid)
}

// TestGlobalHandlesAreForAnybody who knows the number, and for nobody where they are
// off.
func TestGlobalHandlesAreForAnybody(t *testing.T) {
	for name, off := range map[string]bool{"on": false, "off": true} {
		t.Run(name, func(t *testing.T) {
			_, path := public(t, kernel.Config{NoGlobalHandles: off})
			owner, other := pair(t, path)
			h, g, st := owner.create(owner.device, abi.Semaphore, abi.SyncObjectShared)
			if off {
				if st != abi.StatusNotSupported {
					t.Errorf("an object: %v", st)
				}
				if st := owner.ask(request(abi.OpCreateKeyedMutex)); st != abi.StatusNotSupported {
					t.Errorf("a keyed mutex: %v", st)
				}
				if st := resourceOf(owner, abi.AllocationCreateShared, 0); st != abi.StatusNotSupported {
					t.Errorf("a resource: %v", st)
				}
				return
			}
			if !st.OK() {
				t.Fatal(st)
			}
			view, st := other.openGlobal(g)
			if !st.OK() {
				t.Fatal(st)
			}
			if st := owner.destroy(h); !st.OK() {
				t.Fatal(st)
			}
			if st := other.destroy(view); !st.OK() {
				t.Fatal(st)
			}
			if _, st := other.openGlobal(g); st != abi.StatusInvalidParameter {
				t.Errorf("after the last is gone: %v", st)
			}
		})
	}
}

// resourceOf makes a resource of one allocation with that much private data.
func resourceOf(s *someone, flags abi.CreateAllocationFlags, data int) abi.Status {
	r := request(abi.OpCreateAllocation2)
	rec := abi.View[abi.CreateAllocation2](r.Record)
	rec.HDevice, rec.Flags, rec.NumAllocations = s.device, flags|abi.AllocationCreateResource, 1
	rec.PrivateRuntimeDataSize = uint32(data)
	r.Arrays[0], r.Arrays[3], r.Arrays[4] = make([]byte, data), make([]byte, abi.SizeofAllocationInfo2), []byte{}
	return s.ask(r)
}

func (s *someone) listing() (l kernel.Snapshot) {
	s.t.Helper()
	r := request(abi.OpSnapshot)
	s.must(r, abi.StatusSuccess)
	defer s.drop(r)
	var st unix.Stat_t
	if err := unix.Fstat(r.Out[0].FD, &st); err != nil {
		s.t.Fatal(err)
	}
	text := make([]byte, st.Size)
	if _, err := unix.Pread(r.Out[0].FD, text, 0); err != nil {
		s.t.Fatal(err)
	}
	if err := json.Unmarshal(text, &l); err != nil {
		s.t.Fatal(err)
	}
	return l
}

// TestListingsAreOnesOwn: of other users not even the number of things is told. Root
// sees everything.
func TestListingsAreOnesOwn(t *testing.T) {
	needRoot(t, "listings between users")
	_, path := public(t, kernel.Config{})
	owner, other, root := somebody(t, path, alice, alice), somebody(t, path, bob, bob), somebody(t, path, 0, 0)
	h, _, _ := owner.create(owner.device, abi.MonitoredFence, ntShared)
	if _, _, st := owner.create(owner.device, abi.Semaphore, abi.SyncObjectShared); !st.OK() {
		t.Fatal(st)
	}
	shared, st := owner.share("listed", object.MakeDescriptor(alice, alice, 0o666), object.GenericAll, h)
	if !st.OK() {
		t.Fatal(st)
	}
	defer unix.Close(shared)
	if st := owner.wait(h, 9); st != abi.StatusPending {
		t.Fatal(st)
	}
	count := func(l kernel.Snapshot) [6]int {
		return [6]int{len(l.Processes), len(l.Objects), len(l.Waits), len(l.NTObjects), l.NTHandles, l.Globals}
	}
	for who, c := range map[string]struct {
		s    *someone
		want [6]int
	}{
		"owner": {owner, [6]int{1, 2, 1, 1, 1, 1}},
		"other": {other, [6]int{1, 0, 0, 0, 0, 0}},
		"root":  {root, [6]int{3, 2, 1, 1, 1, 1}},
	} {
		if got := count(c.s.listing()); got != c.want {
			t.Errorf("%s sees processes, objects, waits, NT objects, NT handles, global handles %v, want %v", who, got, c.want)
		}
	}
}

// TestFaultsAreForTheTrusted: users cannot break each other's devices, nor their own.
func TestFaultsAreForTheTrusted(t *testing.T) {
	needRoot(t, "faults between users")
	d, path := public(t, kernel.Config{})
	user, root := somebody(t, path, alice, alice), somebody(t, path, 0, 0)
	for _, kind := range []abi.FaultKind{0, abi.FaultHang, abi.FaultPage, abi.FaultReset, abi.FaultRemove} {
		r := request(abi.OpProvokeFault)
		*abi.View[abi.ProvokeFault](r.Record) = abi.ProvokeFault{Kind: kind, PID: uint32(user.cmd.Process.Pid)}
		if kind == abi.FaultRemove {
			*abi.View[abi.ProvokeFault](r.Record) = abi.ProvokeFault{Kind: kind, AdapterLuid: abi.LUID{LowPart: 0x10000}}
		}
		user.must(r, abi.StatusAccessDenied)
	}
	for _, dev := range d.Kernel.Snapshot().Devices {
		if dev.State != "ACTIVE" {
			t.Errorf("%+v", dev)
		}
	}
	r := request(abi.OpProvokeFault)
	*abi.View[abi.ProvokeFault](r.Record) = abi.ProvokeFault{Kind: abi.FaultReset, PID: uint32(user.cmd.Process.Pid)}
	root.must(r, abi.StatusSuccess)
	root.drop(r)
	for _, dev := range user.listing().Devices {
		if dev.State != "HUNG" {
			t.Errorf("%+v", dev)
		}
	}
}

// TestDeathBetweenUsers: the creator's raises the value for viewers of other users; a
// viewer's changes nothing for anybody.
func TestDeathBetweenUsers(t *testing.T) {
	_, path := public(t, kernel.Config{})
	owner, viewer := pair(t, path)
	h, _, _ := owner.create(owner.device, abi.MonitoredFence, ntShared)
	shared, st := owner.share("", nil, object.GenericAll, h)
	if !st.OK() {
		t.Fatal(st)
	}
	defer unix.Close(shared)
	_, theirs, st := viewer.open(viewer.device, shared)
	if !st.OK() {
		t.Fatal(st)
	}
	_ = unix.Close(theirs)
	if st := owner.signal(h, 3); !st.OK() {
		t.Fatal(st)
	}
	if st := owner.wait(h, 9); st != abi.StatusPending {
		t.Fatal(st)
	}
	viewer.die()
	viewer.ends()

	_, second := pair(t, path)
	view, memory, st := second.open(second.device, shared)
	if !st.OK() {
		t.Fatal(st)
	}
	defer unix.Close(memory)
	m, err := page.Map(memory, page.PageSize, false)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Unmap()
	if v := m.View().Cell.Value(); v != 3 {
		t.Errorf("after a viewer's death the value is %d, want 3", v)
	}
	if l := owner.listing(); len(l.Waits) != 1 || len(l.Objects) == 0 {
		t.Errorf("after a viewer's death the owner has %d waits and %d objects", len(l.Waits), len(l.Objects))
	}
	if st := second.wait(view, 1<<40); st != abi.StatusPending {
		t.Fatal(st)
	}
	owner.die()
	owner.ends()
	for m.View().Cell.Value() != ^uint64(0) { // the daemon hears of the death in its own time
		if _, err := second.do(request(abi.OpCancelWait)); err != nil {
			t.Fatal(err)
		}
	}
	if st := second.wait(view, 1<<41); st != abi.StatusSuccess {
		t.Errorf("a wait after the creator's death: %v", st)
	}
	for {
		if l := second.listing(); len(l.Waits) == 0 {
			break
		}
	}
}
