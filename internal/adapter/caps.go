package adapter

import (
	"encoding/json"

	"github.com/dxgsync/dxgsync/abi"
)

// Caps is the set of an adapter's capabilities, each a bit of one of the
// D3DKMT_WDDM_…_CAPS answers.
type Caps uint32

// Capabilities, by the query that answers them.
const (
	// WDDM_1_2_CAPS
	SupportNonVGA Caps = 1 << iota
	SupportSmoothRotation
	SupportPerEngineTDR
	SupportKernelModeCommandBuffer
	SupportCCD
	SupportSoftwareDeviceBitmaps
	SupportGammaRamp
	SupportHWCursor
	SupportHWVSync
	SupportSurpriseRemovalInHibernation
	// WDDM_1_3_CAPS
	SupportMiracast
	IsHybridIntegratedGPU
	IsHybridDiscreteGPU
	SupportPowerManagementPStates
	SupportVirtualModes
	SupportCrossAdapterResource
	// WDDM_2_0_CAPS
	Support64BitAtomics
	GpuMmuSupported
	IoMmuSupported
	FlipOverwriteSupported
	SupportContextlessPresent
	SupportSurpriseRemoval
	// WDDM_2_7_CAPS
	IndependentVidPnVSyncControl
	// WDDM_2_9_CAPS
	SelfRefreshMemorySupported
	// WDDM_3_0_CAPS
	DisplayableSupported
	// WDDM_3_1_CAPS
	NativeGpuFenceSupported
)

// A capability is a bit of an answer with a sentence that says what is promised
// when it is set.
type capability struct {
	cap      Caps
	name     string
	query    uint32   // the query that answers it
	bit      uint     // in that answer's flag word
	first    abi.WDDM // the first driver model that may set it
	sentence string
}

var capabilities = []capability{
	{SupportNonVGA, "SupportNonVGA", qWDDM12, 0, 1200, "the adapter starts without VGA"},
	{SupportSmoothRotation, "SupportSmoothRotation", qWDDM12, 1, 1200, "a rotation shows no broken frame"},
	{SupportPerEngineTDR, "SupportPerEngineTDR", qWDDM12, 2, 1200, "a hung engine is reset alone"},
	{SupportKernelModeCommandBuffer, "SupportKernelModeCommandBuffer", qWDDM12, 3, 1200, "the kernel driver builds its own command buffers"},
	{SupportCCD, "SupportCCD", qWDDM12, 4, 1200, "displays are connected and configured by the system"},
	{SupportSoftwareDeviceBitmaps, "SupportSoftwareDeviceBitmaps", qWDDM12, 5, 1200, "device bitmaps are kept by software"},
	{SupportGammaRamp, "SupportGammaRamp", qWDDM12, 6, 1200, "a gamma ramp can be set"},
	{SupportHWCursor, "SupportHWCursor", qWDDM12, 7, 1200, "the cursor is drawn by hardware"},
	{SupportHWVSync, "SupportHWVSync", qWDDM12, 8, 1200, "vertical syncs come from hardware"},
	{SupportSurpriseRemovalInHibernation, "SupportSurpriseRemovalInHibernation", qWDDM12, 9, 1200, "the adapter may vanish during hibernation"},
	{SupportMiracast, "SupportMiracast", qWDDM13, 0, 1300, "Miracast displays work"},
	{IsHybridIntegratedGPU, "IsHybridIntegratedGPU", qWDDM13, 1, 1300, "the integrated half of a hybrid system"},
	{IsHybridDiscreteGPU, "IsHybridDiscreteGPU", qWDDM13, 2, 1300, "the discrete half of a hybrid system"},
	{SupportPowerManagementPStates, "SupportPowerManagementPStates", qWDDM13, 3, 1300, "the system chooses performance states"},
	{SupportVirtualModes, "SupportVirtualModes", qWDDM13, 4, 1300, "modes are scaled by the system"},
	{SupportCrossAdapterResource, "SupportCrossAdapterResource", qWDDM13, 5, 1300, "resources may be shared with another adapter"},
	{Support64BitAtomics, "Support64BitAtomics", qWDDM20, 0, 2000, "fence values in memory are updated 64 bits at once"},
	{GpuMmuSupported, "GpuMmuSupported", qWDDM20, 1, 2000, "the GPU translates its own virtual addresses"},
	{IoMmuSupported, "IoMmuSupported", qWDDM20, 2, 2000, "the GPU can use the CPU's virtual addresses"},
	{FlipOverwriteSupported, "FlipOverwriteSupported", qWDDM20, 3, 2000, "a queued flip can be replaced"},
	{SupportContextlessPresent, "SupportContextlessPresent", qWDDM20, 4, 2000, "a present needs no context"},
	{SupportSurpriseRemoval, "SupportSurpriseRemoval", qWDDM20, 5, 2000, "the adapter may vanish at any time"},
	{IndependentVidPnVSyncControl, "IndependentVidPnVSyncControl", qWDDM27, 3, 2700, "vertical sync interrupts are controlled per path"},
	{SelfRefreshMemorySupported, "SelfRefreshMemorySupported", qWDDM29, 3, 2900, "video memory survives sleep"},
	{DisplayableSupported, "DisplayableSupported", qWDDM30, 3, 3000, "displayable surfaces can be created"},
	{NativeGpuFenceSupported, "NativeGpuFenceSupported", qWDDM31, 0, 3100, "native fences are waited on and signalled by hardware"},
}

var capNames = func() []name {
	list := make([]name, len(capabilities))
	for i, c := range capabilities {
		list[i] = name{uint32(c.cap), c.name}
	}
	return list
}()

// Names lists the names of the capabilities.
func (c Caps) Names() []string { return bitWords(capNames, uint32(c)) }

// Has reports whether all capabilities of want are there.
func (c Caps) Has(want Caps) bool { return c&want == want }

// MarshalJSON writes the list of names.
func (c Caps) MarshalJSON() ([]byte, error) { return json.Marshal(c.Names()) }

// UnmarshalJSON reads a list of names.
func (c *Caps) UnmarshalJSON(data []byte) error {
	v, err := parseBits("capability", capNames, data)
	*c = Caps(v)
	return err
}

// word is the flag word of one query's answer.
func (c Caps) word(query uint32) uint32 {
	var w uint32
	for _, k := range capabilities {
		if k.query == query && c&k.cap != 0 {
			w |= 1 << k.bit
		}
	}
	return w
}

// CapInfo is a capability for people: its WDDM name and what it promises.
type CapInfo struct {
	Name     string
	Sentence string
}

// List describes the capabilities of the set, in the order of the headers.
func (c Caps) List() []CapInfo {
	var list []CapInfo
	for _, k := range capabilities {
		if c&k.cap != 0 {
			list = append(list, CapInfo{k.name, k.sentence})
		}
	}
	return list
}
