package object

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// What a maker's handle gets. Source: sharing.md §4.1 to §4.3, OQ-20.
func TestAccess(t *testing.T) {
	const denied = abi.StatusAccessDenied
	for _, c := range []struct {
		t             Type
		desired, want Access
		st            abi.Status
	}{
		{SyncObject, 0, 0, denied},
		{SyncObject, 0x4, 0, denied},
		{SyncObject, 0x01000000, 0, denied},
		{SyncObject, 0x00200000, 0, denied},
		{SyncObject, MaximumAllowed | 0x4, 0, denied},
		{SyncObject, GenericAll | 0x4, 0, denied},
		{SyncObject, ReadControl, ReadControl, 0},
		{SyncObject, GenericRead, 0x00020001, 0},
		{SyncObject, GenericWrite, 0x00020002, 0},
		{SyncObject, GenericExecute, 0x00120000, 0},
		{SyncObject, GenericRead | GenericWrite | Delete, 0x00030003, 0},
		{SyncObject, GenericAll, 0x001F0003, 0},
		{SyncObject, MaximumAllowed, 0x001F0003, 0},
		{SyncObject, SyncObjectAll, 0x001F0003, 0},
		{SyncObject, Synchronize, Synchronize, 0},
		{Resource, 0, 0, denied},
		{Resource, 0x2, 0, denied},
		{Resource, SyncObjectAll, 0, denied},
		{Resource, GenericRead, 0x00020000, 0},
		{Resource, GenericWrite, 0x00020001, 0},
		{Resource, GenericExecute, 0x00020000, 0},
		{Resource, GenericAll, 0x000F0001, 0},
		{Resource, MaximumAllowed, 0x000F0001, 0},
		{Resource, MaximumAllowed | Synchronize, 0x001F0001, 0},
		{Resource, ResourceAll | Synchronize, 0x001F0001, 0},
	} {
		got, st := c.t.Access(c.desired)
		if got != c.want || st != c.st {
			t.Errorf("%v.Access(%#x) = %#x, %v; want %#x, %v", c.t, uint32(c.desired), uint32(got), st, uint32(c.want), c.st)
		}
	}
	// Every single bit is either in the valid mask of sharing.md §3.1, or stands for
	// others, or is refused.
	for typ, valid := range map[Type]Access{SyncObject: 0x001F0003, Resource: 0x001F0001} {
		for i := range 32 {
			bit := Access(1) << i
			_, st := typ.Access(bit)
			if want := bit&(valid|genericAnything|MaximumAllowed) != 0; st.OK() != want {
				t.Errorf("%v.Access(%#x): %v", typ, uint32(bit), st)
			}
		}
	}
}

// Source: sharing.md §4.3, OQ-20.
func TestOpensAndRights(t *testing.T) {
	for _, c := range []struct {
		a                   Access
		opens, wait, signal bool
	}{
		{ReadControl, true, true, true},
		{AccessWait, true, true, false},
		{AccessSignal, true, false, true},
		{SyncObjectAll, true, true, true},
		{Synchronize, false, true, true},
	} {
		w, s := c.a.Rights()
		if c.a.Opens() != c.opens || w != c.wait || s != c.signal {
			t.Errorf("%#x: opens %v wait %v signal %v", uint32(c.a), c.a.Opens(), w, s)
		}
	}
}

// Source: sharing.md §3.1.
func TestTypeNames(t *testing.T) {
	if SyncObject.String() != "DxgkSharedSyncObject" || Resource.String() != "DxgkSharedResource" {
		t.Errorf("types are called %v and %v", SyncObject, Resource)
	}
}
