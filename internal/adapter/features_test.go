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
	if err := json.Unmarshal([]byte(`["NATIVE_FENCE"]`), &f); err == nil || err.Error() != `unknown feature "NATIVE_FENCE": use one of KMD_SIGNAL_CPU_EVENT` {
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

func TestPresetsSignalCPUEvents(t *testing.T) {
	for _, n := range Presets() {
		p, err := Load(n)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(p.Features.Names(), []string{"KMD_SIGNAL_CPU_EVENT"}) {
			t.Errorf("%s: features %v", n, p.Features.Names())
		}
	}
}
