package dxgsync

import (
	"os"

	"github.com/dxgsync/dxgsync/abi"
)

// FenceOptions are for [Device.NewFence]. The zero value makes a fence of this
// process alone that starts at 0.
type FenceOptions struct {
	// Initial is the first value.
	Initial uint64
	// Shared makes a fence that [Fence.Share] can hand to other processes. It gets
	// a page of memory of its own.
	Shared bool
	// Flags are further creation flags, D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS.
	Flags abi.SyncObjectFlags
}

// NewFence makes a monitored fence.
//
// Errors: [abi.StatusInvalidParameter] for flags that are reserved, unknown to the
// adapter's WDDM level or in conflict; [abi.StatusNoMemory] at a limit;
// [abi.StatusDeviceRemoved] after the loss of the daemon; [ErrClosed] when the
// device was closed.
//
// D3DKMTCreateSynchronizationObject2 with D3DDDI_MONITORED_FENCE.
func (d *Device) NewFence(opts FenceOptions) (*Fence, error) {
	if opts.Shared {
		opts.Flags |= abi.SyncObjectShared | abi.SyncObjectNtSecuritySharing
	} else if f, err := d.newHeapFence(&opts); f != nil || err != nil {
		return f, err
	}
	if d.closed.Load() {
		return nil, ErrClosed
	}
	var rec abi.CreateSynchronizationObject2
	rec.HDevice = d.handle
	rec.Info.Type = abi.MonitoredFence
	rec.Info.Flags = opts.Flags
	rec.Info.MonitoredFence().InitialFenceValue = opts.Initial
	r := request(abi.OpCreateSynchronizationObject2, &rec)
	st := d.s.door.do(r)
	if st != abi.StatusSuccess {
		return nil, d.failure(st)
	}
	return d.adopt(r, rec.HSyncObject, opts.Flags, rec.Info.MonitoredFence().FenceValueGPUVirtualAddress)
}

// OpenOptions are for [Device.OpenShared].
type OpenOptions struct {
	// Flags say what this view of the fence may do: SyncObjectNoSignal,
	// SyncObjectNoWait. Flags that repeat how the fence was made are ignored.
	Flags abi.SyncObjectFlags
}

// OpenShared opens the fence that another process, or this one, has shared. The
// file stays the caller's.
//
// Errors: [abi.StatusInvalidHandle] when file is closed or its kernel gone;
// [abi.StatusObjectTypeMismatch] when it is something else;
// [abi.StatusInvalidParameter] for flags in conflict and for a device of another
// adapter; [abi.StatusAccessDenied] when the file gives no access;
// [abi.StatusNoMemory] at a limit; [abi.StatusDeviceRemoved] after the loss of the
// daemon; [ErrClosed] when the device was closed.
//
// D3DKMTOpenSyncObjectFromNtHandle2.
func (d *Device) OpenShared(file *os.File, opts OpenOptions) (*Fence, error) {
	if d.closed.Load() {
		return nil, ErrClosed
	}
	rec := abi.OpenSyncObjectFromNtHandle2{HDevice: d.handle, Flags: opts.Flags}
	r := request(abi.OpOpenSyncObjectFromNtHandle2, &rec)
	st := withFile(file, func(fd int) abi.Status {
		r.Files[0] = fd
		return d.s.door.do(r)
	})
	if st != abi.StatusSuccess {
		return nil, d.failure(st)
	}
	return d.adopt(r, rec.HSyncObject, opts.Flags, rec.MonitoredFence().FenceValueGPUVirtualAddress)
}

// withFile calls f with the descriptor of file, which stays open meanwhile.
func withFile(file *os.File, f func(fd int) abi.Status) abi.Status {
	conn, err := file.SyscallConn()
	if err != nil {
		return abi.StatusInvalidHandle
	}
	st := abi.StatusInvalidHandle
	if conn.Control(func(fd uintptr) { st = f(int(fd)) }) != nil {
		return abi.StatusInvalidHandle
	}
	return st
}

// adopt makes the Fence for a local object that the kernel has just made, which GPUs see
// at an address.
func (d *Device) adopt(r *abi.Request, h abi.Handle, flags abi.SyncObjectFlags, gpu uint64) (*Fence, error) {
	f := new(Fence)
	if err := d.adoptAs(f, r, h, flags, gpu); err != nil {
		return nil, err
	}
	return f, nil
}

// adoptAs is adopt for a Fence that is part of something else.
func (d *Device) adoptAs(f *Fence, r *abi.Request, h abi.Handle, flags abi.SyncObjectFlags, gpu uint64) error {
	mem, st := d.s.door.memory(r, h)
	if st != abi.StatusSuccess {
		d.s.DestroySynchronizationObject(&abi.DestroySynchronizationObject{HSyncObject: h})
		return d.failure(st)
	}
	return f.init(d, h, flags, gpu, r.Grant.Rights, mem)
}

func (f *Fence) init(d *Device, h abi.Handle, flags abi.SyncObjectFlags, gpu uint64, rights uint8, mem *memory) error {
	f.dev, f.handle, f.flags, f.gpu, f.rights, f.mem = d, h, flags, gpu, rights, mem
	f.val.Store(mem.view.Cell)
	f.sig.Store(&dead)
	f.wat.Store(&dead)
	if f.rights&abi.GrantSignal != 0 && mem.writable && mem.lease == nil {
		f.sig.Store(mem.view.Cell)
	}
	if f.rights&abi.GrantWait != 0 {
		f.wat.Store(mem.view.Cell)
	}
	if !d.s.enroll(f) {
		return d.s.failure(abi.StatusDeviceRemoved)
	}
	return nil
}

// Share returns a file that stands for the fence, for another process to open:
// pass it by inheritance or over a Unix socket. Whoever holds it can open the
// fence; the fence lives until the last copy is closed and the last view too.
// The caller closes it.
//
// Errors: [abi.StatusInvalidParameter] for a fence made without Shared;
// [abi.StatusNoMemory] at a limit; [abi.StatusDeviceRemoved] after the loss of the
// daemon; [ErrClosed].
//
// D3DKMTShareObjects with GENERIC_ALL.
func (f *Fence) Share() (*os.File, error) { return f.ShareWith(ShareOptions{}) }
