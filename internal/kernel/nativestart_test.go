package kernel

import (
	"strings"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// A boldDriver has native fences, whatever is enabled.
type boldDriver struct {
	ddi.Refusals
	started, stopped bool
}

func (d *boldDriver) StartDevice(ddi.Callbacks) abi.Status {
	d.started = true
	return abi.StatusSuccess
}
func (d *boldDriver) StopDevice()         { d.stopped = true }
func (d *boldDriver) Caps() ddi.Caps      { return ddi.NativeGpuFence | ddi.HwScheduling }
func (d *boldDriver) Advance(int64)       {}
func (d *boldDriver) Next() (int64, bool) { return 0, false }

// A driver that says it has native fences starts where they are enabled.
func TestDriverHasNativeFencesUnasked(t *testing.T) {
	for _, c := range []struct {
		name, want string
		change     func(*adapter.Profile)
	}{
		{"enabled", "", func(*adapter.Profile) {}},
		{"feature off", "native fences, which are not enabled", func(p *adapter.Profile) { p.Features &^= adapter.NativeFence }},
		{"no hardware scheduling", "native fences, which are not enabled", func(p *adapter.Profile) { p.HwScheduling.Enabled = false }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := adapter.Load("neutral")
			if err != nil {
				t.Fatal(err)
			}
			c.change(p)
			d := new(boldDriver)
			k, err := New(Config{Host: newMemHost(), Profiles: []*adapter.Profile{p}, Driver: func(*adapter.Profile) ddi.Driver { return d }})
			switch {
			case c.want == "" && err == nil:
				k.Stop()
			case c.want == "" || err == nil || !strings.Contains(err.Error(), c.want):
				t.Fatalf("the kernel started with %v, want %q in it", err, c.want)
			}
			if !d.started || !d.stopped {
				t.Errorf("the driver was started: %v, stopped: %v", d.started, d.stopped)
			}
		})
	}
}
