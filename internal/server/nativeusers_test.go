package server

import (
	"bytes"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/page"
)

// createNative makes a native fence. The descriptor of the page, if one comes, is the
// caller's.
func (c *client) createNative(device abi.Handle, flags abi.SyncObjectFlags) (h abi.Handle, memory int, st abi.Status) {
	c.t.Helper()
	r := request(abi.OpCreateNativeFence)
	rec := abi.View[abi.CreateNativeFence](r.Record)
	rec.HDevice, rec.Info.Flags = device, flags
	if st = c.ask(r); !st.OK() || len(r.Out) == 0 {
		return rec.HSyncObject, -1, st
	}
	return rec.HSyncObject, r.Out[0].FD, st
}

// openNative opens an NT handle as a native fence; a failure must not change the record.
func (c *client) openNative(device abi.Handle, fd int) (h abi.Handle, memory int, st abi.Status) {
	c.t.Helper()
	r := request(abi.OpOpenNativeFenceFromNtHandle)
	rec := abi.View[abi.OpenNativeFenceFromNtHandle](r.Record)
	rec.HDevice, r.Files[0] = device, fd
	before := bytes.Clone(r.Record)
	memory, st = fileOf(r, c.ask(r))
	if !st.OK() && !bytes.Equal(before, r.Record) {
		c.t.Errorf("an open that fails with %v changes the record", st)
	}
	return rec.HSyncObject, memory, st
}

// TestReadersOfNativeFences: who may only wait for another user's native fence signals it
// by no request and by no memory; who may do neither does not open it; nobody makes the
// memory smaller.
func TestReadersOfNativeFences(t *testing.T) {
	needRoot(t, "native fences between users")
	_, path := public(t, kernel.Config{})
	owner, reader := somebody(t, path, alice, alice), somebody(t, path, bob, bob, staff)
	h, own, st := owner.createNative(owner.device, ntShared)
	if !st.OK() {
		t.Fatal(st)
	}
	defer unix.Close(own)
	shared, st := owner.share("native", object.MakeDescriptor(alice, staff, 0o640), object.GenericAll, h)
	if !st.OK() {
		t.Fatal(st)
	}
	defer unix.Close(shared)
	for _, access := range []object.Access{object.ReadControl, object.AccessWait, object.MaximumAllowed} {
		fd, st := reader.byName("native", access)
		if !st.OK() {
			t.Fatal(st)
		}
		defer unix.Close(fd)
		view, memory, st := reader.openNative(reader.device, fd)
		if !st.OK() {
			t.Errorf("with %#x: %v", access, st)
			continue
		}
		defer unix.Close(memory)
		if st := reader.signal(view, 5); st != abi.StatusAccessDenied {
			t.Errorf("a reader signals: %v", st)
		}
		if how := reader.writing(memory); how != "none" {
			t.Errorf("a reader writes: %s", how)
		}
		if err := unix.Ftruncate(memory, 0); err == nil {
			t.Error("a reader makes the memory smaller")
		}
	}
	bare, st := owner.byName("native", object.Delete)
	if !st.OK() {
		t.Fatal(st)
	}
	defer unix.Close(bare)
	if _, _, st := reader.openNative(reader.device, bare); st != abi.StatusAccessDenied {
		t.Errorf("by a handle that opens nothing: %v", st)
	}
	if err := unix.Ftruncate(own, 0); err == nil {
		t.Error("the owner makes the memory smaller")
	}
	m, err := page.Map(own, page.PageSize, false)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Unmap()
	if v := m.View().Cell.Value(); v != 0 {
		t.Errorf("the value is %d", v)
	}
	if st := owner.signal(h, 5); !st.OK() {
		t.Error(st)
	}
}

// TestDoorbellPages: the page of a doorbell's status is nobody's to write, and neither page
// becomes smaller.
func TestDoorbellPages(t *testing.T) {
	d, path := public(t, kernel.Config{})
	s, _ := pair(t, path)
	g := makeGPUSet(s.openAdapter(), s.mustDo)
	paged(d)
	r := request(abi.OpCreateDoorbell)
	*abi.View[abi.CreateDoorbell](r.Record) = abi.CreateDoorbell{HHwQueue: g.user, HRingBuffer: g.allocation}
	s.must(r, abi.StatusSuccess)
	defer closeFiles(r)
	if how := s.writing(r.Out[1].FD); how != "none" {
		t.Errorf("the status: %s", how)
	}
	for i, f := range r.Out {
		for _, size := range []int64{0, 8, 1 << 20} {
			if err := unix.Ftruncate(f.FD, size); err == nil {
				t.Errorf("page %d can be of %d bytes", i, size)
			}
		}
	}
}
