package dxgsync

import (
	"strings"
	"testing"
	"time"

	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// Settings of TDR come from options and the environment, and what is wrong is said.
func TestTDRSettings(t *testing.T) {
	for _, c := range []struct {
		env, err string
		option   TDR
	}{
		{"", "", TDR{Delay: time.Second}},
		{"TdrDelay=10,TdrLevel=0 Quantum=5ms", "", TDR{LimitCount: 2}},
		{"TdrDelay=0", "DXGSYNC_TDR: TdrDelay=0: want seconds", TDR{}},
		{"TdrLevel=9", "DXGSYNC_TDR: TdrLevel=9: want a number from 0 to 3", TDR{Off: true}},
	} {
		t.Setenv(TDREnv, c.env)
		s, err := Open(WithTDR(c.option))
		if s != nil {
			_ = s.Close()
		}
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.HasPrefix(err.Error(), c.err)) {
			t.Errorf("%q, %+v: %v", c.env, c.option, err)
		}
	}
	base, _ := vidsch.ParseTDR("TdrDelay=10", "TdrLimitCount=9")
	got := TDR{Off: true, Delay: 1, DdiDelay: 2, LimitTime: 3}.over(base)
	if got.Level != 0 || !got.Set || got.Delay != 1 || got.DdiDelay != 2 || got.LimitTime != 3 || got.LimitCount != 9 {
		t.Errorf("%+v", got)
	}
}
