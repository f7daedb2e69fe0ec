package server

import (
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

func TestSnapshot(t *testing.T) {
	k := newFakeKernel(t)
	s := newServer(t, k, Limits{})
	c := dial(t, s, 1)
	r := request(abi.OpSnapshot)
	r.Record[0] = 1
	c.must(r, abi.StatusInvalidParameter)
	r.Record[0] = 0
	c.must(r, abi.StatusSuccess)
	f := os.NewFile(uintptr(r.Out[0].FD), "snapshot")
	defer f.Close()
	r.Out = nil
	text, err := io.ReadAll(f)
	if err != nil || len(text) < 2 || string(text[:2]) != "{}" {
		t.Errorf("got %q, %v", text, err)
	}
	if err := f.Truncate(0); err == nil {
		t.Error("a snapshot can be changed")
	}
	k.with(func() { k.listing = "" })
	c.must(r, abi.StatusUnsuccessful)
}

// What logs say is told to whoever may see it.
func TestFenceLog(t *testing.T) {
	s := newServer(t, newFakeKernel(t), Limits{})
	c := dial(t, s, 1)
	r := request(abi.OpFenceLog)
	*abi.View[abi.FenceLog](r.Record) = abi.FenceLog{Handle: 0x40}
	c.must(r, abi.StatusInvalidParameter)
	*abi.View[abi.FenceLog](r.Record) = abi.FenceLog{PID: 7, Handle: 0x40}
	if text, want := c.report(r), fmt.Sprintf("log 7 0x40 %d true", os.Getuid()); text != want {
		t.Errorf("got %q, want %q", text, want)
	}
}

// report makes a request that is answered by a file, and reads that.
func (c *client) report(r *abi.Request) string {
	c.t.Helper()
	c.must(r, abi.StatusSuccess)
	f := os.NewFile(uintptr(r.Out[0].FD), "report")
	defer f.Close()
	r.Out = nil
	text, err := io.ReadAll(f)
	if err != nil {
		c.t.Error(err)
	}
	return string(text)
}

// A fault is provoked by whom the server trusts, and what was done is told.
func TestProvokeFault(t *testing.T) {
	s := newServer(t, newFakeKernel(t), Limits{})
	c := dial(t, s, 1)
	r := request(abi.OpProvokeFault)
	c.must(r, abi.StatusInvalidParameter)
	*abi.View[abi.ProvokeFault](r.Record) = abi.ProvokeFault{Kind: abi.FaultReset, PID: 7, Handle: 0x40}
	if text := c.report(r); text != "reset 7 0x40" {
		t.Errorf("got %q", text)
	}
}
