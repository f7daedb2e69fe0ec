package kernel

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/internal/object"
)

// A GPU stores to no fence that its process may only wait for: whatever command does it is
// a page fault of that device. The fence, and whoever made it, go on.
func TestReadersGPUDoesNotSignal(t *testing.T) {
	for name, store := range map[string]func(at abi.NativeFenceMapping) *cmdbuf.Buffer{
		"signal": func(at abi.NativeFenceMapping) *cmdbuf.Buffer {
			return cmdbuf.New().SignalNative(at.CurrentValueGpuVa, 7, at.MonitoredValueGpuVa, 1)
		},
		"plain signal":    func(at abi.NativeFenceMapping) *cmdbuf.Buffer { return cmdbuf.New().Signal(at.CurrentValueGpuVa, 7) },
		"write":           func(at abi.NativeFenceMapping) *cmdbuf.Buffer { return cmdbuf.New().Write64(at.CurrentValueGpuVa, 7) },
		"half":            func(at abi.NativeFenceMapping) *cmdbuf.Buffer { return cmdbuf.New().Write32(at.CurrentValueGpuVa, 7) },
		"fill":            func(at abi.NativeFenceMapping) *cmdbuf.Buffer { return cmdbuf.New().Fill(at.CurrentValueGpuVa, 7, 8) },
		"monitored value": func(at abi.NativeFenceMapping) *cmdbuf.Buffer { return cmdbuf.New().Write64(at.MonitoredValueGpuVa, 7) },
	} {
		for _, closed := range []bool{false, true} { // by flag, by the handle's access
			r := newBellRig(t, nil)
			made := abi.CreateNativeFence{HDevice: r.d}
			made.Info.Flags = shareable
			_, st := do(r.p, 0x800E, &made, nil)
			r.ok(st)
			access, flags := object.Access(object.GenericAll), abi.SyncObjectNoSignal
			if closed {
				access, flags = object.AccessWait, 0
			}
			fd, st := r.share(r.p, made.HSyncObject, access)
			r.ok(st)
			t.Cleanup(func() { r.k.NTClosed(r.host.files[fd].(object.Key)) })
			owner := *r
			r.attach()
			opened := abi.OpenNativeFenceFromNtHandle{HDevice: r.d, Flags: flags}
			_, st = do(r.p, 0x800F, &opened, []int{fd})
			r.ok(st)
			b := r.bell()
			r.ok(b.connect())
			b.put(cmdbuf.New().Wait(opened.NativeFenceMapping.CurrentValueGpuVa, 0, uint32(opened.HSyncObject)))
			r.run(short)
			b.want("reading", abi.DoorbellConnected, 1)
			b.put(store(opened.NativeFenceMapping))
			r.run(short)
			if got := r.state(); got != abi.DeviceExecutionDMAPageFault {
				t.Errorf("%s: the reader's device is %v", name, got)
			}
			if got := owner.state(); got != abi.DeviceExecutionActive || r.value(owner.p, made.HSyncObject) != 0 {
				t.Errorf("%s: the owner's device is %v, the fence at %d", name, got, r.value(owner.p, made.HSyncObject))
			}
			r.ok(signal(owner.p, owner.d, 0, handles(made.HSyncObject), values(3)))
		}
	}
}
