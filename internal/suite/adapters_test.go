package suite

import (
	"testing"

	"github.com/dxgsync/dxgsync/internal/adapter"
)

// A scenario can take an adapter's features away, in words that exist.
func TestAdapterWithout(t *testing.T) {
	a, err := parseAdapter("neutral without=KMD_SIGNAL_CPU_EVENT")
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.profile()
	if err != nil || p.Features&adapter.KMDSignalCPUEvent != 0 {
		t.Errorf("has %s, %v", p.Features.Names(), err)
	}
	a.Without = []string{"FLYING"}
	if _, err := a.profile(); err == nil {
		t.Error("took an unknown feature away")
	}
}

// A scenario can take capabilities away and set fields, and the preset stays as it is.
func TestAdapterSet(t *testing.T) {
	a, err := parseAdapter(`neutral without=SupportPerEngineTDR set={"physical_adapters":2,"nodes":[{"engine":"copy","name":"C"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.profile()
	if err != nil || p.PhysicalAdapters != 2 || len(p.Nodes) != 1 || p.Nodes[0].FriendlyName != "C" || p.Caps&adapter.SupportPerEngineTDR != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	preset, err := adapter.Load("neutral")
	if err != nil || len(preset.Nodes) < 2 || preset.Nodes[0].FriendlyName == "C" || preset.Caps&adapter.SupportPerEngineTDR == 0 {
		t.Errorf("the preset is changed: %+v, %v", preset.Nodes, err)
	}
	for _, wrong := range []string{`{"wings":2}`, `{`, `2`} {
		a.Set = wrong
		if _, err := a.profile(); err == nil {
			t.Errorf("%s was taken", wrong)
		}
	}
}

// A scenario can ask for every preset at every level that has flags.
func TestEveryLevelHasEveryPreset(t *testing.T) {
	for _, name := range adapter.Presets() {
		for _, level := range []uint16{
			1000, 1105, 1200, 1300, 2000, 2100, 2200, 2300, 2400, 2500, 2600, 2700, 2800, 2900, 3000, 3100, 3200,
		} {
			p, err := (&AdapterSpec{Profile: name, WDDM: level}).profile()
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Validate(); err != nil || uint16(p.WDDM) != level {
				t.Errorf("%s at %d is %v: %v", name, level, p.WDDM, err)
			}
		}
	}
}
