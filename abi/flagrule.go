package abi

import (
	"fmt"
	"slices"
	"strings"
)

// A FlagRule is what is known of one bit of a flag word: enough for the kernel to
// check it, and for a person to understand it.
type FlagRule struct {
	Bit      uint8
	Name     string // as in the header
	First    WDDM   // first version that has it
	Last     WDDM   // last version that accepts it, 0 = no end
	Kinds    Kinds  // kinds of objects that it applies to, 0 = all
	Requires uint32 // bits that must be set with it
	// RequiresInMemory are further bits that must be set with it on a fence in
	// memory, monitored or native.
	RequiresInMemory uint32
	Conflicts        uint32   // bits that must not be set with it
	Calls            []uint16 // numbers of the operations that take it, none = all
	BySystem         bool     // an answer: what the caller put there is ignored
	Meaning          string   // one sentence
}

// AppliesTo reports whether the bit may be set for a kind.
func (r *FlagRule) AppliesTo(k SyncObjectType) bool { return r.Kinds == 0 || r.Kinds.Has(k) }

// Needs are the bits that must be set with it for a kind.
func (r *FlagRule) Needs(k SyncObjectType) uint32 {
	if inMemory.Has(k) {
		return r.Requires | r.RequiresInMemory
	}
	return r.Requires
}

// TakenBy reports whether an operation takes the bit.
func (r *FlagRule) TakenBy(nr uint16) bool { return len(r.Calls) == 0 || slices.Contains(r.Calls, nr) }

// Flags is a flag word: its rules, by bit.
type Flags struct {
	Name  string // of the structure
	Rules []FlagRule
}

// Known reports whether every bit of v has a rule, whatever the version.
func (f *Flags) Known(v uint32) bool {
	for _, r := range f.Rules {
		v &^= 1 << r.Bit
	}
	return v == 0
}

// Allowed reports whether every bit of v exists at a version.
func (f *Flags) Allowed(v uint32, w WDDM) bool {
	for _, r := range f.Rules {
		if r.ExistsAt(w) {
			v &^= 1 << r.Bit
		}
	}
	return v == 0
}

// ExistsAt reports whether a version has the bit.
func (r *FlagRule) ExistsAt(w WDDM) bool { return w >= r.First && (r.Last == 0 || w <= r.Last) }

// Check checks v for a kind at a version: every bit exists, applies to the kind,
// has what it requires and nothing it conflicts with. It returns the first rule
// broken; nil and false when v has a bit without a rule at this version.
func (f *Flags) Check(v uint32, k SyncObjectType, w WDDM) (broken *FlagRule, ok bool) {
	if !f.Allowed(v, w) {
		return nil, false
	}
	for i := range f.Rules {
		r := &f.Rules[i]
		if v&(1<<r.Bit) == 0 {
			continue
		}
		if need := r.Needs(k); !r.AppliesTo(k) || v&need != need || v&r.Conflicts != 0 {
			return r, false
		}
	}
	return nil, true
}

// Taken reports whether every bit of v exists at a version and is taken by an
// operation; bits that the system sets do not count.
func (f *Flags) Taken(v uint32, nr uint16, w WDDM) bool {
	for _, r := range f.Rules {
		if r.BySystem || r.ExistsAt(w) && r.TakenBy(nr) {
			v &^= 1 << r.Bit
		}
	}
	return v == 0
}

// Format writes v as names, "Shared|NtSecuritySharing", unknown bits in
// hexadecimal; "0" for none.
func (f *Flags) Format(v uint32) string {
	if v == 0 {
		return "0"
	}
	var names []string
	for _, r := range f.Rules {
		if v&(1<<r.Bit) != 0 {
			names = append(names, r.Name)
			v &^= 1 << r.Bit
		}
	}
	if v != 0 {
		names = append(names, fmt.Sprintf("%#x", v))
	}
	return strings.Join(names, "|")
}
