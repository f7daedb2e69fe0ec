package abi

// SyncObjectFlags is D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS.
type SyncObjectFlags uint32

// The bits. Source: objects.md §2.
const (
	SyncObjectShared SyncObjectFlags = 1 << iota
	SyncObjectNtSecuritySharing
	SyncObjectCrossAdapter
	SyncObjectTopOfPipeline
	SyncObjectNoSignal
	SyncObjectNoWait
	SyncObjectNoSignalMaxValueOnTdr
	SyncObjectNoGPUAccess
	SyncObjectSignalByKmd
	SyncObjectUnused
	SyncObjectUnwaitCpuWaitersOnlyOnDestroy
)

// String returns the names of the bits.
func (f SyncObjectFlags) String() string { return SyncObjectFlagRules.Format(uint32(f)) }

const (
	shared = uint32(SyncObjectShared)
	nt     = uint32(SyncObjectNtSecuritySharing)
)

var (
	inMemory = Set(MonitoredFence, NativeFence)
	legacy   = Set(SynchronizationMutex, Semaphore, Fence)
)

// SyncObjectFlagRules are the rules at creation.
// Source: objects.md §2, §2.1, §2.2; OQ-1 to OQ-8.
var SyncObjectFlagRules = Flags{"D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS", []FlagRule{
	{Bit: 0, Name: "Shared", First: 1105, Kinds: legacy | inMemory, RequiresInMemory: nt, Meaning: "Other devices and processes may open the object."},
	{Bit: 1, Name: "NtSecuritySharing", First: 1200, Kinds: legacy | inMemory, Requires: shared, Meaning: "It is shared through NT handles, and there is no global handle."},
	{Bit: 2, Name: "CrossAdapter", First: 1300, Kinds: legacy | inMemory, Requires: shared, Meaning: "Devices of other adapters may open it."},
	{Bit: 3, Name: "TopOfPipeline", First: 2000, Kinds: Set(MonitoredFence), Meaning: "A packet signal counts as soon as the work before it has been read into the pipeline."},
	{Bit: 4, Name: "NoSignal", First: 2000, Kinds: inMemory, Conflicts: uint32(SyncObjectNoWait), Meaning: "This device may only wait."},
	{Bit: 5, Name: "NoWait", First: 2000, Kinds: inMemory, Conflicts: uint32(SyncObjectNoSignal), Meaning: "This device may only signal."},
	{Bit: 6, Name: "NoSignalMaxValueOnTdr", First: 2000, Kinds: inMemory, Meaning: "The loss of this device does not raise the fence to its maximum."},
	{Bit: 7, Name: "NoGPUAccess", First: 2000, Kinds: Set(MonitoredFence), Meaning: "The fence is not mapped for the GPU; its value has 64 bits on every adapter."},
	{Bit: 8, Name: "SignalByKmd", First: 3000, Kinds: Set(CPUNotification), Meaning: "Only the kernel-mode driver signals it."},
	{Bit: 9, Name: "LocalMemoryPreferred", First: 3100, Last: 3199, Kinds: inMemory, Meaning: "A hint without effect at WDDM 3.1; unused and refused later."},
	{Bit: 10, Name: "UnwaitCpuWaitersOnlyOnDestroy", First: 3200, Kinds: inMemory, Meaning: "CPU waiters stay when their local object goes, until the shared object itself is destroyed."},
}}

// SyncObjectOpenIgnored are the bits that only repeat at open how the object was
// made (OQ-4).
const SyncObjectOpenIgnored = SyncObjectShared | SyncObjectNtSecuritySharing | SyncObjectCrossAdapter | SyncObjectTopOfPipeline |
	SyncObjectNoGPUAccess | SyncObjectUnwaitCpuWaitersOnlyOnDestroy

// CheckCreateFlags checks the kind and flags of CreateSynchronizationObject2 at a
// WDDM version: SUCCESS, or INVALID_PARAMETER for a kind that is none, that the
// version has not or that has a call of its own, and for flags that break a rule.
func CheckCreateFlags(k SyncObjectType, f SyncObjectFlags, w WDDM) Status {
	if !k.Known() || k == NativeFence || w < k.First() {
		return StatusInvalidParameter
	}
	if _, ok := SyncObjectFlagRules.Check(uint32(f), k, w); !ok {
		return StatusInvalidParameter
	}
	return StatusSuccess
}

// CheckOpenFlags checks the flags of an NT-handle opener: what they say of this
// device is checked as at creation, what repeats the object's attributes is
// ignored; bits newer than the version are refused (objects.md §2.3; OQ-4, OQ-59).
func CheckOpenFlags(k SyncObjectType, f SyncObjectFlags, w WDDM) Status {
	if !SyncObjectFlagRules.Allowed(uint32(f), w) {
		return StatusInvalidParameter
	}
	if _, ok := SyncObjectFlagRules.Check(uint32(f&^SyncObjectOpenIgnored), k, w); !ok {
		return StatusInvalidParameter
	}
	return StatusSuccess
}
