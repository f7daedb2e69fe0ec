package decode

import (
	"fmt"
	"strings"

	"github.com/dxgsync/dxgsync/abi"
)

// A Word is a flag word by the name that people call it here.
type Word struct {
	Name  string
	Flags *abi.Flags
	// Taker is the call that reads the word; "" where several do.
	Taker string
}

// Words are the flag words whose rules are known.
var Words = []Word{
	{"sync", &abi.SyncObjectFlagRules, ""},
	{"signal", &abi.SignalFlagRules, ""},
	{"wait", &abi.WaitFlagRules, "D3DKMTWaitForSynchronizationObjectFromCpu"},
	{"device", &abi.DeviceFlagRules, "D3DKMTCreateDevice"},
	{"context", &abi.ContextFlagRules, "D3DKMTCreateContextVirtual"},
	{"hwqueue", &abi.HwQueueFlagRules, "D3DKMTCreateHwQueue"},
}

// signalCalls are the calls that read the word "signal".
var signalCalls = []string{
	"D3DKMTSignalSynchronizationObject2",
	"D3DKMTSignalSynchronizationObjectFromCpu",
	"D3DKMTSignalSynchronizationObjectFromGpu2",
	"D3DKMTSubmitSignalSyncObjectsToHwQueue",
}

// FindWord finds a flag word by its short name or that of its structure.
func FindWord(name string) (*Word, error) {
	var names []string
	for i := range Words {
		w := &Words[i]
		if strings.EqualFold(name, w.Name) || strings.EqualFold(name, w.Flags.Name) {
			return w, nil
		}
		names = append(names, w.Name)
	}
	return nil, fmt.Errorf("%q is no flag word that has rules here; use one of %s", name, strings.Join(names, ", "))
}

// reserved names the bits without a rule that have a name in the headers.
var reserved = map[*abi.Flags]string{
	&abi.SyncObjectFlagRules: "D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS_RESERVED0",
	&abi.SignalFlagRules:     "DXGK_SIGNAL_FLAG_INTERNAL0",
}

// Parse reads a value of the word: a number, names of bits, or both, with | + or ,
// between them.
func (w *Word) Parse(text string) (uint32, error) {
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("|+, ", r) })
	if len(parts) == 0 {
		return 0, fmt.Errorf("no flags given; write a number like 0x83 or names like %s", w.Flags.Rules[0].Name)
	}
	var v uint32
	for _, p := range parts {
		bit, ok := w.bit(p)
		if !ok && (p[0] >= '0' && p[0] <= '9' || p[0] == '-') {
			n, err := number32(p)
			if err != nil {
				return 0, err
			}
			bit, ok = n, true
		}
		if !ok {
			return 0, fmt.Errorf("%q is no bit of %s and no number; its bits are %s", p, w.Flags.Name, strings.Join(w.names(), ", "))
		}
		v |= bit
	}
	return v, nil
}

func (w *Word) bit(name string) (uint32, bool) {
	for _, r := range w.Flags.Rules {
		if strings.EqualFold(name, r.Name) {
			return 1 << r.Bit, true
		}
	}
	if w.Flags == &abi.SyncObjectFlagRules && strings.EqualFold(name, "Unused") {
		return uint32(abi.SyncObjectUnused), true
	}
	return 0, false
}

func (w *Word) names() []string {
	names := make([]string, len(w.Flags.Rules))
	for i, r := range w.Flags.Rules {
		names[i] = r.Name
	}
	return names
}

// rule finds the rule of a bit, nil for a reserved one.
func rule(f *abi.Flags, bit int) *abi.FlagRule {
	for i := range f.Rules {
		if int(f.Rules[i].Bit) == bit {
			return &f.Rules[i]
		}
	}
	return nil
}
