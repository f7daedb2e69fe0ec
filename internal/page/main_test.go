package page

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// A child is a part of a test that runs in a process of its own, started from the
// same binary: the name of a function here.
var children = map[string]func(){
	"write-read-only": childWriteReadOnly,
	"reopen":          childReopen,
	"map-both-ways":   childMapBothWays,
	"shrink":          childShrink,
}

const childVariable = "DXGSYNC_PAGE_TEST_CHILD"

func TestMain(m *testing.M) {
	if f := children[os.Getenv(childVariable)]; f != nil {
		f()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// runChild runs a child with descriptors from 3 on, as another user if credential is
// given, and returns what it printed and how it ended.
func runChild(name string, credential *syscall.Credential, files ...*os.File) (string, error) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), childVariable+"="+name, "GOTRACEBACK=none", "GOCOVERDIR=")
	cmd.ExtraFiles = files
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return strings.TrimSpace(out.String()), err
}

// heapPage is a page of its own on the Go heap, where the race detector sees what is
// ordered by what.
type heapPage struct {
	cell Cell
	_    [PageSlots - CellSlots]atomic.Uint32
}

func newHeapPage(v uint64) View {
	p := new(heapPage)
	p.cell.Init(v)
	return View{Cell: &p.cell, Slots: PageSlots}
}

func newHeapBells(n int) *Bells { return &Bells{lines: make([]bellLine, n)} }

// newMappedPage and newMappedBells are the real things; they go with the test.
func newMappedPage(t testing.TB, v uint64) View {
	m, err := NewPage()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.CloseFD(); m.Unmap() })
	m.View().Cell.Init(v)
	return m.View()
}

func newMappedBells(t testing.TB) *Bells {
	b, err := CreateBells()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Memory().CloseFD(); b.Memory().Unmap() })
	return b
}

// ringing returns the numbers of the bells that were rung since the last call.
func ringing(b *Bells, seen map[uint32]uint32) (rung []uint32) {
	for n := uint32(1); n < uint32(len(b.lines)); n++ {
		if v := b.Value(n); v != seen[n] {
			seen[n] = v
			rung = append(rung, n)
		}
	}
	return rung
}
