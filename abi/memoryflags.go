package abi

// The bits of CreateAllocationFlags that the kernel knows.
const (
	AllocationCreateResource    CreateAllocationFlags = 1 << 0
	AllocationCreateShared      CreateAllocationFlags = 1 << 1
	AllocationExistingSysMem    CreateAllocationFlags = 1 << 5
	AllocationNtSecuritySharing CreateAllocationFlags = 1 << 6
	AllocationCrossAdapter      CreateAllocationFlags = 1 << 11
	AllocationStandard          CreateAllocationFlags = 1 << 16
	AllocationExistingSection   CreateAllocationFlags = 1 << 17
)

// String returns the names of the bits.
func (f CreateAllocationFlags) String() string { return AllocationFlagRules.Format(uint32(f)) }

// AllocationFlagRules are the rules of allocation flags. Only what sharing needs has
// requirements; none of our sources says which version each bit came with.
// Source: the public headers; sharing.md §3.2; OQ-62.
var AllocationFlagRules = Flags{"D3DKMT_CREATEALLOCATIONFLAGS", []FlagRule{
	{Bit: 0, Name: "CreateResource", First: 1000, Meaning: "The allocations are a resource."},
	{Bit: 1, Name: "CreateShared", First: 1000, Requires: uint32(AllocationCreateResource), Meaning: "Others may open the resource."},
	{Bit: 2, Name: "NonSecure", First: 1000, Meaning: "The resource is shared without security."},
	{Bit: 3, Name: "CreateProtected", First: 1000, Meaning: "The content is protected."},
	{Bit: 4, Name: "RestrictSharedAccess", First: 1000, Meaning: "Only some processes may open the resource."},
	{Bit: 5, Name: "ExistingSysMem", First: 1000, Meaning: "The memory is the caller's, at pSystemMem."},
	{Bit: 6, Name: "NtSecuritySharing", First: 1000, Requires: uint32(AllocationCreateShared), Meaning: "It is shared through NT handles, and there is no global handle."},
	{Bit: 7, Name: "ReadOnly", First: 1000, Meaning: "The memory is only read."},
	{Bit: 8, Name: "CreateWriteCombined", First: 1000, Meaning: "The memory is mapped write-combined."},
	{Bit: 9, Name: "CreateCached", First: 1000, Meaning: "The memory is mapped cached."},
	{Bit: 10, Name: "SwapChainBackBuffer", First: 1000, Meaning: "It is a back buffer of a swap chain."},
	{Bit: 11, Name: "CrossAdapter", First: 1000, Meaning: "Devices of other adapters may open the resource."},
	{Bit: 12, Name: "OpenCrossAdapter", First: 1000, Meaning: "It stands for a cross-adapter resource that was opened."},
	{Bit: 13, Name: "PartialSharedCreation", First: 1000, Meaning: "Only a part of the resource is made."},
	{Bit: 14, Name: "Zeroed", First: 1000, Meaning: "The memory is zeroed."},
	{Bit: 15, Name: "WriteWatch", First: 1000, Meaning: "Writes to the memory are tracked."},
	{Bit: 16, Name: "StandardAllocation", First: 1000, Meaning: "It is of a standard kind, that needs no driver."},
	{Bit: 17, Name: "ExistingSection", First: 1000, Meaning: "The memory is that of a section."},
	{Bit: 18, Name: "AllowNotZeroed", First: 1000, Meaning: "The memory need not be zeroed."},
	{Bit: 19, Name: "PhysicallyContiguous", First: 1000, Meaning: "The memory is physically contiguous."},
	{Bit: 20, Name: "NoKmdAccess", First: 1000, Meaning: "The kernel-mode driver does not touch the memory."},
	{Bit: 21, Name: "SharedDisplayable", First: 1000, Meaning: "The memory may be shown by several displays."},
}}

// KeyedMutexNtSecuritySharing of CreateKeyedMutex2Flags: there is no global handle,
// and the keyed mutex may be shared in a bundle.
const KeyedMutexNtSecuritySharing CreateKeyedMutex2Flags = 1

// The bits of MakeResidentFlags.
const (
	MakeResidentCantTrimFurther MakeResidentFlags = 1 << 0
	MakeResidentMustSucceed     MakeResidentFlags = 1 << 1
)

// The bits of EvictFlags.
const (
	EvictOnlyIfNecessary EvictFlags = 1 << 0
	EvictNotWrittenTo    EvictFlags = 1 << 1
)

// The bits of GpuVirtualAddressProtectionType.
const (
	GpuProtectionWrite         GpuVirtualAddressProtectionType = 1 << 0
	GpuProtectionExecute       GpuVirtualAddressProtectionType = 1 << 1
	GpuProtectionZero          GpuVirtualAddressProtectionType = 1 << 2
	GpuProtectionNoAccess      GpuVirtualAddressProtectionType = 1 << 3
	GpuProtectionSystemUseOnly GpuVirtualAddressProtectionType = 1 << 4

	GpuProtections = GpuProtectionWrite | GpuProtectionExecute | GpuProtectionZero | GpuProtectionNoAccess | GpuProtectionSystemUseOnly
)

// UpdateGpuVirtualAddressDoNotWait is the flag DoNotWait of UpdateGpuVirtualAddress: the
// fence is signalled, and not waited for.
const UpdateGpuVirtualAddressDoNotWait = 1 << 0

// The bits of DestroyAllocation2Flags.
const (
	// DestroyAllocationAssumeNotInUse: nothing that is queued uses the allocations.
	DestroyAllocationAssumeNotInUse DestroyAllocation2Flags = 1 << 0
	// DestroyAllocationSynchronous: return when the memory is reclaimed.
	DestroyAllocationSynchronous DestroyAllocation2Flags = 1 << 1
)
