package adapter

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

func TestFeatureTable(t *testing.T) {
	var seen Features
	for _, k := range features {
		if k.id >= 64 || seen.Has(k.id) || k.sentence == "" || k.first < 2000 || strings.Contains(k.id.String(), " ") {
			t.Errorf("%v: no bit, doubled, without sentence, level or name", k.id)
		}
		seen |= 1 << k.id
	}
	if KMDSignalCPUEvent != 1<<3 || seen&KMDSignalCPUEvent == 0 {
		t.Errorf("KMD_SIGNAL_CPU_EVENT is %#x of %#x, want bit 3", KMDSignalCPUEvent, seen)
	}
}

func TestFeaturesAsNames(t *testing.T) {
	var f Features
	if err := json.Unmarshal([]byte(`["kmd_signal_cpu_event"]`), &f); err != nil || f != KMDSignalCPUEvent {
		t.Fatalf("read %#x, %v", f, err)
	}
	if data, _ := json.Marshal(f); string(data) != `["KMD_SIGNAL_CPU_EVENT"]` {
		t.Errorf("written as %s", data)
	}
	if data, _ := json.Marshal(Features(0)); string(data) != `[]` {
		t.Errorf("none are written as %s", data)
	}
	if err := json.Unmarshal([]byte(`["SAMPLE"]`), &f); err == nil || err.Error() != `unknown feature "SAMPLE": use one of KMD_SIGNAL_CPU_EVENT, USER_MODE_SUBMISSION, NATIVE_FENCE` {
		t.Errorf("an unknown name: %v", err)
	}
	if err := json.Unmarshal([]byte(`8`), &f); err == nil {
		t.Error("a number was taken")
	}
	for id := range abi.FeatureID(70) {
		if KMDSignalCPUEvent.Has(id) != (id == abi.FeatureKMDSignalCPUEvent) {
			t.Errorf("Has(%d) is wrong", id)
		}
	}
	if list := KMDSignalCPUEvent.List(); len(list) != 1 || list[0].Name != "KMD_SIGNAL_CPU_EVENT" || list[0].Sentence == "" {
		t.Errorf("listed as %v", list)
	}
}

func TestFeaturesOfPresets(t *testing.T) {
	all := []string{"KMD_SIGNAL_CPU_EVENT", "USER_MODE_SUBMISSION", "NATIVE_FENCE"}
	for name, want := range map[string][]string{"neutral": all, "native": all, "amd": all[:1], "intel": {all[0], all[2]}, "nvidia": {all[0], all[2]}} {
		p, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(p.Features.Names(), want) {
			t.Errorf("%s: features %v", name, p.Features.Names())
		}
		if p.NativeFences() != (len(want) > 1) || p.SubmitsFromUserMode() != (len(want) > 2) {
			t.Errorf("%s: native fences %v, doorbells %v", name, p.NativeFences(), p.SubmitsFromUserMode())
		}
	}
}

// What a feature needs and is not there keeps it off, and everything says so.
func TestWhatFeaturesNeed(t *testing.T) {
	for name, change := range map[string]func(*Profile){
		"scheduling": func(p *Profile) { p.HwScheduling.Enabled = false },
		"atomics":    func(p *Profile) { p.Caps &^= Support64BitAtomics },
		"addresses":  func(p *Profile) { p.Caps &^= GpuMmuSupported },
		"bit":        func(p *Profile) { p.Caps &^= NativeGpuFenceSupported },
	} {
		p := neutral(t)
		change(p)
		for _, id := range []abi.FeatureID{abi.FeatureNativeFence, abi.FeatureUserModeSubmission} {
			if enabled, known, byDriver, configured, version := p.Feature(id); enabled || !known || !byDriver || configured || version != 1 {
				t.Errorf("%s: %v is %v %v %v %v %d", name, id, enabled, known, byDriver, configured, version)
			}
		}
		if st, b := ask(p, 25, 78, map[int]uint32{0: 0}); st != abi.StatusSuccess || b.get32(72)&8 != 0 {
			t.Errorf("%s: %v, node flags %#x", name, st, b.get32(72))
		}
	}
	p := neutral(t)
	p.Features &^= NativeFence
	if p.SubmitsFromUserMode() {
		t.Error("doorbells without native fences")
	}
	if _, known, _, _, _ := p.Feature(99); known {
		t.Error("feature 99 is known")
	}
}
