package ddi

import "strings"

// Caps is what a driver can do.
type Caps uint32

// Capabilities.
const (
	// SignalCpuEvent: the driver takes CPU events and signals them by itself. It is
	// feature 3, KMD_SIGNAL_CPU_EVENT; without it creating such an object answers
	// NOT_SUPPORTED (OQ-7).
	SignalCpuEvent Caps = 1 << iota
	// PeriodicFrameNotification: the driver interrupts before each vertical sync of a
	// target. Without it creating a periodic fence answers INVALID_PARAMETER
	// (objects.md §5.6).
	PeriodicFrameNotification
	// PerEngineReset: an engine can be reset alone. Without it every hang resets the
	// whole adapter (gpu.md §8.3).
	PerEngineReset
	// HwScheduling: there are hardware queues (gpu.md §4).
	HwScheduling
	// ReportsRead: the driver sends DmaRead. Without it TopOfPipeline signals take
	// effect when the packets before them are complete.
	ReportsRead
	// NativeGpuFence: there are native fences, DXGK_VIDSCHCAPS.NativeGpuFence. An adapter
	// whose profile has the feature NATIVE_FENCE off does not start with it.
	NativeGpuFence
	// OptimizedNativeFenceSignaledInterrupt: the interrupt names the hardware queue whose
	// log says what was signalled, and not the fences.
	OptimizedNativeFenceSignaledInterrupt
	// UserModeSubmission: there are doorbells.
	UserModeSubmission
	// DirectSignal: the driver is a PeerDriver. Ours.
	DirectSignal
)

// A capability is a bit with a sentence that says what is promised when it is set.
type capability struct {
	cap      Caps
	name     string
	sentence string
}

var capabilities = []capability{
	{SignalCpuEvent, "SignalCpuEvent", "the driver can signal a CPU event by itself"},
	{PeriodicFrameNotification, "PeriodicFrameNotification", "the driver can notify before each vertical sync of a target"},
	{PerEngineReset, "PerEngineReset", "an engine can be reset alone"},
	{HwScheduling, "HwScheduling", "there are hardware queues"},
	{ReportsRead, "ReportsRead", "the driver says when the commands of a packet were read completely"},
	{NativeGpuFence, "NativeGpuFence", "native fences are waited on and signalled by hardware"},
	{OptimizedNativeFenceSignaledInterrupt, "OptimizedNativeFenceSignaledInterrupt", "interrupts of native fences name the queue whose log has them"},
	{UserModeSubmission, "UserModeSubmission", "programs submit by ringing doorbells"},
	{DirectSignal, "DirectSignal", "GPUs tell each other of native fences without the CPU"},
}

// Has reports whether all capabilities of want are there.
func (c Caps) Has(want Caps) bool { return c&want == want }

// String lists the names of the capabilities.
func (c Caps) String() string {
	var names []string
	for _, k := range capabilities {
		if c.Has(k.cap) {
			names = append(names, k.name)
		}
	}
	return strings.Join(names, "|")
}

// Sentences says what the capabilities promise, one sentence each.
func (c Caps) Sentences() []string {
	var list []string
	for _, k := range capabilities {
		if c.Has(k.cap) {
			list = append(list, k.sentence)
		}
	}
	return list
}
