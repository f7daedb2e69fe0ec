package object

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

func named(t testing.TB, name string, typ Type, uid uint32) *NTObject {
	t.Helper()
	return &NTObject{Type: typ, Name: mustName(t, name), UID: uid}
}

// Source: sharing.md §5, §5.1, §5.2; calls.md §4.
func TestNamespace(t *testing.T) {
	s := NewNamespace()
	insert := func(o *NTObject, want abi.Status) {
		t.Helper()
		if st := s.Insert(o); st != want {
			t.Errorf("Insert(%v) = %v, want %v", o.Name, st, want)
		}
	}
	lookup := func(name string, typ Type, want *NTObject, status abi.Status) {
		t.Helper()
		if got, st := s.Lookup(mustName(t, name), typ); got != want || st != status {
			t.Errorf("Lookup(%s, %v) = %v, %v; want %v", name, typ, got, st, status)
		}
	}
	lookup(`\BaseNamedObjects\Frame`, SyncObject, nil, abi.StatusObjectNameNotFound)

	fence := named(t, `\BaseNamedObjects\Frame`, SyncObject, 1000)
	insert(fence, 0)
	lookup(`\BASENAMEDOBJECTS\frame`, SyncObject, fence, 0)
	lookup(`\Sessions\1\BaseNamedObjects\Global\FRAME`, SyncObject, fence, 0)
	lookup(`\Sessions\1\BaseNamedObjects\Frame`, SyncObject, nil, abi.StatusObjectNameNotFound)
	lookup(`\BaseNamedObjects\Frame`, Resource, nil, abi.StatusObjectTypeMismatch)
	if got := fence.Name.String(); got != `\BaseNamedObjects\Frame` {
		t.Errorf("the name is spelt %s", got)
	}

	// A name is there once, whatever type wants it.
	insert(named(t, `\BaseNamedObjects\FRAME`, SyncObject, 1000), abi.StatusObjectNameCollision)
	insert(named(t, `\BaseNamedObjects\frame`, Resource, 1001), abi.StatusObjectNameCollision)

	// A second name of the same thing is another NT object.
	again := named(t, `\BaseNamedObjects\Frame2`, SyncObject, 1000)
	insert(again, 0)
	lookup(`\BaseNamedObjects\frame2`, SyncObject, again, 0)
	image := named(t, `\BaseNamedObjects\Image`, Resource, 1000)
	insert(image, 0)
	lookup(`\BaseNamedObjects\image`, Resource, image, 0)
	lookup(`\BaseNamedObjects\image`, SyncObject, nil, abi.StatusObjectTypeMismatch)

	// Directories have names too.
	for _, d := range []string{
		`\BaseNamedObjects`, `\Sessions`, `\Sessions\1`, `\Sessions\1\BaseNamedObjects`,
		`\BaseNamedObjects\Global`, `\Sessions\1\BaseNamedObjects\Local`,
	} {
		insert(named(t, d, SyncObject, 1000), abi.StatusObjectNameCollision)
		lookup(d, SyncObject, nil, abi.StatusObjectTypeMismatch)
		lookup(d, Resource, nil, abi.StatusObjectTypeMismatch)
	}

	// Only the object that has the name takes it away, once.
	s.Remove(named(t, `\BaseNamedObjects\Frame`, SyncObject, 1000))
	lookup(`\BaseNamedObjects\Frame`, SyncObject, fence, 0)
	s.Remove(&NTObject{})
	s.Remove(fence)
	s.Remove(fence)
	lookup(`\BaseNamedObjects\Frame`, SyncObject, nil, abi.StatusObjectNameNotFound)
	lookup(`\BaseNamedObjects\frame2`, SyncObject, again, 0)
	insert(named(t, `\BaseNamedObjects\FRAME`, Resource, 1000), 0)
	if s.Len() != 3 {
		t.Errorf("%d names, want 3", s.Len())
	}
}

// One user takes three quarters of the names, another the rest; what is given back can
// be had again.
func TestNamespaceLimits(t *testing.T) {
	for _, c := range []struct {
		what  string
		units int // length of a name
		most  int
	}{
		{"names", 32, MaxNames},
		{"bytes", MaxNameUnits, MaxNameBytes / (2 * MaxNameUnits)},
	} {
		s := NewNamespace()
		serial := 0
		one := func(uid uint32) *NTObject {
			serial++
			name := fmt.Sprintf(`\BaseNamedObjects\%d-`, serial)
			return named(t, name+strings.Repeat("x", c.units-len(name)), SyncObject, uid)
		}
		fill := func(uid uint32) (made []*NTObject) {
			for {
				o := one(uid)
				if st := s.Insert(o); st == abi.StatusNoMemory {
					return made
				} else if st != 0 {
					t.Fatal(c.what, st)
				}
				made = append(made, o)
			}
		}
		first := fill(1)
		if len(first) != c.most-c.most/4 && len(first) != c.most*3/4 {
			t.Errorf("%s: one user had %d of %d", c.what, len(first), c.most)
		}
		second := fill(2)
		if len(first)+len(second) != c.most {
			t.Errorf("%s: two users had %d of %d", c.what, len(first)+len(second), c.most)
		}
		s.Remove(first[0])
		if st := s.Insert(one(2)); st != 0 {
			t.Errorf("%s: given back and not to be had: %v", c.what, st)
		}
		for _, o := range append(first, second...) {
			s.Remove(o)
		}
		if again := fill(1); len(again) != len(first) {
			t.Errorf("%s: at first %d, now %d", c.what, len(first), len(again))
		}
	}
}
