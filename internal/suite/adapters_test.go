package suite

import (
	"testing"

	"github.com/dxgsync/dxgsync/internal/adapter"
)

// A scenario can ask for every preset at every level that has flags.
func TestEveryLevelHasEveryPreset(t *testing.T) {
	for _, name := range adapter.Presets() {
		for _, level := range []uint16{
			1105, 1200, 1300, 2000, 2100, 2200, 2300, 2400, 2500, 2600, 2700, 2800, 2900, 3000, 3100, 3200,
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
