package abi

import "testing"

// The grid of objects.md §2.2: which bit is legal for which kind, with the bits it
// needs beside it, on an adapter of WDDM 3.2.
func TestLegalFlagsByKind(t *testing.T) {
	grid := map[SyncObjectType]string{
		//                      bit 0123456789A
		SynchronizationMutex:   "+++--------",
		Semaphore:              "+++--------",
		Fence:                  "+++--------",
		CPUNotification:        "--------+--",
		MonitoredFence:         "++++++++--+",
		PeriodicMonitoredFence: "-----------",
	}
	for k, row := range grid {
		for bit := range row {
			f := SyncObjectFlags(1 << bit)
			switch f {
			case SyncObjectNtSecuritySharing, SyncObjectCrossAdapter:
				f |= SyncObjectShared
			}
			if k == MonitoredFence && f&SyncObjectShared != 0 {
				f |= SyncObjectNtSecuritySharing
			}
			want := StatusInvalidParameter
			if row[bit] == '+' {
				want = StatusSuccess
			}
			// Shared alone is illegal where the kind is: the grid speaks of the bit.
			if got := CheckCreateFlags(k, f, 3200); got != want {
				t.Errorf("%v with bit %d (%v): %v, want %v", k, bit, f, got, want)
			}
		}
		if got := CheckCreateFlags(k, 0, 3200); got != StatusSuccess {
			t.Errorf("%v without flags: %v", k, got)
		}
	}
}

func TestCombinations(t *testing.T) {
	const nts = SyncObjectShared | SyncObjectNtSecuritySharing
	for _, c := range []struct {
		k    SyncObjectType
		f    SyncObjectFlags
		w    WDDM
		want Status
	}{
		{MonitoredFence, nts, 3200, 0},
		{MonitoredFence, SyncObjectShared, 3200, StatusInvalidParameter},
		{MonitoredFence, SyncObjectNtSecuritySharing, 3200, StatusInvalidParameter},
		{SynchronizationMutex, SyncObjectShared, 3200, 0},
		{SynchronizationMutex, SyncObjectNtSecuritySharing, 3200, StatusInvalidParameter},
		{MonitoredFence, SyncObjectNoSignal | SyncObjectNoWait, 3200, StatusInvalidParameter},
		{MonitoredFence, SyncObjectCrossAdapter, 3200, StatusInvalidParameter},
		{MonitoredFence, nts | SyncObjectCrossAdapter, 3200, 0},
		{MonitoredFence, 0x483, 3200, 0},
		{MonitoredFence, 0x483, 3100, StatusInvalidParameter},
		{MonitoredFence, SyncObjectUnwaitCpuWaitersOnlyOnDestroy, 3200, 0},
		{MonitoredFence, 0x200, 3000, StatusInvalidParameter},
		{MonitoredFence, 0x200, 3100, 0},
		{MonitoredFence, 0x200, 3200, StatusInvalidParameter},
		{MonitoredFence, 0x800, 3200, StatusInvalidParameter},
		{MonitoredFence, 1 << 31, 3200, StatusInvalidParameter},
		{MonitoredFence, SyncObjectTopOfPipeline | SyncObjectNoGPUAccess, 2000, 0},
		{MonitoredFence, 0, 1300, StatusInvalidParameter},
		{PeriodicMonitoredFence, 0, 2100, StatusInvalidParameter},
		{PeriodicMonitoredFence, 0, 2200, 0},
		{NativeFence, 0, 3200, StatusInvalidParameter},
		{0, 0, 3200, StatusInvalidParameter},
		{8, 0, 3200, StatusInvalidParameter},
		{^SyncObjectType(0), 0, 3200, StatusInvalidParameter},
	} {
		if got := CheckCreateFlags(c.k, c.f, c.w); got != c.want {
			t.Errorf("%v, %v, WDDM %v: %v, want %v", c.k, c.f, c.w, got, c.want)
		}
	}
}

func TestFlagsAtOpen(t *testing.T) {
	for _, c := range []struct {
		f    SyncObjectFlags
		w    WDDM
		want Status
	}{
		{0, 3200, 0},
		{0x483, 3200, 0},
		{0x483, 3000, StatusInvalidParameter},
		{SyncObjectNtSecuritySharing, 3200, 0},
		{SyncObjectCrossAdapter, 3200, 0},
		{SyncObjectNoSignal, 2000, 0},
		{SyncObjectNoSignal | SyncObjectNoWait, 3200, StatusInvalidParameter},
		{SyncObjectSignalByKmd, 3200, StatusInvalidParameter},
		{0x800, 3200, StatusInvalidParameter},
		{1 << 31, 3200, StatusInvalidParameter},
	} {
		if got := CheckOpenFlags(MonitoredFence, c.f, c.w); got != c.want {
			t.Errorf("%v, WDDM %v: %v, want %v", c.f, c.w, got, c.want)
		}
	}
}

