package adapter

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A name ties a number or bit to the word for it in profiles and listings.
type name struct {
	value uint32
	word  string
}

// wordOf returns the word for v, or its number.
func wordOf(table []name, v uint32) string {
	for _, n := range table {
		if n.value == v {
			return n.word
		}
	}
	return fmt.Sprintf("%d", v)
}

// valueOf finds a word, or says which there are.
func valueOf(what string, table []name, word string) (uint32, error) {
	for _, n := range table {
		if strings.EqualFold(n.word, word) {
			return n.value, nil
		}
	}
	return 0, fmt.Errorf("unknown %s %q: use one of %s", what, word, words(table))
}

func words(table []name) string {
	all := make([]string, len(table))
	for i, n := range table {
		all[i] = n.word
	}
	return strings.Join(all, ", ")
}

// bitWords lists the words of the bits in v, lowest first as in the table.
func bitWords(table []name, v uint32) []string {
	list := []string{}
	for _, n := range table {
		if v&n.value != 0 {
			list = append(list, n.word)
		}
	}
	return list
}

func parseBits(what string, table []name, data []byte) (uint32, error) {
	var list []string
	if err := json.Unmarshal(data, &list); err != nil {
		return 0, fmt.Errorf("%s: want a list of names: %w", what, err)
	}
	var v uint32
	for _, word := range list {
		bit, err := valueOf(what, table, word)
		if err != nil {
			return 0, err
		}
		v |= bit
	}
	return v, nil
}

// The named types below are written as words in JSON.

// Engine is a DXGK_ENGINE_TYPE.
type Engine uint32

// Engine types.
const (
	EngineOther Engine = iota // compute, on most hardware
	Engine3D
	EngineVideoDecode
	EngineVideoEncode
	EngineVideoProcessing
	EngineSceneAssembly
	EngineCopy
	EngineOverlay
	EngineCrypto
)

var engineNames = []name{
	{uint32(EngineOther), "other"},
	{uint32(Engine3D), "3d"},
	{uint32(EngineVideoDecode), "video-decode"},
	{uint32(EngineVideoEncode), "video-encode"},
	{uint32(EngineVideoProcessing), "video-processing"},
	{uint32(EngineSceneAssembly), "scene-assembly"},
	{uint32(EngineCopy), "copy"},
	{uint32(EngineOverlay), "overlay"},
	{uint32(EngineCrypto), "crypto"},
}

// String returns the word of the type, such as "3d".
func (e Engine) String() string { return wordOf(engineNames, uint32(e)) }

// MarshalText writes the word.
func (e Engine) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads a word.
func (e *Engine) UnmarshalText(text []byte) error {
	v, err := valueOf("engine", engineNames, string(text))
	*e = Engine(v)
	return err
}

// Support is a DXGK_FEATURE_SUPPORT state: how ready the driver calls a feature.
type Support uint32

// Support states.
const (
	SupportOff Support = iota
	SupportExperimental
	SupportStable
	SupportAlwaysOn
)

var supportNames = []name{{0, "off"}, {1, "experimental"}, {2, "stable"}, {3, "always-on"}}

// String returns the word of the state, such as "stable".
func (s Support) String() string { return wordOf(supportNames, uint32(s)) }

// MarshalText writes the word.
func (s Support) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a word.
func (s *Support) UnmarshalText(text []byte) error {
	v, err := valueOf("support state", supportNames, string(text))
	*s = Support(v)
	return err
}

// Tier is a D3DKMT_CROSSADAPTERRESOURCE_SUPPORT_TIER.
type Tier uint32

// Cross-adapter tiers.
const (
	TierNone Tier = iota
	TierCopy
	TierTexture
	TierScanout
)

var tierNames = []name{{0, "none"}, {1, "copy"}, {2, "texture"}, {3, "scanout"}}

// String returns the word of the tier, such as "texture".
func (t Tier) String() string { return wordOf(tierNames, uint32(t)) }

