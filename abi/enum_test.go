package abi

import (
	"strings"
	"testing"
)

// Every enumeration has the values and names of the headers, but for the one that
// ends it.
func TestEnumsAreThePublicOnes(t *testing.T) {
	public := map[string]map[string]int64{}
	for _, r := range table(t, "constants.tsv") {
		name, enum := r[0], r[2]
		if enum == "" || strings.HasSuffix(name, "_MAX") || strings.HasSuffix(name, "_LIMIT") {
			continue
		}
		if public[enum] == nil {
			public[enum] = map[string]int64{}
		}
		public[enum][name] = int64(number(t, r[1]))
	}
	for _, e := range Enums {
		values := public[e.Name]
		if len(values) == 0 {
			t.Errorf("%s is in no table", e.Name)
		}
		for _, v := range e.Values {
			name := e.Prefix + v.Name
			if want, ok := values[name]; !ok || want != v.Value {
				t.Errorf("%s: %s is %d, want %d (%v)", e.Name, name, v.Value, want, ok)
			}
			delete(values, name)
		}
		for name := range values {
			t.Errorf("%s has no %s", e.Name, name)
		}
	}
}

func TestValuesHaveNames(t *testing.T) {
	for got, want := range map[string]string{
		ClientHintVulkan.String():            "VULKAN",
		PagingQueueBelowNormal.String():      "BELOW_NORMAL",
		DeviceErrorGeneric.String():          "GENERIC",
		DeviceExecutionHung.String():         "HUNG",
		DeviceStateType(77).String():         "D3DKMT_DEVICESTATE_TYPE 77",
		DoorbellDisconnectedAbort.String():   "DISCONNECTED_ABORT",
		NativeFenceLogWaitUnblocked.String(): "WAIT_UNBLOCKED",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
