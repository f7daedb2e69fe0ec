package vidsch

import "github.com/dxgsync/dxgsync/ddi"

// A BugCheck is why Windows would have stopped the machine, with its parameters. Here it
// stops the adapter (OQ-67).
type BugCheck struct {
	Code   uint32
	Params [4]uint64
}

// Bug checks. Source: gpu.md §8.3.
var (
	VideoTDRFailure = BugCheck{Code: 0x116}
)

// SchedulerInternalError is the code for drivers that report what cannot be.
const SchedulerInternalError = 0x119

// aborted is the bug check about a driver that reports a reset wrongly.
func aborted(id, completed uint32) BugCheck {
	return BugCheck{SchedulerInternalError, [4]uint64{0xA, uint64(id), uint64(completed)}}
}

// A Report is a recovery that worked.
type Report struct {
	Code     uint32 // 0x117: adapter reset; 0x141: engine reset
	Promoted bool   // an adapter reset because an engine's failed: TdrReason 9
	Engine   ddi.Engine
	Guilty   *Device // nil: unknown
}

// Codes of reports.
const (
	VideoTDRTimeoutDetected    = 0x117
	VideoEngineTimeoutDetected = 0x141
)
