package abi

// NativeFenceType is D3DDDI_NATIVEFENCE_TYPE: it is a type of native fence,
// native-fence.md §2.
type NativeFenceType uint32

// Values of NativeFenceType.
const (
	NativeFenceDefault  NativeFenceType = 0
	NativeFenceIntraGPU NativeFenceType = 1
)

// String returns the end of the value's public name.
func (v NativeFenceType) String() string { return nativeFenceTypes.format(int64(v)) }

var nativeFenceTypes = Enum{"D3DDDI_NATIVEFENCE_TYPE", "D3DDDI_NATIVEFENCE_TYPE_", []EnumValue{
	{int64(NativeFenceDefault), "DEFAULT"},
	{int64(NativeFenceIntraGPU), "INTRA_GPU"},
}}

// DoorbellStatus is D3DDDI_DOORBELLSTATUS: it is the status word of a doorbell,
// calls.md §8.
type DoorbellStatus uint32

// Values of DoorbellStatus.
const (
	DoorbellConnected          DoorbellStatus = 0
	DoorbellConnectedNotifyKMD DoorbellStatus = 1
	DoorbellDisconnectedRetry  DoorbellStatus = 2
	DoorbellDisconnectedAbort  DoorbellStatus = 3
)

// String returns the end of the value's public name.
func (v DoorbellStatus) String() string { return doorbellStatuses.format(int64(v)) }

var doorbellStatuses = Enum{"D3DDDI_DOORBELLSTATUS", "D3DDDI_DOORBELLSTATUS_", []EnumValue{
	{int64(DoorbellConnected), "CONNECTED"},
	{int64(DoorbellConnectedNotifyKMD), "CONNECTED_NOTIFY_KMD"},
	{int64(DoorbellDisconnectedRetry), "DISCONNECTED_RETRY"},
	{int64(DoorbellDisconnectedAbort), "DISCONNECTED_ABORT"},
}}

// NativeFenceLogType is DXGK_NATIVE_FENCE_LOG_TYPE: it says which events a log
// buffer holds.
type NativeFenceLogType uint32

// Values of NativeFenceLogType.
const (
	NativeFenceLogWaits   NativeFenceLogType = 1
	NativeFenceLogSignals NativeFenceLogType = 2
)

// String returns the end of the value's public name.
func (v NativeFenceLogType) String() string { return nativeFenceLogTypes.format(int64(v)) }

var nativeFenceLogTypes = Enum{"DXGK_NATIVE_FENCE_LOG_TYPE", "DXGK_NATIVE_FENCE_LOG_TYPE_", []EnumValue{
	{int64(NativeFenceLogWaits), "WAITS"},
	{int64(NativeFenceLogSignals), "SIGNALS"},
}}

// NativeFenceLogOperation is DXGK_NATIVE_FENCE_LOG_OPERATION: it is the event that a
// log entry tells of.
type NativeFenceLogOperation uint32

// Values of NativeFenceLogOperation.
const (
	NativeFenceLogSignalExecuted NativeFenceLogOperation = 0
	NativeFenceLogWaitUnblocked  NativeFenceLogOperation = 1
)

// String returns the end of the value's public name.
func (v NativeFenceLogOperation) String() string { return nativeFenceLogOperations.format(int64(v)) }

var nativeFenceLogOperations = Enum{"DXGK_NATIVE_FENCE_LOG_OPERATION", "DXGK_NATIVE_FENCE_LOG_OPERATION_", []EnumValue{
	{int64(NativeFenceLogSignalExecuted), "SIGNAL_EXECUTED"},
	{int64(NativeFenceLogWaitUnblocked), "WAIT_UNBLOCKED"},
}}
