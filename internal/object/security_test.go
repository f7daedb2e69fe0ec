package object

import (
	"math/rand/v2"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

const readOfSync = ReadControl | AccessWait // GENERIC_READ of a synchronization object

// Source: sharing.md §4.2 to §4.4, OQ-21; Microsoft's description of AccessCheck.
func TestGrant(t *testing.T) {
	const denied = abi.StatusAccessDenied
	const keeps = ReadControl | WriteDAC // of every owner
	parse := func(entries ...[]byte) Security {
		s, st := ParseSecurity(descriptor(controlDACL, "", "", acl(entries...)), 1000, 100)
		if st != 0 {
			t.Fatal(st)
		}
		return s
	}
	open, _ := ParseSecurity(descriptor(controlDACL, "", "", nil), 1000, 100)
	for i, c := range []struct {
		s             Security
		uid           uint32
		gids          []uint32
		typ           Type
		desired, want Access
		st            abi.Status
	}{
		// The default: owner everything, others nothing, root everything.
		{DefaultSecurity(1000, 100), 1000, nil, SyncObject, MaximumAllowed, SyncObjectAll, 0},
		{DefaultSecurity(1000, 100), 1000, nil, SyncObject, SyncObjectAll, SyncObjectAll, 0},
		{DefaultSecurity(1000, 100), 1000, nil, Resource, GenericAll, ResourceAll, 0},
		{DefaultSecurity(1000, 100), 1001, []uint32{100}, SyncObject, ReadControl, 0, denied},
		{DefaultSecurity(1000, 100), 1001, []uint32{100}, SyncObject, MaximumAllowed, 0, denied},
		{DefaultSecurity(1000, 100), 0, nil, SyncObject, MaximumAllowed, 0x001F0003, 0},
		{DefaultSecurity(1000, 100), 0, nil, Resource, MaximumAllowed, 0x001F0001, 0},

		// What is asked for must make sense, whoever asks.
		{open, 0, nil, SyncObject, 0, 0, denied},
		{open, 0, nil, SyncObject, 0x4, 0, denied},
		{open, 1000, nil, SyncObject, 0, 0, denied},
		{open, 1000, nil, Resource, 0x2, 0, denied},
		{open, 1001, nil, SyncObject, MaximumAllowed | 0x4, 0, denied},

		// A NULL list is for everybody.
		{open, 1001, nil, SyncObject, GenericAll, SyncObjectAll, 0},
		{open, 1001, nil, SyncObject, MaximumAllowed, SyncObjectAll, 0},
		{open, 1001, nil, Resource, Synchronize, Synchronize, 0},

		// An empty one is for nobody, but the owner keeps two rights, and root all.
		{parse(), 1000, nil, SyncObject, MaximumAllowed, keeps, 0},
		{parse(), 1000, nil, SyncObject, ReadControl, ReadControl, 0},
		{parse(), 1000, nil, SyncObject, keeps | AccessWait, 0, denied},
		{parse(), 1001, nil, SyncObject, MaximumAllowed, 0, denied},
		{parse(), 0, nil, SyncObject, GenericAll, SyncObjectAll, 0},

		// Nor can the list take these two away, unless it speaks of owner rights.
		{parse(deny(GenericAll, u1000)), 1000, nil, SyncObject, MaximumAllowed, keeps, 0},
		{parse(allow(AccessWait, "S-1-3-4")), 1000, nil, SyncObject, MaximumAllowed, AccessWait, 0},
		{parse(allow(AccessWait, "S-1-3-4")), 1000, nil, SyncObject, ReadControl, 0, denied},
		{parse(deny(AccessWait, "S-1-3-4"), allow(GenericAll, everyone)), 1000, nil, SyncObject, MaximumAllowed, SyncObjectAll &^ AccessWait, 0},
		{parse(entry(0, 8, AccessWait, "S-1-3-4")), 1000, nil, SyncObject, MaximumAllowed, keeps, 0},
		{parse(deny(GenericAll, "S-1-22-1-0"), deny(GenericAll, "S-1-5-18"), deny(GenericAll, everyone)), 0, nil, SyncObject, GenericAll, SyncObjectAll, 0},

		// Order counts, right by right.
		{parse(deny(AccessSignal, everyone), allow(GenericAll, everyone)), 1001, nil, SyncObject, MaximumAllowed, SyncObjectAll &^ AccessSignal, 0},
		{parse(deny(AccessSignal, everyone), allow(GenericAll, everyone)), 1001, nil, SyncObject, GenericAll, 0, denied},
		{parse(allow(AccessSignal, everyone), deny(GenericAll, everyone), allow(AccessWait, everyone)), 1001, nil, SyncObject, MaximumAllowed, AccessSignal, 0},

		// Rights add up over entries; a right that nobody named is refused.
		{parse(allow(AccessWait, u1001), allow(AccessSignal, g200)), 1001, []uint32{5, 200}, SyncObject, AccessWait | AccessSignal, 0x3, 0},
		{parse(allow(AccessWait, u1001), allow(AccessSignal, g200)), 1001, []uint32{5}, SyncObject, AccessWait | AccessSignal, 0, denied},
		{parse(allow(AccessWait, u1001), allow(AccessSignal, g200)), 1002, []uint32{200}, SyncObject, AccessSignal, AccessSignal, 0},

		// Together with named rights, MAXIMUM_ALLOWED is refused when one of them is.
		{parse(allow(GenericRead, everyone)), 1001, nil, SyncObject, MaximumAllowed | AccessWait, readOfSync, 0},
		{parse(allow(GenericRead, everyone)), 1001, nil, SyncObject, MaximumAllowed | AccessSignal, 0, denied},

		// Generic bits of an entry are those of the type; bits that the type does not have
		// give nothing.
		{parse(allow(GenericWrite, everyone)), 1001, nil, Resource, MaximumAllowed, ReadControl | AllocationWrite, 0},
		{parse(allow(^Access(0)&^genericAnything, everyone)), 1001, nil, Resource, MaximumAllowed, 0x001F0001, 0},
		{parse(allow(0x2, everyone)), 1001, nil, Resource, MaximumAllowed, 0, denied},

		// The zero Security is root's.
		{Security{}, 1000, []uint32{0}, SyncObject, MaximumAllowed, 0, denied},
		{Security{}, 0, nil, SyncObject, GenericAll, SyncObjectAll, 0},
	} {
		got, st := c.s.Grant(c.uid, c.gids, c.desired, c.typ)
		if got != c.want || st != c.st {
			t.Errorf("%d: %v: user %d in %v gets %#x, %v of %#x; want %#x, %v", i, &c.s, c.uid, c.gids,
				uint32(got), st, uint32(c.desired), uint32(c.want), c.st)
		}
	}
}

// granting is the check as Microsoft words it: of the rights that remain to be granted,
// each allowing entry takes some away, and a denying entry that has one of them ends it.
func granting(s *Security, uid uint32, gids []uint32, desired Access, t Type) bool {
	remain := desired
	switch {
	case uid == 0 || s.everybody:
		return true
	case uid == s.UID && !s.ownerTold:
		remain &^= ReadControl | WriteDAC
	}
	for i := range s.aces {
		a := &s.aces[i]
		if !s.isFor(a, uid, gids) {
			continue
		}
		if !a.deny {
			remain &^= t.generic(a.mask)
		} else if remain&t.generic(a.mask) != 0 {
			return false
		}
	}
	return remain == 0
}

// check compares Grant with granting, for every combination of the rights that mean
// something, and MAXIMUM_ALLOWED with the sum of those granted alone.
func check(t *testing.T, s *Security) {
	t.Helper()
	bits := []Access{AccessWait, AccessSignal, ReadControl, WriteDAC, Synchronize}
	for _, c := range []struct {
		uid  uint32
		gids []uint32
	}{{0, nil}, {1000, nil}, {1000, []uint32{100}}, {1001, []uint32{200, 100}}, {1002, nil}} {
		for n := 1; n < 1<<len(bits); n++ {
			var desired Access
			for i, b := range bits {
				if n>>i&1 != 0 {
					desired |= b
				}
			}
			got, st := s.Grant(c.uid, c.gids, desired, SyncObject)
			if want := granting(s, c.uid, c.gids, desired, SyncObject); st.OK() != want || st.OK() && got != desired {
				t.Fatalf("%v %+v: user %d in %v gets %#x, %v of %#x", s, s.aces, c.uid, c.gids, uint32(got), st, uint32(desired))
			}
		}
		var sum Access
		for i := range 32 {
			if b := Access(1) << i; b&SyncObjectAll != 0 && granting(s, c.uid, c.gids, b, SyncObject) {
				sum |= b
			}
		}
		got, st := s.Grant(c.uid, c.gids, MaximumAllowed, SyncObject)
		if got != sum || st.OK() != (sum != 0) {
			t.Fatalf("%v %+v: user %d in %v gets %#x, %v at most, want %#x", s, s.aces, c.uid, c.gids, uint32(got), st, uint32(sum))
		}
	}
}

func TestGrantAgainstTheWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	sids := []string{u1000, u1001, g100, g200, everyone, "S-1-3-0", "S-1-3-1", "S-1-3-4", "S-1-5-18", "S-1-5-21-1-2-3"}
	masks := []Access{AccessWait, AccessSignal, ReadControl, WriteDAC, GenericRead, GenericWrite, GenericExecute, GenericAll, SyncObjectAll}
	for range 3000 {
		var entries [][]byte
		for range rng.IntN(7) {
			mask := masks[rng.IntN(len(masks))]
			mask |= masks[rng.IntN(len(masks))]
			entries = append(entries, entry(byte(rng.IntN(2)), byte(rng.IntN(8)/7*8), mask, sids[rng.IntN(len(sids))]))
		}
		s, st := ParseSecurity(descriptor(controlDACL, "", "", acl(entries...)), 1000, 100)
		if st != 0 {
			t.Fatal(st)
		}
		check(t, &s)
	}
}
