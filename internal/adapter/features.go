package adapter

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/dxgsync/dxgsync/abi"
)

// Features is the set of the features that driver and system have enabled on an
// adapter: bit n is the feature with id n of DXGK_FEATURE_ID. HWSCH and HWFLIPQUEUE
// are not in it, HwScheduling and HwFlipQueue of the profile say more about them.
// Source: native-fence.md §8, calls.md §9.
type Features uint64

// KMDSignalCPUEvent is feature 3, KMD_SIGNAL_CPU_EVENT.
const KMDSignalCPUEvent Features = 1 << abi.FeatureKMDSignalCPUEvent

// Features of WDDM 3.2.
const (
	UserModeSubmission Features = 1 << abi.FeatureUserModeSubmission
	NativeFence        Features = 1 << abi.FeatureNativeFence
)

// NativeFences reports whether native fences are enabled: the feature is on, and so is
// what it needs, hardware scheduling, and fences of 64 bits that GPUs see.
// Source: native-fence.md §8.
func (p *Profile) NativeFences() bool {
	return p.Features.Has(abi.FeatureNativeFence) && p.HwScheduling.Enabled && p.Caps.Has(NativeGpuFenceSupported|Support64BitAtomics|GpuMmuSupported)
}

// SubmitsFromUserMode reports whether user-mode submission is enabled: the feature is on,
// and so is what it needs, native fences.
func (p *Profile) SubmitsFromUserMode() bool {
	return p.Features.Has(abi.FeatureUserModeSubmission) && p.NativeFences()
}

// A feature is a bit with a sentence that says what is promised when it is set. Its
// name is that of the id.
type feature struct {
	id       abi.FeatureID
	first    abi.WDDM // the first driver model that may set it
	sentence string
}

var features = []feature{
	{abi.FeatureKMDSignalCPUEvent, 3000, "the kernel driver can signal a CPU event by itself"},
	{abi.FeatureUserModeSubmission, 3200, "programs submit to hardware queues by ringing doorbells"},
	{abi.FeatureNativeFence, 3200, "GPUs wait for fences and signal them without the CPU"},
}

// Has reports whether the feature with this id is enabled. An id that is not known
// is not.
func (f Features) Has(id abi.FeatureID) bool { return id < 64 && f>>id&1 != 0 }

// Names lists the names of the features, by id.
func (f Features) Names() []string {
	names := []string{}
	for _, k := range features {
		if f.Has(k.id) {
			names = append(names, k.id.String())
		}
	}
	return names
}

// List describes the features of the set, by id.
func (f Features) List() []CapInfo {
	var list []CapInfo
	for _, k := range features {
		if f.Has(k.id) {
			list = append(list, CapInfo{k.id.String(), k.sentence})
		}
	}
	return list
}

// MarshalJSON writes the list of names.
func (f Features) MarshalJSON() ([]byte, error) { return json.Marshal(f.Names()) }

// UnmarshalJSON reads a list of names.
func (f *Features) UnmarshalJSON(data []byte) error {
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		return fmt.Errorf("feature: want a list of names: %w", err)
	}
	*f = 0
	for _, word := range list {
		id, err := featureByName(word)
		if err != nil {
			return err
		}
		*f |= 1 << id
	}
	return nil
}

func featureByName(word string) (abi.FeatureID, error) {
	var known []string
	for _, k := range features {
		if strings.EqualFold(k.id.String(), word) {
			return k.id, nil
		}
		known = append(known, k.id.String())
	}
	return 0, fmt.Errorf("unknown feature %q: use one of %s", word, strings.Join(known, ", "))
}

// knownFeatures has the bit of every feature of the table.
var knownFeatures = func() (all Features) {
	for _, k := range features {
		all |= 1 << k.id
	}
	return all
}()

// Feature says what D3DKMTIsFeatureEnabled answers for an id: whether it is on, known to
// this system, supported by the driver, and supported as things are configured; and its
// version. Source: calls.md §9; native-fence.md §8.
func (p *Profile) Feature(id abi.FeatureID) (enabled, known, byDriver, configured bool, version uint16) {
	on := p.Features.Has(id)
	switch id {
	case abi.FeatureHWSch:
		f := p.HwScheduling
		return f.Enabled, true, f.Support != SupportOff, f.Support != SupportOff, 1
	case abi.FeatureHWFlipQueue:
		f := p.HwFlipQueue
		return f.Enabled, true, f.Support != SupportOff, f.Support != SupportOff, 1
	case abi.FeatureKMDSignalCPUEvent:
		return on, true, on, on, 1
	case abi.FeatureNativeFence:
		return p.NativeFences(), true, on, p.NativeFences(), 1
	case abi.FeatureUserModeSubmission:
		return p.SubmitsFromUserMode(), true, on, p.SubmitsFromUserMode(), 1
	}
	return false, false, false, false, 0
}
