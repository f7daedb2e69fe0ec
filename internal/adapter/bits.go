package adapter

import "encoding/json"

// TypeBits are the bits of D3DKMT_ADAPTERTYPE.
type TypeBits uint32

// Adapter type bits.
const (
	RenderSupported TypeBits = 1 << iota
	DisplaySupported
	SoftwareDevice
	PostDevice
	HybridDiscrete
	HybridIntegrated
	IndirectDisplayDevice
	Paravirtualized
	ACGSupported
	SupportSetTimingsFromVidPn
	Detachable
	ComputeOnly
	Prototype
	RuntimePowerManagement
)

var typeNames = []name{
	{uint32(RenderSupported), "RenderSupported"},
	{uint32(DisplaySupported), "DisplaySupported"},
	{uint32(SoftwareDevice), "SoftwareDevice"},
	{uint32(PostDevice), "PostDevice"},
	{uint32(HybridDiscrete), "HybridDiscrete"},
	{uint32(HybridIntegrated), "HybridIntegrated"},
	{uint32(IndirectDisplayDevice), "IndirectDisplayDevice"},
	{uint32(Paravirtualized), "Paravirtualized"},
	{uint32(ACGSupported), "ACGSupported"},
	{uint32(SupportSetTimingsFromVidPn), "SupportSetTimingsFromVidPn"},
	{uint32(Detachable), "Detachable"},
	{uint32(ComputeOnly), "ComputeOnly"},
	{uint32(Prototype), "Prototype"},
	{uint32(RuntimePowerManagement), "RuntimePowerManagement"},
}

// Names lists the names of the bits.
func (t TypeBits) Names() []string { return bitWords(typeNames, uint32(t)) }

// MarshalJSON writes the list of names.
func (t TypeBits) MarshalJSON() ([]byte, error) { return json.Marshal(t.Names()) }

// UnmarshalJSON reads a list of names.
func (t *TypeBits) UnmarshalJSON(data []byte) error {
	v, err := parseBits("adapter type", typeNames, data)
	*t = TypeBits(v)
	return err
}

// NodeFlags are the low bits of DXGK_NODEMETADATA_FLAGS.
type NodeFlags uint32

// Node flags.
const (
	ContextSchedulingSupported NodeFlags = 1 << iota
	RingBufferFenceRelease
	SupportTrackedWorkload
	// UserModeSubmissionSupported comes after the ones whose place is public; its bit, 3,
	// is our choice (OQ-73).
	UserModeSubmissionSupported
)

var nodeFlagNames = []name{
	{uint32(ContextSchedulingSupported), "ContextSchedulingSupported"},
	{uint32(RingBufferFenceRelease), "RingBufferFenceRelease"},
	{uint32(SupportTrackedWorkload), "SupportTrackedWorkload"},
	{uint32(UserModeSubmissionSupported), "UserModeSubmissionSupported"},
}

// Names lists the names of the bits.
func (f NodeFlags) Names() []string { return bitWords(nodeFlagNames, uint32(f)) }

// MarshalJSON writes the list of names.
func (f NodeFlags) MarshalJSON() ([]byte, error) { return json.Marshal(f.Names()) }

// UnmarshalJSON reads a list of names.
func (f *NodeFlags) UnmarshalJSON(data []byte) error {
	v, err := parseBits("node flag", nodeFlagNames, data)
	*f = NodeFlags(v)
	return err
}

// MmuFlags are the bits of D3DKMT_GPUMMU_CAPS.
type MmuFlags uint32

// GPU address translation flags.
const (
	ReadOnlyMemorySupported MmuFlags = 1 << iota
	NoExecuteMemorySupported
	CacheCoherentMemorySupported
)

var mmuNames = []name{
	{uint32(ReadOnlyMemorySupported), "ReadOnlyMemorySupported"},
	{uint32(NoExecuteMemorySupported), "NoExecuteMemorySupported"},
	{uint32(CacheCoherentMemorySupported), "CacheCoherentMemorySupported"},
}

// Names lists the names of the bits.
func (f MmuFlags) Names() []string { return bitWords(mmuNames, uint32(f)) }

// MarshalJSON writes the list of names.
func (f MmuFlags) MarshalJSON() ([]byte, error) { return json.Marshal(f.Names()) }

// UnmarshalJSON reads a list of names.
func (f *MmuFlags) UnmarshalJSON(data []byte) error {
	v, err := parseBits("GPU MMU flag", mmuNames, data)
	*f = MmuFlags(v)
	return err
}
