package adapter

import "github.com/dxgsync/dxgsync/abi"

// umDriverPrivate answers with the driver's own bytes. An adapter without them
// refuses: the size is the driver's own, so none the caller chooses is enough.
func (p *Profile) umDriverPrivate(b payload) abi.Status {
	if len(p.UMDPrivate) == 0 || len(b) < len(p.UMDPrivate) {
		return abi.StatusInvalidParameter
	}
	copy(b, p.UMDPrivate)
	return abi.StatusSuccess
}

// umDriverName: D3DKMT_UMDFILENAMEINFO {Version @0 in, UmdFileName[260] @4}.
func (p *Profile) umDriverName(b payload) abi.Status {
	version := b.get32(0)
	if uint64(version) >= uint64(len(p.UMD)) || p.UMD[version] == "" {
		return abi.StatusInvalidParameter
	}
	b.putText(4, pathChars, p.UMD[version])
	return abi.StatusSuccess
}

// segmentSize: D3DKMT_SEGMENTSIZEINFO, three sizes in bytes.
func (p *Profile) segmentSize(b payload) abi.Status {
	b.put64(0, p.Memory.DedicatedVideo<<mibShift)
	b.put64(8, p.Memory.DedicatedSystem<<mibShift)
	b.put64(16, p.Memory.SharedSystem<<mibShift)
	return abi.StatusSuccess
}

func (p *Profile) adapterGUID(b payload) abi.Status {
	copy(b, p.GUID[:])
	return abi.StatusSuccess
}

// adapterAddress: D3DKMT_ADAPTERADDRESS {BusNumber, DeviceNumber, FunctionNumber}.
func (p *Profile) adapterAddress(b payload) abi.Status {
	b.put32(0, p.PCI.Bus)
	b.put32(4, p.PCI.Device)
	b.put32(8, p.PCI.Function)
	return abi.StatusSuccess
}

// registryInfo: D3DKMT_ADAPTERREGISTRYINFO, four texts of 260 characters.
func (p *Profile) registryInfo(b payload) abi.Status {
	adapter := p.Strings.Adapter
	if adapter == "" {
		adapter = p.Description
	}
	for i, s := range []string{adapter, p.Strings.BIOS, p.Strings.DAC, p.Strings.Chip} {
		b.putText(i*2*pathChars, pathChars, s)
	}
	return abi.StatusSuccess
}

// wddm12: D3DKMT_WDDM_1_2_CAPS {two preemption granularities, flags @8}.
func (p *Profile) wddm12(b payload) abi.Status {
	b.put32(0, uint32(p.Preemption.Graphics))
	b.put32(4, uint32(p.Preemption.Compute))
	b.put32(8, p.Caps.word(qWDDM12))
	return abi.StatusSuccess
}

func (p *Profile) driverVersion(b payload) abi.Status {
	b.put64(0, p.DriverVersion.quad())
	return abi.StatusSuccess
}

// nodeMetadata: D3DKMT_NODEMETADATA {NodeOrdinalAndAdapterIndex @0 in: low half the
// node, high half the physical adapter; EngineType @4, FriendlyName[32] @8, Flags
// @72, GpuMmuSupported @76, IoMmuSupported @77}, packed.
func (p *Profile) nodeMetadata(b payload) abi.Status {
	node, physical := b.get32(0)&0xFFFF, b.get32(0)>>16
	if int(node) >= len(p.Nodes) || int(physical) >= p.PhysicalAdapters {
		return abi.StatusInvalidParameter
	}
	n := &p.Nodes[node]
	flags := n.Flags
	if !p.SubmitsFromUserMode() {
		flags &^= UserModeSubmissionSupported
	}
	b.put32(4, uint32(n.Engine))
	b.putText(8, nodeNameChars, n.FriendlyName)
	b.put32(72, uint32(flags)|uint32(n.MaxInFlightHwQueueBuffers)<<16)
	b.putBool(76, p.Caps.Has(GpuMmuSupported))
	b.putBool(77, p.Caps.Has(IoMmuSupported))
	return abi.StatusSuccess
}

// deviceIDs: D3DKMT_QUERY_DEVICE_IDS {PhysicalAdapterIndex @0 in, five ids, BusType}.
func (p *Profile) deviceIDs(b payload) abi.Status {
	if uint64(b.get32(0)) >= uint64(p.PhysicalAdapters) {
		return abi.StatusInvalidParameter
	}
	for i, id := range []ID{p.IDs.Vendor, p.IDs.Device, p.IDs.SubVendor, p.IDs.SubSystem, p.IDs.Revision} {
		b.put32(4+4*i, uint32(id))
	}
	b.put32(24, busTypePCI)
	return abi.StatusSuccess
}

// gpuMmuCaps: D3DKMT_QUERY_GPUMMU_CAPS {PhysicalAdapterIndex @0 in, flags, bits}.
func (p *Profile) gpuMmuCaps(b payload) abi.Status {
	if uint64(b.get32(0)) >= uint64(p.PhysicalAdapters) {
		return abi.StatusInvalidParameter
	}
	b.put32(4, uint32(p.GpuMmu.Flags))
	b.put32(8, p.GpuMmu.VirtualAddressBits)
	return abi.StatusSuccess
}

func (p *Profile) uniqueGUID(b payload) abi.Status {
	b.putText(0, guidChars, p.GUID.String())
	return abi.StatusSuccess
}

func (p *Profile) driverDescription(b payload) abi.Status {
	b.putText(0, descriptionChars, p.Description)
	return abi.StatusSuccess
}

// wddm27: bits 0 HwSchSupported, 1 HwSchEnabled, 2 HwSchEnabledByDefault.
func (p *Profile) wddm27() uint32 {
	return bit(0, p.HwScheduling.Support != SupportOff) | bit(1, p.HwScheduling.Enabled) |
		bit(2, p.HwScheduling.ByDefault) | p.Caps.word(qWDDM27)
}

// wddm29: bits 0–1 HwSchSupportState, 2 HwSchEnabled.
func (p *Profile) wddm29() uint32 {
	return uint32(p.HwScheduling.Support) | bit(2, p.HwScheduling.Enabled) | p.Caps.word(qWDDM29)
}

// wddm30: bits 0–1 HwFlipQueueSupportState, 2 HwFlipQueueEnabled.
func (p *Profile) wddm30() uint32 {
	return uint32(p.HwFlipQueue.Support) | bit(2, p.HwFlipQueue.Enabled) | p.Caps.word(qWDDM30)
}

func bit(n uint, on bool) uint32 {
	if on {
		return 1 << n
	}
	return 0
}

// Sizes of the texts, in 16-bit characters with the NUL, and other constants of the
// payloads.
const (
	pathChars        = 260
	nodeNameChars    = 32
	guidChars        = 40
	descriptionChars = 4096
	mibShift         = 20
	busTypePCI       = 5 // INTERFACE_TYPE PCIBus
)
