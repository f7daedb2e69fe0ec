package abi

// Flags of CreateDoorbell. Source: calls.md §8.
const (
	// DoorbellRequireSecondaryCpuVA asks for a secondary doorbell.
	DoorbellRequireSecondaryCpuVA CreateDoorbellFlags = 1 << iota
	// DoorbellResizeRingBufferOperation makes the doorbell of a queue anew, with another
	// ring buffer.
	DoorbellResizeRingBufferOperation

	// DoorbellFlags are all of them.
	DoorbellFlags = DoorbellRequireSecondaryCpuVA | DoorbellResizeRingBufferOperation
)

// MaxDoorbellPrivateData is how many bytes of private data a doorbell has at most:
// D3DDDI_DOORBELL_PRIVATEDATA_MAX_BYTES_WDDM3_1.
const MaxDoorbellPrivateData = 16
