// Package adapter holds adapter profiles, the identity and abilities of a display
// adapter as data, and answers D3DKMTQueryAdapterInfo from them.
//
// Programs choose their adapter by vendor id, description, nodes or driver store,
// so all of that is configuration. A profile is a JSON file; the presets are such
// files built in. A file may start from another profile by naming it in "base" and
// then says only what differs:
//
//	{
//	  "base": "nvidia",
//	  "name": "mine",
//	  "driver_store": "/opt/driver-store",
//	  "nodes": [{"engine": "3d", "name": "3D"}, {"engine": "copy", "name": "Copy"}]
//	}
//
// Ids are numbers or strings such as "0x10de". Bit sets are lists of the names the
// public headers use. A field this package does not know is an error.
//
// The package imports abi only and changes nothing after a profile is validated;
// a validated profile may be used by any number of goroutines.
package adapter

import "github.com/dxgsync/dxgsync/abi"

// A Profile describes one logical adapter. Validate tells whether it makes sense.
type Profile struct {
	// Name is the short name in listings: 1 to 32 letters, digits, '-', '_' or '.'.
	Name string `json:"name"`
	// Description is what DRIVER_DESCRIPTION answers and what people see.
	Description string `json:"description"`
	// IDs are the PCI identity, one for all physical adapters.
	IDs IDs `json:"ids"`
	// PCI is where the adapter sits.
	PCI Address `json:"pci"`
	// GUID tells adapters of one machine apart, "{xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx}".
	GUID GUID `json:"guid"`

	// WDDM is the driver model level that DRIVERVERSION answers, 3200 for WDDM 3.2.
	WDDM abi.WDDM `json:"wddm"`
	// DriverVersion is the version of the user and the kernel driver, "32.0.15.6094".
	DriverVersion Version `json:"driver_version"`
	// DriverStore is the directory of the driver's files, as a path the program can
	// open. Programs that look into it need it to exist. Empty: the query fails.
	DriverStore string `json:"driver_store"`
	// DriverImage is the path of the kernel driver. Empty: the query fails.
	DriverImage string `json:"driver_image,omitempty"`
	// UMD are the user-mode driver names for the runtimes DX9, DX10, DX11, DX12, in
	// this order. An empty name or a missing one: the query is refused.
	UMD []string `json:"umd"`
	// UMDPrivate are the bytes that the user-mode driver asks its kernel driver for,
	// in hexadecimal. None: the query is refused, as no size can be the right one.
	UMDPrivate Bytes `json:"umd_private,omitempty"`

	// Type are the ADAPTERTYPE bits.
	Type TypeBits `json:"type"`
	// Caps are the capability bits of the WDDM_…_CAPS queries.
	Caps Caps `json:"caps"`
	// Features are the features of driver and system that are on or off.
	Features Features `json:"features"`
	// HwScheduling and HwFlipQueue are features in degrees.
	HwScheduling Feature `json:"hw_scheduling"`
	HwFlipQueue  Feature `json:"hw_flip_queue"`
	// NativeFence is how native fences are, with the feature NATIVE_FENCE.
	NativeFence NativeFenceOptions `json:"native_fence,omitzero"`
	// Doorbells are those of user-mode submission, with the feature USER_MODE_SUBMISSION.
	Doorbells DoorbellOptions `json:"doorbells,omitzero"`
	// CrossAdapter is the tier of cross-adapter resources.
	CrossAdapter Tier `json:"cross_adapter"`
	// Preemption is how finely running work can be interrupted.
	Preemption Preemption `json:"preemption"`
	// GpuMmu describes the GPU's own address translation.
	GpuMmu GpuMmu `json:"gpu_mmu"`

	// PhysicalAdapters is the number of linked GPUs, 1 to MaxPhysicalAdapters.
	PhysicalAdapters int `json:"physical_adapters"`
	// Nodes are the engines of one physical adapter, by node ordinal.
	Nodes []Node `json:"nodes"`
	// Memory are the sizes of the memory segments.
	Memory Memory `json:"memory"`
	// Displays are the video present targets, numbered from 0 in this order.
	Displays []Display `json:"displays"`

	// GpuClock is the frequency of the engines' clocks in ticks per second; 0 is
	// DefaultGpuClock.
	GpuClock uint64 `json:"gpu_clock_hz,omitempty"`
	// ForeignCommands is what becomes of command buffers that were written for another
	// GPU than the software one.
	ForeignCommands ForeignCommands `json:"foreign_commands,omitempty"`
	// Faults are what goes wrong on purpose.
	Faults Faults `json:"faults,omitzero"`

	// Strings are the texts of ADAPTERREGISTRYINFO.
	Strings Strings `json:"strings"`
	// Registry holds the values that QUERYREGISTRY finds.
	Registry Registry `json:"registry"`
}

// IDs identify a PCI device.
type IDs struct {
	Vendor    ID `json:"vendor"`
	Device    ID `json:"device"`
	SubVendor ID `json:"subvendor"`
	SubSystem ID `json:"subsystem"`
	Revision  ID `json:"revision"`
}

// Address is a PCI address.
type Address struct {
	Bus      uint32 `json:"bus"`
	Device   uint32 `json:"device"`
	Function uint32 `json:"function"`
}

// A Node is one engine of the GPU.
type Node struct {
	Engine Engine `json:"engine"`
	// FriendlyName has at most 31 UTF-16 units.
	FriendlyName string    `json:"name"`
	Flags        NodeFlags `json:"flags"`
	// MaxInFlightHwQueueBuffers bounds the command buffers of a hardware queue in flight.
	MaxInFlightHwQueueBuffers uint16 `json:"max_in_flight_hw_queue_buffers"`
	// DependentNodes are the ordinals of other nodes that a reset of this one disturbs.
	DependentNodes []int `json:"dependent_nodes,omitempty"`
}

