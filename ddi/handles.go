package ddi

// Handles. Those that start with Dxg are the kernel's and mean nothing to a driver,
// the others are the driver's and mean nothing to the kernel. 0 is none.
type (
	KmdDevice    uint64 // hKmdDevice, hDevice
	KmdContext   uint64 // hContext
	KmdHwQueue   uint64 // hHwQueue
	KmdCpuEvent  uint64 // hKmdCpuEvent
	DxgCpuEvent  uint64 // hDxgCpuEvent
	Notification uint64 // hNotification
)

// An Engine names a place where work runs: a node of one of the physical adapters of a
// link (gpu.md §1). EngineOrdinal is 0 without a link.
type Engine struct {
	NodeOrdinal   uint32
	EngineOrdinal uint32
}
