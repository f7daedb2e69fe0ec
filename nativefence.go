package dxgsync

import (
	"os"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/page"
)

// PrivateDataSize is how many bytes of private data a native fence has,
// D3DDDI_NATIVE_FENCE_PDD_SIZE.
const PrivateDataSize = 64

// A NativeFence is a fence that GPUs wait for and signal by themselves, with
// [CommandBuffer.WaitNative] and [CommandBuffer.SignalNative]: no CPU has a part in it,
// and a CPU is interrupted only when somebody there waits for the value. For CPUs it is
// a [Fence] like any other, to be signalled, waited for, shared and named; but signals, and
// waits that are not satisfied, are the kernel's, which tells the GPUs.
//
// One of the type [abi.NativeFenceIntraGPU] is for GPUs alone: Value is 0 for ever, and
// whatever a CPU or a queue would do with it, waits, signals and notifications, answers
// [abi.StatusInvalidParameter].
type NativeFence struct {
	Fence
	monitored uint64
	kind      abi.NativeFenceType
	data      [PrivateDataSize]byte
}

// NativeFenceOptions are for [Device.NewNativeFence]. The zero value makes a fence of
// this process alone that starts at 0.
type NativeFenceOptions struct {
	// Type is [abi.NativeFenceDefault] or [abi.NativeFenceIntraGPU].
	Type abi.NativeFenceType
	// Initial is the first value. That of IntraGPU is for a command to write.
	Initial uint64
	// Shared makes a fence that [Fence.Share] can hand to other processes, to be opened
	// with [Device.OpenSharedNative]. Its values get pages of their own.
	Shared bool
	// Flags are further creation flags, D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS.
	Flags abi.SyncObjectFlags
	// Engines is a mask of the linked adapters that use the fence; 0: all.
	Engines uint32
	// Data is private data for the driver. The software GPU looks at none.
	Data [PrivateDataSize]byte
}

// NewNativeFence makes a native fence.
//
// Errors: [abi.StatusNotSupported] where GPUs have no native fences (ask
// [Adapter.Feature]), and for the type IntraGPU where the adapter does not have it;
// [abi.StatusInvalidParameter] for an unknown type and for flags that are reserved or in
// conflict; [abi.StatusNoMemory] at a limit; what else the driver answers; a [LossError]
// when the device is lost; [abi.StatusDeviceRemoved] after the loss of the daemon;
// [ErrClosed].
//
// D3DKMTCreateNativeFence.
func (d *Device) NewNativeFence(opts NativeFenceOptions) (*NativeFence, error) {
	if d.closed.Load() {
		return nil, ErrClosed
	}
	if opts.Shared {
		opts.Flags |= abi.SyncObjectShared | abi.SyncObjectNtSecuritySharing
	}
	rec := abi.CreateNativeFence{HDevice: d.handle, PrivateDriverData: opts.Data}
	rec.Info.InitialFenceValue, rec.Info.EngineAffinity = opts.Initial, opts.Engines
	rec.Info.Type, rec.Info.Flags = opts.Type, opts.Flags
	r := request(abi.OpCreateNativeFence, &rec)
	if st := d.s.door.do(r); st != abi.StatusSuccess {
		return nil, d.failure(st)
	}
	f := &NativeFence{kind: opts.Type, data: rec.PrivateDriverData}
	return d.adoptNative(f, r, rec.HSyncObject, opts.Flags, &rec.Info.NativeFenceMapping)
}

// OpenNativeOptions are for [Device.OpenSharedNative].
type OpenNativeOptions struct {
	// Flags as in [OpenOptions].
	Flags abi.SyncObjectFlags
	// Engines is a mask of the linked adapters that use the fence; 0: all.
	Engines uint32
	// Data is private data for the driver. The software GPU looks at none.
	Data [PrivateDataSize]byte
}

// OpenSharedNative opens the native fence that another process, or this one, has
// shared. It also opens a monitored fence of another adapter that was made with
// SyncObjectCrossAdapter. The other way round, [Device.OpenShared] opens a native fence
// as a monitored one, where GPUs have no native fences. The file stays the caller's.
//
// All views that a process has of one fence through devices of one adapter are at the
// same addresses.
//
// Errors: [abi.StatusNotSupported] where GPUs have no native fences; else as
// [Device.OpenShared] and as [Device.NewNativeFence].
//
// D3DKMTOpenNativeFenceFromNtHandle.
func (d *Device) OpenSharedNative(file *os.File, opts OpenNativeOptions) (*NativeFence, error) {
	if d.closed.Load() {
		return nil, ErrClosed
	}
	rec := abi.OpenNativeFenceFromNtHandle{
		HDevice: d.handle, EngineAffinity: opts.Engines, Flags: opts.Flags, PrivateDriverData: opts.Data,
	}
	r := request(abi.OpOpenNativeFenceFromNtHandle, &rec)
	st := withFile(file, func(fd int) abi.Status {
		r.Files[0] = fd
		return d.s.door.do(r)
	})
	if st != abi.StatusSuccess {
		return nil, d.failure(st)
	}
	f := &NativeFence{data: rec.PrivateDriverData}
	return d.adoptNative(f, r, rec.HSyncObject, opts.Flags, &rec.NativeFenceMapping)
}

// adoptNative is adopt for a native fence.
func (d *Device) adoptNative(f *NativeFence, r *abi.Request, h abi.Handle, flags abi.SyncObjectFlags, at *abi.NativeFenceMapping) (*NativeFence, error) {
	f.monitored = at.MonitoredValueGpuVa
	var err error
	if f.kind == abi.NativeFenceIntraGPU {
		// There is no memory to grant, nor rights to it. The kernel refuses what CPUs do.
		rights := uint8(abi.GrantSignal | abi.GrantWait)
		if flags&abi.SyncObjectNoSignal != 0 {
			rights = abi.GrantWait
		}
		err = f.init(d, h, flags, at.CurrentValueGpuVa, rights, unseen())
	} else {
		err = d.adoptAs(&f.Fence, r, h, flags, at.CurrentValueGpuVa)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// unseen is memory for a fence whose value no CPU sees: the kernel is asked, and refuses.
func unseen() *memory {
	v := page.View{Cell: new(page.Cell)}
	v.Cell.Init(0)
	v.SetAsk()
	return &memory{view: v, release: func() {}}
}

// Type returns what kind of native fence it is. For one that was opened that is
// [abi.NativeFenceDefault], whatever it was made as: nobody says.
func (f *NativeFence) Type() abi.NativeFenceType { return f.kind }

// MonitoredGPUAddress is the GPU virtual address of the monitored value, by which GPUs
// decide whether a signal interrupts a CPU. They only read it. [Fence.GPUAddress] is that
// of the current value.
func (f *NativeFence) MonitoredGPUAddress() uint64 { return f.monitored }

// PrivateData is what the driver has answered to the private data of the options.
func (f *NativeFence) PrivateData() [PrivateDataSize]byte { return f.data }