// Native fences have a call of their own; their rules are data already.
func TestLegalFlagsOfNativeFences(t *testing.T) {
	const row = "+++-+++---+"
	for bit := range row {
		f := uint32(1 << bit)
		if bit < 3 {
			f |= shared | nt
		}
		if _, ok := SyncObjectFlagRules.Check(f, NativeFence, 3200); ok != (row[bit] == '+') {
			t.Errorf("bit %d is legal: %v", bit, ok)
		}
	}
	if _, ok := SyncObjectFlagRules.Check(shared, NativeFence, 3200); ok {
		t.Error("a native fence is shared without NtSecuritySharing")
	}
}

// calls.md §5: which signal takes which bit.
func TestSignalFlagsByCall(t *testing.T) {
	for name, takes := range map[string]SignalFlags{
		"D3DKMTSignalSynchronizationObject2":        SignalAtSubmission | SignalEnqueueCpuEvent | SignalAllowFenceRewind,
		"D3DKMTSignalSynchronizationObjectFromGpu2": SignalAtSubmission | SignalEnqueueCpuEvent | SignalAllowFenceRewind,
		"D3DKMTSubmitSignalSyncObjectsToHwQueue":    SignalAtSubmission | SignalAllowFenceRewind,
		"D3DKMTSignalSynchronizationObjectFromCpu":  SignalAllowFenceRewind,
	} {
		op := OpByName(name)
		for bit := range 32 {
			f := SignalFlags(1) << bit
			want := StatusInvalidParameter
			if takes&f != 0 {
				want = StatusSuccess
			}
			if got := CheckSignalFlags(op.Nr, f, 3200); got != want {
				t.Errorf("%s with bit %d: %v, want %v", name, bit, got, want)
			}
		}
		if got := CheckSignalFlags(op.Nr, SignalAllowFenceRewind, 1300); got != StatusInvalidParameter {
			t.Errorf("%s: AllowFenceRewind at WDDM 1.3: %v", name, got)
		}
	}
}

// A bit that the system sets is no mistake of the caller.
func TestBitsOfTheSystemAreIgnored(t *testing.T) {
	nr := OpByName("D3DKMTCreateHwQueue").Nr
	if !HwQueueFlagRules.Taken(uint32(HwQueueNativeProgressFence), nr, 2300) {
		t.Error("NativeProgressFence is refused")
	}
	if HwQueueFlagRules.Taken(uint32(HwQueueUserModeSubmission), nr, 2300) {
		t.Error("UserModeSubmission is taken before its version")
	}
}

// Every rule has the name and place that the public headers give the bit.
func TestRulesNamePublicBits(t *testing.T) {
	words := map[string]layout{}
	for _, l := range layouts(t, "64") {
		words[l.name] = l
	}
	for _, f := range []*Flags{&SyncObjectFlagRules, &SignalFlagRules, &WaitFlagRules, &DeviceFlagRules, &ContextFlagRules, &HwQueueFlagRules, &AllocationFlagRules} {
		public := map[int]string{}
		for _, b := range words[f.Name].fields {
			if b.kind == "bitfield" && b.width == 1 {
				public[b.bit] = b.name
			}
		}
		delete(public, 31) // reserved, under several names
		for _, r := range f.Rules {
			name := public[int(r.Bit)]
			delete(public, int(r.Bit))
			switch {
			case r.Name == name:
			case r.Name == "LocalMemoryPreferred" && name == "Unused": // its second name
			case r.Name == "TestQueue" && name == "": // newer than the headers
			default:
				t.Errorf("%s: bit %d is %s, the headers say %q", f.Name, r.Bit, r.Name, name)
			}
		}
		for bit, name := range public {
			t.Errorf("%s: bit %d, %s, has no rule", f.Name, bit, name)
		}
	}
}

// Every flag word has one rule a bit, in order, each with a sentence.
func TestRulesAreWellFormed(t *testing.T) {
	for _, f := range []*Flags{&SyncObjectFlagRules, &SignalFlagRules, &WaitFlagRules, &DeviceFlagRules, &ContextFlagRules, &HwQueueFlagRules, &AllocationFlagRules} {
		for i, r := range f.Rules {
			if int(r.Bit) != i || r.Name == "" || r.Meaning == "" || r.First == 0 {
				t.Errorf("%s: rule %d is %+v", f.Name, i, r)
			}
		}
		if f.Format(0) != "0" || f.Format(1<<31) != "0x80000000" || f.Format(1) != f.Rules[0].Name {
			t.Errorf("%s: formats %q, %q", f.Name, f.Format(1), f.Format(1<<31))
		}
	}
}
