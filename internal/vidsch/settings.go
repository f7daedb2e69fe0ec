package vidsch

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A setting is a field of TDR by its name in the registry; Quantum is ours.
type setting struct {
	name  string
	time  func(*TDR) *int64 // a time, in nanoseconds
	whole func(*TDR) *int   // or a number from low to high
	low   int
	high  int
	set   func(*TDR) // what else being named means
}

var settings = []setting{
	{name: "TdrLevel", whole: func(t *TDR) *int { return &t.Level }, high: 3, set: func(t *TDR) { t.Set = true }},
	{name: "TdrDelay", time: func(t *TDR) *int64 { return &t.Delay }},
	{name: "TdrDdiDelay", time: func(t *TDR) *int64 { return &t.DdiDelay }},
	// 0 breaks into a debugger before it recovers; there is none, so it is 2.
	{name: "TdrDebugMode", whole: func(t *TDR) *int { return &t.DebugMode }, high: 3},
	{name: "TdrLimitTime", time: func(t *TDR) *int64 { return &t.LimitTime }},
	{name: "TdrLimitCount", whole: func(t *TDR) *int { return &t.LimitCount }, low: 1, high: math.MaxInt32},
	{name: "Quantum", time: func(t *TDR) *int64 { return &t.Quantum }},
}

// longest is the longest time that a setting can be: what a REG_DWORD of seconds holds.
const longest = math.MaxUint32 * time.Second

// TDRNames are the names of the settings.
func TDRNames() []string {
	var names []string
	for _, s := range settings {
		names = append(names, s.name)
	}
	return names
}

// ParseTDR reads settings of the form NAME=VALUE, with the names of the registry in any
// case; Quantum is ours. Times are seconds, as in the registry, or durations such as
// 200ms. What is not named has its default; of two settings with one name the later
// counts. The error says which is wrong and what is allowed.
func ParseTDR(list ...string) (TDR, error) {
	var t TDR
	for _, text := range list {
		if err := t.parse(text); err != nil {
			return TDR{}, err
		}
	}
	return t.WithDefaults(), nil
}

func (t *TDR) parse(text string) error {
	name, value, _ := strings.Cut(text, "=")
	i := slices.IndexFunc(settings, func(s setting) bool { return strings.EqualFold(s.name, name) })
	if i < 0 {
		return fmt.Errorf("unknown TDR setting %q: use one of %s", name, strings.Join(TDRNames(), ", "))
	}
	s := settings[i]
	if s.whole != nil {
		n, err := strconv.Atoi(value)
		if err != nil || n < s.low || n > s.high {
			return fmt.Errorf("%s=%s: want a number from %d to %d", s.name, value, s.low, s.high)
		}
		*s.whole(t) = n
		if s.set != nil {
			s.set(t)
		}
		return nil
	}
	d, err := time.ParseDuration(value)
	if n, notWhole := strconv.ParseUint(value, 10, 32); notWhole == nil {
		d, err = time.Duration(n)*time.Second, nil
	}
	if err != nil || d <= 0 || d > longest {
		return fmt.Errorf("%s=%s: want seconds, such as 2, or a duration, such as 200ms; above 0, up to %d seconds", s.name, value, longest/time.Second)
	}
	*s.time(t) = int64(d)
	return nil
}