// DefaultGpuClock is the frequency of a GPU's clock whose profile gives none, in ticks
// per second: a tick is a nanosecond.
const DefaultGpuClock = 1_000_000_000

// Faults are calls of recovery that the driver answers with UNSUCCESSFUL, so that what
// the system does then can be seen:
//
//	"faults": {"reset_engine": "fail", "resume": "fail", "restart": "fail"}
type Faults struct {
	// ResetEngine: no engine can be reset alone, the whole adapter must be.
	ResetEngine Outcome `json:"reset_engine,omitempty"`
	// Resume: an engine with hardware queues does not go on after its reset; the whole
	// adapter must be reset.
	Resume Outcome `json:"resume,omitempty"`
	// Restart: the adapter does not come back after its reset. It stops.
	Restart Outcome `json:"restart,omitempty"`
}

// NativeFenceOptions are what driver and system do with native fences.
// Source: native-fence.md §2, §6, §7, §8.
type NativeFenceOptions struct {
	// MonitoredValueStride is how far apart monitored values in one page are, in bytes:
	// a multiple of 8 from 8 to 4096; 0 is 64.
	MonitoredValueStride uint32 `json:"monitored_value_stride,omitempty"`
	// SystemProcess: both values are mapped for the hardware scheduler too.
	SystemProcess bool `json:"system_process,omitempty"`
	// MinimumAddress and MaximumAddress bound their GPU virtual addresses; 0: no bound.
	MinimumAddress uint64 `json:"minimum_address,omitempty"`
	MaximumAddress uint64 `json:"maximum_address,omitempty"`
	// OptimizedDefault and IntraGPU are the types that Windows does not have yet:
	// SupportOptimizedDefaultFenceType and SupportIntraGpuFenceType.
	OptimizedDefault bool `json:"optimized_default,omitempty"`
	IntraGPU         bool `json:"intra_gpu,omitempty"`
	// Interrupt is what interrupts of native fences say.
	Interrupt NativeInterrupt `json:"interrupt,omitempty"`
	// DirectSignal: GPUs whose profiles all have it tell each other of cross-adapter native
	// fences without the CPU. Beyond Windows.
	DirectSignal bool `json:"direct_signal,omitempty"`
}

// DoorbellOptions are what user-mode submission has.
type DoorbellOptions struct {
	// Physical is how many doorbells can be connected at once; 0 is DefaultDoorbells. One
	// more takes that of the queue that rang least recently.
	Physical int `json:"physical,omitempty"`
	// Secondary: a second doorbell can be asked for.
	Secondary bool `json:"secondary,omitempty"`
	// Notify: each ring has to be told by D3DKMTNotifyWorkSubmission.
	Notify bool `json:"notify,omitempty"`
}

// DefaultDoorbells is how many doorbells a GPU has whose profile does not say.
const DefaultDoorbells = 64

// GpuMmu describes the GPU's address translation.
type GpuMmu struct {
	Flags MmuFlags `json:"flags"`
	// VirtualAddressBits is the width of a GPU virtual address, 32 to 64.
	VirtualAddressBits uint32 `json:"va_bits"`
}

// Memory are segment sizes in MiB.
type Memory struct {
	DedicatedVideo  uint64 `json:"dedicated_video_mib"`
	DedicatedSystem uint64 `json:"dedicated_system_mib"`
	SharedSystem    uint64 `json:"shared_system_mib"`
}

// A Display is a video present target.
type Display struct {
	Name string `json:"name"`
	// Width and Height are in pixels.
	Width  uint32 `json:"width"`
	Height uint32 `json:"height"`
	// Refresh is the refresh rate in thousandths of a hertz, 1000 to 1000000.
	Refresh uint32 `json:"refresh_mhz"`
}

// Strings are the texts of ADAPTERREGISTRYINFO, each at most 259 UTF-16 units.
type Strings struct {
	// Adapter is the product name. Empty: the description.
	Adapter string `json:"adapter,omitempty"`
	BIOS    string `json:"bios,omitempty"`
	DAC     string `json:"dac,omitempty"`
	Chip    string `json:"chip,omitempty"`
}

// Registry are the values under the driver's two registry keys. Names are compared
// without regard to case, as in a registry.
type Registry struct {
	Service map[string]Value `json:"service,omitempty"`
	Adapter map[string]Value `json:"adapter,omitempty"`
}

// Preemption are the granularities of WDDM_1_2_CAPS.
type Preemption struct {
	Graphics Graphics `json:"graphics"`
	Compute  Compute  `json:"compute"`
}

// A Feature is an ability that a driver supports to some degree and the system has
// on or off.
type Feature struct {
	Support   Support `json:"support"`
	Enabled   bool    `json:"enabled"`
	ByDefault bool    `json:"by_default,omitempty"`
}

// Sources is the number of video present sources: one for each display.
func (p *Profile) Sources() int { return len(p.Displays) }

// ComputeOnly reports whether the adapter is left out of enumerations that do not
// ask for compute-only adapters.
func (p *Profile) ComputeOnly() bool { return p.Type&ComputeOnly != 0 }

// DisplayOnly reports whether the adapter shows pictures but renders none.
func (p *Profile) DisplayOnly() bool {
	return p.Type&DisplaySupported != 0 && p.Type&RenderSupported == 0
}

// Engines is the width of an engine affinity mask: a node has one engine on each
// physical adapter (OQ-22).
func (p *Profile) Engines() int { return p.PhysicalAdapters }
