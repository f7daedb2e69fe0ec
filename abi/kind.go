package abi

import "fmt"

// SyncObjectType is D3DDDI_SYNCHRONIZATIONOBJECT_TYPE, the kind of a
// synchronization object.
type SyncObjectType uint32

// The kinds. Source: objects.md §1.
const (
	SynchronizationMutex   SyncObjectType = 1
	Semaphore              SyncObjectType = 2
	Fence                  SyncObjectType = 3
	CPUNotification        SyncObjectType = 4
	MonitoredFence         SyncObjectType = 5
	PeriodicMonitoredFence SyncObjectType = 6
	NativeFence            SyncObjectType = 7
)

// kinds are what is known of each kind: its name, and the first version that has
// it. Native fences are made by a call of their own, never by
// CreateSynchronizationObject2 (OQ-38).
var kinds = [...]struct {
	name  string
	first WDDM
}{
	SynchronizationMutex:   {"mutex", 1000},
	Semaphore:              {"semaphore", 1000},
	Fence:                  {"fence", 1105},
	CPUNotification:        {"cpu-notification", 1105},
	MonitoredFence:         {"monitored-fence", 2000},
	PeriodicMonitoredFence: {"periodic-monitored-fence", 2200},
	NativeFence:            {"native-fence", 3200},
}

// Known reports whether k is one of the kinds.
func (k SyncObjectType) Known() bool { return k > 0 && int(k) < len(kinds) }

// String returns the kind in words, "monitored-fence".
func (k SyncObjectType) String() string {
	if !k.Known() {
		return fmt.Sprintf("type %d", uint32(k))
	}
	return kinds[k].name
}

// First returns the first WDDM version with the kind.
func (k SyncObjectType) First() WDDM {
	if !k.Known() {
		return 0
	}
	return kinds[k].first
}

// Kinds is a set of kinds.
type Kinds uint16

// Set makes a set.
func Set(kinds ...SyncObjectType) (s Kinds) {
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

// Has reports whether k is in the set.
func (s Kinds) Has(k SyncObjectType) bool { return k.Known() && s&(1<<k) != 0 }

// syncObjectTypes are the public names of the kinds.
var syncObjectTypes = Enum{"D3DDDI_SYNCHRONIZATIONOBJECT_TYPE", "D3DDDI_", []EnumValue{
	{int64(SynchronizationMutex), "SYNCHRONIZATION_MUTEX"},
	{int64(Semaphore), "SEMAPHORE"},
	{int64(Fence), "FENCE"},
	{int64(CPUNotification), "CPU_NOTIFICATION"},
	{int64(MonitoredFence), "MONITORED_FENCE"},
	{int64(PeriodicMonitoredFence), "PERIODIC_MONITORED_FENCE"},
	{int64(NativeFence), "NATIVE_FENCE"},
}}
