package ddi

import "github.com/dxgsync/dxgsync/abi"

// Recovery is what is done about an engine that does not answer. Nothing else is called
// on the engine, or for the adapter-wide calls on the adapter, while such a call is
// under way. Interrupts of it that come before the call returns are ignored, except
// those that the call itself reports.
type Recovery interface {
	// QueryDependentEngineGroup is the set of nodes, one bit each, that a reset of an
	// engine disturbs; its own among them. 0 counts as its own alone.
	// Source: DxgkDdiQueryDependentEngineGroup.
	QueryDependentEngineGroup(engine Engine) (nodes uint64)
	// ResetEngine resets one engine. When it returns, nothing of it runs, its hardware
	// queue is empty and it takes work. lastAborted is the SubmissionFenceID of the
	// packet that was aborted; packets after it can be submitted again. Every other
	// status than SUCCESS has the whole adapter reset. NOT_SUPPORTED without
	// PerEngineReset. Source: DxgkDdiResetEngine.
	ResetEngine(engine Engine) (lastAborted uint32, st abi.Status)
	// ResetHwEngine is the same for an engine with hardware queues: aborted says which
	// queue's packet was, 0 for none. Packets of other queues run again after
	// ResumeHwEngine. Source: DxgkDdiResetHwEngine.
	ResetHwEngine(engine Engine) (aborted KmdHwQueue, lastAborted uint64, st abi.Status)
	// ResumeHwEngine schedules the unaffected contexts again. A failure has the whole
	// adapter reset. Source: DxgkDdiResumeHwEngine.
	ResumeHwEngine(engine Engine) abi.Status
	// ResetFromTimeout resets the whole adapter: everything submitted is gone. A failure
	// stops the adapter. Source: DxgkDdiResetFromTimeout.
	ResetFromTimeout() abi.Status
	// RestartFromTimeout makes it usable again. A failure stops the adapter.
	// Source: DxgkDdiRestartFromTimeout.
	RestartFromTimeout() abi.Status
}

// Clocks are the clocks of engines.
type Clocks interface {
	// CalibrateGpuClock reads the clock of an engine. NOT_SUPPORTED: it has none;
	// INVALID_PARAMETER: there is no such engine. Source: DxgkDdiCalibrateGpuClock.
	CalibrateGpuClock(engine Engine) (Calibration, abi.Status)
}

// A Calibration is a reading of a GPU's clock beside the CPU's.
// Source: DXGKARG_CALIBRATEGPUCLOCK.
type Calibration struct {
	GpuFrequency    uint64 // ticks per second
	GpuClockCounter uint64
	CpuClockCounter uint64 // Callbacks.Now at the same moment, in nanoseconds
}
