package server

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

func TestLimitsRange(t *testing.T) {
	l, err := Limits{}.withDefaults()
	want := Limits{4096, 3072, 64, 1024, 8192, 8, 65536}
	if err != nil || l != want {
		t.Errorf("defaults: %+v, %v; want %+v", l, err, want)
	}
	for _, bad := range []Limits{{Sessions: -1}, {Sessions: maxSessions + 1}, {BellsPerProcess: tableLines}, {BellsPerProcess: 4}, {Objects: 1 << 24}} {
		if _, err := New(Config{Limits: bad}); err == nil || !strings.HasPrefix(err.Error(), "limit ") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// TestSessionLimits: one too many is told so, and one that leaves makes room.
func TestSessionLimits(t *testing.T) {
	for name, limits := range map[string]Limits{
		"in all":         {Sessions: 3},
		"of one user":    {SessionsPerUser: 3},
		"of one process": {SessionsPerProcess: 3},
	} {
		t.Run(name, func(t *testing.T) {
			k := newFakeKernel(t)
			k.exited = make(chan *fakeProcess, 8)
			s := newServer(t, k, limits)
			dial(t, s, 1)
			dial(t, s, 1)
			last := dial(t, s, 2)
			c, err := connect(t, s)
			if err == nil || !strings.Contains(err.Error(), name[strings.LastIndexByte(name, ' ')+1:]) && name != "in all" {
				t.Fatalf("the fourth: %v", err)
			}
			if st, err := c.answer(request(abi.OpHello)); err != nil || st != abi.StatusNoMemory {
				t.Errorf("the fourth was told %v, %v", st, err)
			}
			if got := s.Sessions(); got != 3 {
				t.Errorf("%d sessions", got)
			}
			last.link.Shutdown()
			<-k.exited
			dial(t, s, 3)
		})
	}
}

func TestProcessLimit(t *testing.T) {
	k := newFakeKernel(t)
	k.exited = make(chan *fakeProcess, 8)
	s := newServer(t, k, Limits{ProcessesPerUser: 2})
	dial(t, s, 1)
	b := dial(t, s, 2)
	dial(t, s, 2) // another session of a process is no process
	c, err := connect(t, s)
	if err != nil {
		t.Fatal(err)
	}
	if st, _ := c.hello(3); st != abi.StatusNoMemory {
		t.Errorf("the third process: %v", st)
	}
	if st, _ := c.hello(1); !st.OK() {
		t.Errorf("the same session, for a process that is there: %v", st)
	}
	k.with(func() { k.refuse = abi.StatusNoMemory })
	b.link.Shutdown()
	d := dial(t, s, 1)
	d.must(request(abi.OpCancelWait), abi.StatusSuccess)
}

// TestAttachRefused: the kernel's own limit passes through and takes no bells.
func TestAttachRefused(t *testing.T) {
	k := newFakeKernel(t)
	s := newServer(t, k, Limits{})
	k.with(func() { k.refuse = abi.StatusNoMemory })
	c, err := connect(t, s)
	if err != nil {
		t.Fatal(err)
	}
	for range tableLines / 8 {
		if st, _ := c.hello(1); st != abi.StatusNoMemory {
			t.Fatal(st)
		}
	}
	k.with(func() { k.refuse = abi.StatusSuccess })
	if st, h := c.hello(1); !st.OK() || h.BellCount != 8 {
		t.Errorf("afterwards: %v, %+v", st, h)
	}
}

func TestBells(t *testing.T) {
	k := newFakeKernel(t)
	k.exited = make(chan *fakeProcess, 8)
	s := newServer(t, k, Limits{BellsAtHello: 2, BellsPerProcess: 10})
	c := dial(t, s, 1) // lines 1 and 2
	grant := func(count uint32, want abi.Status) uint32 {
		t.Helper()
		r := request(abi.OpGrantBells)
		abi.View[abi.GrantBells](r.Record).Count = count
		c.must(r, want)
		return abi.View[abi.GrantBells](r.Record).First
	}
	give := func(first, count uint32, want abi.Status) {
		t.Helper()
		r := request(abi.OpReturnBells)
		rec := abi.View[abi.ReturnBells](r.Record)
		rec.First, rec.Count = first, count
		c.must(r, want)
	}
	grant(0, abi.StatusInvalidParameter)
	grant(0xFFFFFFFF, abi.StatusNoMemory)
	grant(9, abi.StatusNoMemory)
	if first := grant(8, abi.StatusSuccess); first != 3 {
		t.Errorf("first line %d, want 3", first)
	}
	grant(1, abi.StatusNoMemory)
	give(5, 0, abi.StatusInvalidParameter)
	give(10, 2, abi.StatusInvalidParameter) // 11 is not held
	give(0xFFFFFFF0, 0x20, abi.StatusInvalidParameter)
	give(5, 2, abi.StatusSuccess)
	give(6, 1, abi.StatusInvalidParameter) // given back already
	grant(3, abi.StatusNoMemory)
	if first := grant(2, abi.StatusSuccess); first != 5 {
		t.Errorf("lines given back are granted again: got %d, want 5", first)
	}
	c.link.Shutdown()
	<-k.exited
}

// TestBellsOfAUserRunOut: the table is the last limit, and a process that ends
// returns its lines.
func TestBellsOfAUserRunOut(t *testing.T) {
	k := newFakeKernel(t)
	k.exited = make(chan *fakeProcess, 8)
	s := newServer(t, k, Limits{BellsAtHello: tableLines / 2, BellsPerProcess: tableLines / 2})
	a := dial(t, s, 1)
	c, err := connect(t, s)
	if err != nil {
		t.Fatal(err)
	}
	if st, _ := c.hello(2); st != abi.StatusNoMemory {
		t.Fatalf("half of what is left and one more: %v", st)
	}
	a.link.Shutdown()
	<-k.exited
	for { // the lines come back just after the end
		if st, _ := c.hello(2); st.OK() {
			break
		}
	}
}

// TestDocumentedLimits: docs/protocol-wire.md has every limit with its default.
func TestDocumentedLimits(t *testing.T) {
	text, err := os.ReadFile("../../docs/protocol-wire.md")
	if err != nil {
		t.Fatal(err)
	}
	l, err := Limits{}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	v := reflect.ValueOf(l)
	for i := range v.NumField() {
		if row := fmt.Sprintf("| %s | %d |", v.Type().Field(i).Name, v.Field(i).Int()); !strings.Contains(string(text), row) {
			t.Errorf("the page has no row %q", row)
		}
	}
}
