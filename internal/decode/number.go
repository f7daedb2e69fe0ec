package decode

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dxgsync/dxgsync/abi"
)

// Number reads a number as people and debuggers write it: 131, 0x83, 83h, 0n131,
// with ` or _ between digits; a negative one is taken as 32 bits. The error says what
// forms there are.
func Number(text string) (uint64, error) {
	t := strings.ToLower(strings.NewReplacer("`", "", "_", "").Replace(strings.TrimSpace(text)))
	var n uint64
	var err error
	switch {
	case strings.HasPrefix(t, "-"):
		var signed int64
		if signed, err = strconv.ParseInt(t, 0, 32); err == nil {
			n = uint64(uint32(signed))
		}
	case strings.HasPrefix(t, "0n"):
		n, err = strconv.ParseUint(t[2:], 10, 64)
	case strings.HasPrefix(t, "0x"):
		n, err = strconv.ParseUint(t[2:], 16, 64)
	case strings.HasSuffix(t, "h"):
		n, err = strconv.ParseUint(t[:len(t)-1], 16, 64)
	default:
		n, err = strconv.ParseUint(t, 10, 64)
	}
	if err != nil {
		return 0, fmt.Errorf("%q is no number; write it like 131, 0x83 or, as 32 bits, -125", text)
	}
	return n, nil
}

func number32(text string) (uint32, error) {
	n, err := Number(text)
	if err == nil && n > math.MaxUint32 {
		err = fmt.Errorf("%q has more than 32 bits; give the low half of the 64-bit word", text)
	}
	return uint32(n), err
}

// Versions are the WDDM versions, without the names of the days before 1.1.
var Versions = []abi.WDDM{
	1000, 1105, 1200, 1300,
	2000, 2100, 2200, 2300, 2400, 2500, 2600, 2700, 2800, 2900,
	3000, 3100, 3200,
}

// Version reads a WDDM version: "3.2", or as DRIVERVERSION answers it, "3200".
func Version(text string) (abi.WDDM, error) {
	names := make([]string, len(Versions))
	for i, w := range Versions {
		if text == w.String() || text == strconv.Itoa(int(w)) {
			return w, nil
		}
		names[i] = w.String()
	}
	return 0, fmt.Errorf("%q is no WDDM version; use one of %s", text, strings.Join(names, ", "))
}

// Kinds are the kinds of synchronization objects, by number.
var Kinds = []abi.SyncObjectType{
	abi.SynchronizationMutex, abi.Semaphore, abi.Fence, abi.CPUNotification,
	abi.MonitoredFence, abi.PeriodicMonitoredFence, abi.NativeFence,
}

// Kind reads a kind: "monitored-fence", "MONITORED_FENCE", "D3DDDI_MONITORED_FENCE",
// "monitored", or its number.
func Kind(text string) (abi.SyncObjectType, error) {
	t := strings.ReplaceAll(strings.ToLower(text), "_", "-")
	t = strings.TrimPrefix(strings.TrimPrefix(t, "d3dddi-"), "synchronization-")
	names := make([]string, len(Kinds))
	for i, k := range Kinds {
		names[i] = k.String()
		short, _, _ := strings.Cut(names[i], "-")
		if t == names[i] || t == short || t == strconv.Itoa(int(k)) {
			return k, nil
		}
	}
	return 0, fmt.Errorf("%q is no kind of synchronization object; use one of %s", text, strings.Join(names, ", "))
}
