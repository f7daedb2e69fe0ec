package object

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// The life of a name. Source: sharing.md §5.1.
func TestNameLivesAsLongAsItsHandles(t *testing.T) {
	s := NewNamespace()
	share := func(name string, ino uint64) *NTHandle {
		t.Helper()
		o := named(t, name, SyncObject, 1000)
		o.Object = "fence"
		if st := s.Insert(o); st != 0 {
			t.Fatalf("Insert(%s) = %v", name, st)
		}
		return o.Open(Key{Ino: ino}, SyncObjectAll, 1000)
	}
	closed := func(h *NTHandle, last bool) {
		t.Helper()
		if got := h.Close(); got != last {
			t.Fatalf("Close of %v = %v, want %v", h.Key, got, last)
		}
		if last {
			s.Remove(h.NTObject)
		}
	}
	found := func(name string, want abi.Status) {
		t.Helper()
		if _, st := s.Lookup(mustName(t, name), SyncObject); st != want {
			t.Fatalf("Lookup(%s) = %v, want %v", name, st, want)
		}
	}
	const a, b = `\BaseNamedObjects\a`, `\BaseNamedObjects\b`

	// A handle by name is another handle of the same NT object, with its own access and
	// user, and keeps the name when the first is closed.
	first, other := share(a, 1), share(b, 2)
	if first.NTObject == other.NTObject {
		t.Fatal("two calls of ShareObjects made one NT object")
	}
	byName := first.NTObject.Open(Key{Ino: 3}, AccessWait, 1001)
	if byName.Object != "fence" || byName.Access != AccessWait || byName.UID != 1001 || byName.NTObject.UID != 1000 {
		t.Errorf("handle by name: %+v", byName)
	}
	closed(first, false)
	found(a, 0)
	// Then the name goes, whatever keeps the fence alive, and only this one.
	closed(byName, true)
	found(a, abi.StatusObjectNameNotFound)
	found(b, 0)
	// The same thing can be shared again under the same name.
	closed(share(a, 4), true)
	closed(other, true)
	if s.Len() != 0 {
		t.Errorf("%d names left", s.Len())
	}

	defer func() {
		if recover() == nil {
			t.Error("a handle could be closed twice")
		}
	}()
	other.Close()
}

// Who opens by name without naming a specific right gets no more than the descriptor
// says. Source: sharing.md §4.3, §4.4; OQ-20.
func TestGrantByNameIsNoWayAround(t *testing.T) {
	const denied = abi.StatusAccessDenied
	list := func(typ Type, aces ...ace) *NTObject {
		return &NTObject{Type: typ, Security: Security{UID: 1000, GID: 100, aces: aces}}
	}
	everybody := func(mask Access) ace { return ace{who: whoEverybody, mask: mask} }
	for i, c := range []struct {
		o             *NTObject
		uid           uint32
		desired, want Access
		st            abi.Status
	}{
		// The default: the owner is granted both bits with READ_CONTROL, as measured.
		{&NTObject{Security: DefaultSecurity(1000, 100)}, 1000, ReadControl, ReadControl | 0x3, 0},
		{&NTObject{Security: DefaultSecurity(1000, 100)}, 1001, ReadControl, 0, denied},
		{&NTObject{Security: DefaultSecurity(1000, 100)}, 1000, GenericAll, SyncObjectAll, 0},
		{&NTObject{Security: DefaultSecurity(1000, 100)}, 1000, 0, 0, denied},
		{&NTObject{Security: DefaultSecurity(1000, 100)}, 0, ReadControl, ReadControl | 0x3, 0},
		// Others may only wait: READ_CONTROL gives them that and not the signal.
		{list(SyncObject, everybody(GenericRead)), 1001, ReadControl, readOfSync, 0},
		{list(SyncObject, everybody(GenericRead)), 1001, GenericRead, readOfSync, 0},
		{list(SyncObject, everybody(GenericRead)), 1001, AccessWait, AccessWait, 0},
		{list(SyncObject, everybody(GenericRead)), 1001, GenericWrite, 0, denied},
		{list(SyncObject, everybody(GenericRead)), 1001, GenericAll, 0, denied},
		{list(SyncObject, everybody(GenericRead)), 1001, MaximumAllowed, readOfSync, 0},
		// READ_CONTROL alone, from the list or as owner, would be full rights: refused.
		{list(SyncObject, everybody(ReadControl)), 1001, ReadControl, 0, denied},
		{list(SyncObject, everybody(ReadControl)), 1001, MaximumAllowed, 0, denied},
		{list(SyncObject), 1000, ReadControl, 0, denied},
		// What cannot open anything is granted as asked.
		{list(SyncObject, everybody(Synchronize)), 1001, Synchronize, Synchronize, 0},
		// A resource handle without the write bit is a resource handle to read.
		{list(Resource, everybody(GenericRead)), 1001, ReadControl, ReadControl, 0},
		{list(Resource, everybody(GenericAll)), 1001, GenericAll, ResourceAll, 0},
	} {
		got, st := c.o.Grant(c.uid, nil, c.desired)
		if got != c.want || st != c.st {
			t.Errorf("%d: Grant(%d, %#x) = %#x, %v; want %#x, %v", i, c.uid, uint32(c.desired), uint32(got), st, uint32(c.want), c.st)
		}
		if _, signal := got.Rights(); st == 0 && got.Opens() && c.o.Type == SyncObject && signal {
			most, _ := c.o.Security.Grant(c.uid, nil, MaximumAllowed, SyncObject)
			if most&AccessSignal == 0 {
				t.Errorf("%d: may signal against the descriptor", i)
			}
		}
	}
}