// MarshalText writes the word.
func (t Tier) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads a word.
func (t *Tier) UnmarshalText(text []byte) error {
	v, err := valueOf("cross-adapter tier", tierNames, string(text))
	*t = Tier(v)
	return err
}

// Graphics is a D3DKMDT_GRAPHICS_PREEMPTION_GRANULARITY.
type Graphics uint32

var graphicsNames = []name{
	{0, "none"},
	{100, "dma-buffer"},
	{200, "primitive"},
	{300, "triangle"},
	{400, "pixel"},
	{500, "shader"},
}

// String returns the word of the granularity, such as "primitive".
func (g Graphics) String() string { return wordOf(graphicsNames, uint32(g)) }

// MarshalText writes the word.
func (g Graphics) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText reads a word.
func (g *Graphics) UnmarshalText(text []byte) error {
	v, err := valueOf("graphics preemption", graphicsNames, string(text))
	*g = Graphics(v)
	return err
}

// Compute is a D3DKMDT_COMPUTE_PREEMPTION_GRANULARITY.
type Compute uint32

var computeNames = []name{
	{0, "none"},
	{100, "dma-buffer"},
	{200, "dispatch"},
	{300, "thread-group"},
	{400, "thread"},
	{500, "shader"},
}

// String returns the word of the granularity, such as "dispatch".
func (c Compute) String() string { return wordOf(computeNames, uint32(c)) }

// MarshalText writes the word.
func (c Compute) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a word.
func (c *Compute) UnmarshalText(text []byte) error {
	v, err := valueOf("compute preemption", computeNames, string(text))
	*c = Compute(v)
	return err
}

// ForeignCommands is what an engine does with a command buffer that it does not
// recognise as one of the software GPU.
type ForeignCommands uint32

// What becomes of foreign command buffers.
const (
	ForeignRun   ForeignCommands = iota // they complete and do nothing, so that programs of real GPUs go on
	ForeignFault                        // they fault, as an unknown command does
)

var foreignNames = []name{{0, "run"}, {1, "fault"}}

// String returns "run" or "fault".
func (f ForeignCommands) String() string { return wordOf(foreignNames, uint32(f)) }

// MarshalText writes the word.
func (f ForeignCommands) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// UnmarshalText reads a word.
func (f *ForeignCommands) UnmarshalText(text []byte) error {
	v, err := valueOf("fate of foreign commands", foreignNames, string(text))
	*f = ForeignCommands(v)
	return err
}

// Outcome is how something ends that could fail.
type Outcome uint32

// Outcomes.
const (
	Succeed Outcome = iota
	Fail
)

var outcomeNames = []name{{0, "succeed"}, {1, "fail"}}

// String returns "succeed" or "fail".
func (o Outcome) String() string { return wordOf(outcomeNames, uint32(o)) }

// MarshalText writes the word.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads a word.
func (o *Outcome) UnmarshalText(text []byte) error {
	v, err := valueOf("outcome", outcomeNames, string(text))
	*o = Outcome(v)
	return err
}

// NativeInterrupt is what the interrupts of native fences tell.
type NativeInterrupt uint32

// Kinds of interrupts.
const (
	InterruptArray  NativeInterrupt = iota // the fences whose value passed what CPUs wait for
	InterruptAny                           // that there are some
	InterruptQueue                         // the hardware queue whose log has them
	InterruptLegacy                        // nothing: it may be monitored fences as well
)

var interruptNames = []name{{0, "array"}, {1, "any"}, {2, "queue"}, {3, "legacy"}}

// String returns "array", "any", "queue" or "legacy".
func (i NativeInterrupt) String() string { return wordOf(interruptNames, uint32(i)) }

// MarshalText writes the word.
func (i NativeInterrupt) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText reads a word.
func (i *NativeInterrupt) UnmarshalText(text []byte) error {
	v, err := valueOf("interrupt of native fences", interruptNames, string(text))
	*i = NativeInterrupt(v)
	return err
}
