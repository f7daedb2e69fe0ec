package vidsch

import (
	"strings"
	"testing"
)

func TestParseTDR(t *testing.T) {
	got, err := ParseTDR()
	if want := (TDR{Level: 3, Delay: 2 * second, DdiDelay: 5 * second, DebugMode: 2, LimitTime: 60 * second, LimitCount: 5, Quantum: 20 * ms}); err != nil || got != want {
		t.Errorf("of nothing: %+v, %v", got, err)
	}
	got, err = ParseTDR("TdrDelay=10", "tdrddidelay=1500ms", "TdrLimitTime=1h", "TdrLimitCount=32", "TdrDebugMode=1", "TdrLevel=0", "Quantum=5ms", "TdrDelay=4294967295")
	want := TDR{Set: true, Delay: 4294967295 * second, DdiDelay: 1500 * ms, DebugMode: 1, LimitTime: 3600 * second, LimitCount: 32, Quantum: 5 * ms}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if !got.off() {
		t.Error("level 0 finds something hung")
	}
}

func TestParseTDRErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                         `unknown TDR setting ""`,
		"Delay=2":                  "TdrLevel, TdrDelay, TdrDdiDelay, TdrDebugMode, TdrLimitTime, TdrLimitCount, Quantum",
		"TdrLevel=4":               "TdrLevel=4: want a number from 0 to 3",
		"tdrlevel":                 "TdrLevel=: want a number",
		"TdrDebugMode=-1":          "from 0 to 3",
		"TdrLimitCount=0":          "from 1 to",
		"TdrLimitCount=2.5":        "from 1 to",
		"TdrDelay=0":               "above 0",
		"TdrDelay=-1s":             "above 0",
		"TdrDelay=soon":            "TdrDelay=soon: want seconds, such as 2, or a duration, such as 200ms",
		"TdrDdiDelay=4294967296":   "want seconds",
		"TdrDdiDelay=1193047h":     "want seconds",
		"TdrLimitTime=9999999999h": "want seconds",
		"Quantum=":                 "Quantum=: want seconds",
	} {
		if got, err := ParseTDR("TdrDelay=3", text); err == nil || !strings.Contains(err.Error(), want) || got != (TDR{}) {
			t.Errorf("%q: %+v, %v; want an error with %q", text, got, err, want)
		}
	}
}
