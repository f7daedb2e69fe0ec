package suite

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// world makes what the scenario asks of its world.
func (s *Scenario) world() (WorldSpec, error) {
	profiles, err := s.profiles()
	spec := WorldSpec{Profiles: profiles, TDR: s.TDR}
	if s.Manual {
		spec.Clock = new(Clock)
	}
	return spec, err
}

// profiles makes the adapters that a scenario asks for.
func (s *Scenario) profiles() ([]*adapter.Profile, error) {
	specs := s.Adapters
	if len(specs) == 0 {
		specs = []AdapterSpec{{Profile: "neutral"}}
	}
	var all []*adapter.Profile
	for _, spec := range specs {
		p, err := spec.profile()
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func (a *AdapterSpec) profile() (*adapter.Profile, error) {
	preset, err := adapter.Load(a.Profile)
	if err != nil {
		return nil, err
	}
	p := *preset
	if err := named(a.Type, &p.Type); err != nil {
		return nil, fmt.Errorf("adapter type: %w", err)
	}
	if a.Type != nil {
		if p.Type&adapter.DisplaySupported == 0 {
			p.Displays = nil
		}
	}
	if err := without(&p, a.Without); err != nil {
		return nil, fmt.Errorf("adapter without: %w", err)
	}
	if err := set(&p, a.Set); err != nil {
		return nil, fmt.Errorf("adapter set: %w", err)
	}
	if level := abi.WDDM(a.WDDM); level != 0 && level < p.WDDM {
		lower(&p, level)
	} else if level != 0 {
		p.WDDM = level
	}
	return &p, nil
}

// without takes features and capabilities away.
func without(p *adapter.Profile, names []string) error {
	for _, name := range names {
		var feature adapter.Features
		var capability adapter.Caps
		if named([]string{name}, &feature) == nil {
			p.Features &^= feature
		} else if err := named([]string{name}, &capability); err == nil {
			p.Caps &^= capability
		} else {
			return err
		}
	}
	return nil
}

// set changes fields of a profile, whose lists are another profile's, too.
func set(p *adapter.Profile, fields string) error {
	if fields == "" {
		return nil
	}
	p.Nodes, p.Displays, p.UMD = slices.Clone(p.Nodes), slices.Clone(p.Displays), slices.Clone(p.UMD)
	d := json.NewDecoder(strings.NewReader(fields))
	d.DisallowUnknownFields()
	return d.Decode(p)
}

// named sets a set of bits by their names, as profiles write it; nil leaves it.
func named(names []string, set json.Unmarshaler) error {
	if names == nil {
		return nil
	}
	list, err := json.Marshal(names)
	if err != nil {
		return err
	}
	return set.UnmarshalJSON(list)
}

// later lists what a driver cannot say before a level.
var later = []struct {
	first abi.WDDM
	caps  adapter.Caps
}{
	{1200, adapter.SupportNonVGA | adapter.SupportSmoothRotation | adapter.SupportPerEngineTDR | adapter.SupportKernelModeCommandBuffer |
		adapter.SupportCCD | adapter.SupportSoftwareDeviceBitmaps | adapter.SupportGammaRamp | adapter.SupportHWCursor |
		adapter.SupportHWVSync | adapter.SupportSurpriseRemovalInHibernation},
	{1300, adapter.SupportMiracast | adapter.IsHybridIntegratedGPU | adapter.IsHybridDiscreteGPU |
		adapter.SupportPowerManagementPStates | adapter.SupportVirtualModes | adapter.SupportCrossAdapterResource},
	{2000, adapter.Support64BitAtomics | adapter.GpuMmuSupported | adapter.IoMmuSupported |
		adapter.FlipOverwriteSupported | adapter.SupportContextlessPresent | adapter.SupportSurpriseRemoval},
	{2700, adapter.IndependentVidPnVSyncControl},
	{2900, adapter.SelfRefreshMemorySupported},
	{3000, adapter.DisplayableSupported},
	{3100, adapter.NativeGpuFenceSupported},
}

// lower brings a profile to an earlier driver model, with what that cannot have
// taken away.
func lower(p *adapter.Profile, level abi.WDDM) {
	p.WDDM = level
	for _, l := range later {
		if level < l.first {
			p.Caps &^= l.caps
		}
	}
	if level < 2700 {
		p.HwScheduling = adapter.Feature{}
	}
	if level < 3200 {
		p.Features &^= adapter.NativeFence | adapter.UserModeSubmission
		p.NativeFence, p.Doorbells = adapter.NativeFenceOptions{}, adapter.DoorbellOptions{}
	}
	if level < 3000 {
		p.Features &^= adapter.KMDSignalCPUEvent
		p.HwFlipQueue = adapter.Feature{}
	}
	if level < 1300 {
		p.CrossAdapter = adapter.TierNone
	}
	if level < 2000 {
		p.GpuMmu = adapter.GpuMmu{}
	}
}
