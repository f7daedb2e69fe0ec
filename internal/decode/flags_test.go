package decode

import (
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

const (
	ok  = abi.StatusSuccess
	inv = abi.StatusInvalidParameter
)

// What CreateSynchronizationObject2 answers, by hand from objects.md §1.1, §2, §2.1
// and §2.2, with OQ-1 to OQ-8 and OQ-38 for what they decide.
var atCreate = []struct {
	kind  string
	value uint32
	wddm  string
	want  abi.Status
}{
	// Kinds by version.
	{"mutex", 0, "1.1", ok},
	{"semaphore", 0, "1.1", ok},
	{"fence", 0, "1.1", ok},
	{"cpu-notification", 0, "1.1", ok},
	{"fence", 0, "1.0", inv},
	{"cpu-notification", 0, "1.0", inv},
	{"monitored-fence", 0, "1.3", inv},
	{"monitored-fence", 0, "2.0", ok},
	{"periodic-monitored-fence", 0, "2.1", inv},
	{"periodic-monitored-fence", 0, "2.2", ok},
	{"native-fence", 0, "3.1", inv},
	{"native-fence", 0, "3.2", inv},
	// Shared, and the illegal half without it.
	{"mutex", 0x1, "1.1", ok},
	{"mutex", 0x3, "1.1", inv},
	{"mutex", 0x3, "1.2", ok},
	{"mutex", 0x2, "1.2", inv},
	{"semaphore", 0x1, "1.1", ok},
	{"semaphore", 0x3, "1.2", ok},
	{"fence", 0x1, "1.1", ok},
	{"fence", 0x3, "1.2", ok},
	{"monitored-fence", 0x1, "2.0", inv},
	{"monitored-fence", 0x2, "2.0", inv},
	{"monitored-fence", 0x3, "2.0", ok},
	{"monitored-fence", 0x1, "3.2", inv},
	{"monitored-fence", 0x3, "3.2", ok},
	{"cpu-notification", 0x1, "3.2", inv},
	{"cpu-notification", 0x3, "3.2", inv},
	{"periodic-monitored-fence", 0x1, "3.2", inv},
	{"periodic-monitored-fence", 0x3, "3.2", inv},
	// CrossAdapter.
	{"fence", 0x4, "1.3", inv},
	{"fence", 0x5, "1.2", inv},
	{"fence", 0x5, "1.3", ok},
	{"fence", 0x7, "1.3", ok},
	{"mutex", 0x5, "1.3", ok},
	{"semaphore", 0x7, "3.2", ok},
	{"monitored-fence", 0x4, "2.0", inv},
	{"monitored-fence", 0x5, "2.0", inv},
	{"monitored-fence", 0x7, "2.0", ok},
	{"cpu-notification", 0x5, "3.2", inv},
	{"periodic-monitored-fence", 0x7, "3.2", inv},
	// TopOfPipeline, NoSignal, NoWait, NoSignalMaxValueOnTdr, NoGPUAccess: monitored only.
	{"monitored-fence", 0x8, "2.0", ok},
	{"monitored-fence", 0x10, "2.0", ok},
	{"monitored-fence", 0x20, "2.0", ok},
	{"monitored-fence", 0x40, "2.0", ok},
	{"monitored-fence", 0x80, "2.0", ok},
	{"monitored-fence", 0x88, "2.0", ok},
	{"monitored-fence", 0x30, "2.0", inv},
	{"monitored-fence", 0x50, "2.0", ok},
	{"monitored-fence", 0x60, "2.0", ok},
	{"monitored-fence", 0x81, "2.0", inv},
	{"monitored-fence", 0x83, "2.0", ok},
	{"mutex", 0x8, "3.2", inv},
	{"mutex", 0x10, "3.2", inv},
	{"mutex", 0x20, "3.2", inv},
	{"mutex", 0x40, "3.2", inv},
	{"mutex", 0x80, "3.2", inv},
	{"fence", 0x8, "3.2", inv},
	{"fence", 0x10, "3.2", inv},
	{"fence", 0x20, "3.2", inv},
	{"fence", 0x40, "3.2", inv},
	{"fence", 0x80, "3.2", inv},
	{"semaphore", 0x10, "3.2", inv},
	{"cpu-notification", 0x8, "3.2", inv},
	{"cpu-notification", 0x20, "3.2", inv},
	{"periodic-monitored-fence", 0x8, "3.2", inv},
	{"periodic-monitored-fence", 0x10, "3.2", inv},
	{"periodic-monitored-fence", 0x30, "3.2", inv},
	{"periodic-monitored-fence", 0x40, "3.2", inv},
	{"periodic-monitored-fence", 0x80, "3.2", inv},
	// SignalByKmd.
	{"cpu-notification", 0x100, "2.9", inv},
	{"cpu-notification", 0x100, "3.0", ok},
	{"cpu-notification", 0x101, "3.0", inv},
	{"monitored-fence", 0x100, "3.2", inv},
	{"mutex", 0x100, "3.2", inv},
	{"fence", 0x100, "3.2", inv},
	// Bit 9 comes and goes.
	{"monitored-fence", 0x200, "3.0", inv},
	{"monitored-fence", 0x200, "3.1", ok},
	{"monitored-fence", 0x200, "3.2", inv},
	// UnwaitCpuWaitersOnlyOnDestroy.
	{"monitored-fence", 0x400, "3.1", inv},
	{"monitored-fence", 0x400, "3.2", ok},
	{"monitored-fence", 0x483, "3.1", inv},
	{"monitored-fence", 0x483, "3.2", ok},
	{"mutex", 0x401, "3.2", inv},
	{"fence", 0x400, "3.2", inv},
	{"cpu-notification", 0x400, "3.2", inv},
	{"periodic-monitored-fence", 0x400, "3.2", inv},
	// Reserved.
	{"monitored-fence", 0x800, "3.2", inv},
	{"monitored-fence", 0x40000000, "3.2", inv},
	{"monitored-fence", 0x80000000, "3.2", inv},
	{"mutex", 0x800, "3.2", inv},
	{"fence", 0x80000000, "3.2", inv},
	{"cpu-notification", 0x80000000, "3.2", inv},
}

func TestFlagsAtCreate(t *testing.T) {
	for _, c := range atCreate {
		f := syncObject(t, c.kind, c.value, c.wddm, AtCreate)
		if v := f.Verdicts[0]; v.For != "D3DKMTCreateSynchronizationObject2" || v.Code != c.want || v.Status != c.want.Name() {
			t.Errorf("%s with %#x at %s: %+v, want %v", c.kind, c.value, c.wddm, v, c.want)
		}
		if v := f.Verdicts[0]; (v.Code == ok) != (v.Why == "") && c.value != 0x100 {
			t.Errorf("%s with %#x at %s: %s because of %q", c.kind, c.value, c.wddm, v.Status, v.Why)
		}
	}
}

// objects.md §2.2: what D3DKMTCreateNativeFence takes; the flags' rules, not its own.
func TestFlagsOfNativeFences(t *testing.T) {
	for value, want := range map[uint32]abi.Status{
		0: ok, 0x1: inv, 0x2: inv, 0x3: ok, 0x7: ok, 0x4: inv, 0x8: inv, 0x10: ok, 0x20: ok, 0x30: inv, 0x40: ok,
		0x80: inv, 0x100: inv, 0x200: inv, 0x400: ok, 0x403: ok, 0x800: inv, 0x80000000: inv,
	} {
		f := syncObject(t, "native-fence", value, "3.2", AtCreate)
		if len(f.Verdicts) != 2 || f.Verdicts[1].For != "D3DKMTCreateNativeFence" || f.Verdicts[1].Code != want {
			t.Errorf("%#x: %+v, want %v", value, f.Verdicts, want)
		}
	}
}

// objects.md §2.3, OQ-4, OQ-59.
func TestFlagsAtOpen(t *testing.T) {
	for _, c := range []struct {
		kind  string
		value uint32
		wddm  string
		want  abi.Status
	}{
		{"monitored-fence", 0, "2.0", ok},
		{"monitored-fence", 0x10, "2.0", ok},
		{"monitored-fence", 0x20, "2.0", ok},
		{"monitored-fence", 0x40, "2.0", ok},
		{"monitored-fence", 0x30, "2.0", inv},
		{"monitored-fence", 0x83, "2.0", ok},
		{"monitored-fence", 0x3, "2.0", ok},
		{"monitored-fence", 0x1, "2.0", ok},
		{"monitored-fence", 0x2, "2.0", ok},
		{"monitored-fence", 0x4, "2.0", ok},
		{"monitored-fence", 0x8, "2.0", ok},
		{"monitored-fence", 0x483, "3.1", inv},
		{"monitored-fence", 0x483, "3.2", ok},
		{"monitored-fence", 0x100, "3.2", inv},
		{"monitored-fence", 0x200, "3.2", inv},
		{"monitored-fence", 0x800, "3.2", inv},
		{"monitored-fence", 0x80000000, "3.2", inv},
		{"mutex", 0x3, "1.2", ok},
		{"mutex", 0x10, "3.2", inv},
		{"fence", 0x20, "3.2", inv},
		{"fence", 0x40, "3.2", inv},
	} {
		f := syncObject(t, c.kind, c.value, c.wddm, AtOpen)
		if v := f.Verdicts[0]; v.For != "D3DKMTOpenSyncObjectFromNtHandle2" || v.Code != c.want {
			t.Errorf("%s with %#x at %s: %+v, want %v", c.kind, c.value, c.wddm, v, c.want)
		}
	}
	if f := syncObject(t, "native-fence", 0x10, "3.2", AtOpen); f.Verdicts[0].For != "D3DKMTOpenNativeFenceFromNtHandle" || f.Verdicts[0].Code != ok {
		t.Errorf("a native fence is opened: %+v", f.Verdicts)
	}
}

func syncObject(t *testing.T, kind string, value uint32, wddm string, at Moment) *Flags {
	t.Helper()
	k, err := Kind(kind)
	if err != nil {
		t.Fatal(err)
	}
	w, err := Version(wddm)
	if err != nil {
		t.Fatal(err)
	}
	f, err := SyncObject(Question{Value: value, Kind: k, WDDM: w, At: at})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// The words about the bits and the status agree, for every three of the bits with
// names and one without, every kind, every version, both moments.
func TestBitsAgreeWithTheStatus(t *testing.T) {
	for _, at := range []Moment{AtCreate, AtOpen} {
		for _, k := range Kinds {
			for _, w := range Versions {
				for value := range uint32(1 << 12) {
					if bits.OnesCount32(value) > 3 {
						continue // no rule looks at more
					}
					q := Question{Value: value, Kind: k, WDDM: w, At: at}
					if at == AtOpen && q.openable() != nil {
						continue
					}
					f := newFlags(&Words[0], value)
					refused := at == AtCreate && w < k.First()
					for i := range f.Bits {
						b := &f.Bits[i]
						q.judge(b)
						refused = refused || b.State == Illegal
						if b.State == "" || (b.State == Illegal) != (b.Breaks != "") || (b.Breaks == "") != (b.Remedy == "") {
							t.Fatalf("%+v: bit %+v", q, b)
						}
					}
					all := q.verdicts(f.Bits)
					if v := all[len(all)-1]; v.Code.OK() == refused {
						t.Fatalf("%+v: %+v, bits %+v", q, v, f.Bits)
					}
				}
			}
		}
	}
}

func TestBitsAreExplained(t *testing.T) {
	for _, c := range []struct {
		kind   string
		value  uint32
		wddm   string
		at     Moment
		bit    int // of the list
		state  State
		breaks string
		remedy string
	}{
		{"monitored-fence", 0x1, "2.0", AtCreate, 0, Illegal, "it needs NtSecuritySharing", "set that too (0x3), or clear it"},
		{"monitored-fence", 0x4, "2.0", AtCreate, 0, Illegal, "it needs Shared|NtSecuritySharing", "set that too (0x7), or clear it"},
		{"mutex", 0x2, "2.0", AtCreate, 0, Illegal, "it needs Shared", "set that too (0x3), or clear it"},
		{"mutex", 0x8, "2.0", AtCreate, 0, Illegal, "it is not for a mutex", "clear it; it is for monitored-fence"},
		{"monitored-fence", 0x30, "2.0", AtCreate, 1, Illegal, "it excludes NoSignal", "clear one of the two"},
		{"monitored-fence", 0x400, "2.0", AtCreate, 0, Illegal, "WDDM 2.0 does not have it yet", "clear it, or use an adapter of WDDM 3.2"},
		{"monitored-fence", 0x200, "3.2", AtCreate, 0, Illegal, "WDDM 3.2 has it no more", "clear it: it never had an effect"},
		{"monitored-fence", 0x800, "3.2", AtCreate, 0, Illegal, "it is reserved", "clear it"},
		{"monitored-fence", 0x83, "2.0", AtOpen, 2, Ignored, "", ""},
		{"monitored-fence", 0x83, "2.0", AtCreate, 2, Legal, "", ""},
	} {
		b := syncObject(t, c.kind, c.value, c.wddm, c.at).Bits[c.bit]
		if b.State != c.state || b.Breaks != c.breaks || b.Remedy != c.remedy || b.Meaning == "" {
			t.Errorf("%s with %#x at %s: %+v", c.kind, c.value, c.wddm, b)
		}
	}
	b := syncObject(t, "fence", 1<<31, "3.2", AtCreate).Bits[0]
	if b.Bit != 31 || b.Mask != "0x80000000" || b.Name != "D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS_RESERVED0" || b.Since != "" {
		t.Errorf("bit 31: %+v", b)
	}
}

func TestOverview(t *testing.T) {
	f, err := SyncObject(Question{Value: 0x83})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"mutex": "none", "semaphore": "none", "fence": "none", "cpu-notification": "none",
		"monitored-fence": "2.0 to 3.2", "periodic-monitored-fence": "none", "native-fence (D3DKMTCreateNativeFence)": "none",
	}
	for _, v := range f.Verdicts {
		if v.Versions != want[v.For] || (v.Why == "") != (v.Versions != "none") {
			t.Errorf("%+v, want %q", v, want[v.For])
		}
		delete(want, v.For)
	}
	if len(want) > 0 {
		t.Errorf("nothing is said of %v", want)
	}
	for value, versions := range map[uint32]string{0: "3.2", 0x400: "3.2", 0x3: "3.2"} {
		f, _ := SyncObject(Question{Value: value, Kind: abi.NativeFence})
		if len(f.Verdicts) != 1 || f.Verdicts[0].Versions != versions {
			t.Errorf("native fences with %#x: %+v", value, f.Verdicts)
		}
	}
	f, _ = SyncObject(Question{Value: 0x200, Kind: abi.MonitoredFence})
	if f.Verdicts[0].Versions != "3.1" || f.Verdicts[0].Why != "LocalMemoryPreferred: WDDM 3.2 has it no more" {
		t.Errorf("bit 9: %+v", f.Verdicts)
	}
	f, _ = SyncObject(Question{Value: 0x3, At: AtOpen})
	for _, v := range f.Verdicts {
		if strings.HasPrefix(v.For, "cpu") || strings.HasPrefix(v.For, "periodic") {
			t.Errorf("%s is opened", v.For)
		}
	}
	if f.Verdicts[0].Versions != "1.2 to 3.2" {
		t.Errorf("a shared mutex is opened: %+v", f.Verdicts[0])
	}
}

func TestRanges(t *testing.T) {
	for want, some := range map[string][]abi.WDDM{
		"none":            nil,
		"1.1":             {1105},
		"1.0, 2.0 to 2.2": {1000, 2000, 2100, 2200},
		"1.3 to 2.0, 3.2": {1300, 2000, 3200},
	} {
		if got := ranges(some); got != want {
			t.Errorf("%v: %q, want %q", some, got, want)
		}
	}
}

// calls.md §5: what the signal calls take.
func TestOtherWords(t *testing.T) {
	for _, c := range []struct {
		word  string
		value uint32
		wddm  abi.WDDM
		want  []abi.Status // by call, in alphabetical order
	}{
		{"signal", 0x1, 3200, []abi.Status{ok, inv, ok, ok}},
		{"signal", 0x2, 3200, []abi.Status{ok, inv, ok, inv}},
		{"signal", 0x4, 3200, []abi.Status{ok, ok, ok, ok}},
		{"signal", 0x4, 1300, []abi.Status{inv, inv, inv, inv}},
		{"signal", 0x8, 0, []abi.Status{inv, inv, inv, inv}},
		{"wait", 0x1, 2000, []abi.Status{ok}},
		{"wait", 0x2, 2000, []abi.Status{inv}},
		{"device", 0x7, 0, []abi.Status{ok}},
		{"device", 0x8, 0, []abi.Status{inv}},
		{"context", 0x3F, 0, []abi.Status{ok}},
		{"context", 0x10, 2200, []abi.Status{inv}},
		{"hwqueue", 0x20, 2300, []abi.Status{ok}}, // an answer
		{"hwqueue", 0x10, 3100, []abi.Status{inv}},
	} {
		word, err := FindWord(c.word)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Other(word, c.value, c.wddm)
		if err != nil {
			t.Fatal(err)
		}
		var got []abi.Status
		for _, v := range f.Verdicts {
			got = append(got, v.Code)
			if (v.Why == "") != v.Code.OK() {
				t.Errorf("%s %#x: %+v", c.word, c.value, v)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %#x at %v: %+v", c.word, c.value, c.wddm, f.Verdicts)
		}
	}
	if _, err := Other(&Words[0], 0, 0); err == nil {
		t.Error("flags of a synchronization object are judged without a kind")
	}
}

func TestQuestionsThatMakeNoSense(t *testing.T) {
	for want, q := range map[string]Question{
		`"death" is no moment; use create or open`:                                                        {At: "death"},
		"type 8 is no kind of synchronization object; the types are 1 to 7":                               {Kind: 8},
		"a cpu-notification cannot be shared, so no NT handle leads to one; ask with --at create":         {Kind: abi.CPUNotification, At: AtOpen},
		"WDDM 1.1 has no mutex that can be opened from an NT handle; the first version is 1.2":            {Kind: abi.SynchronizationMutex, At: AtOpen, WDDM: 1105},
		"WDDM 1.3 has no monitored-fence that can be opened from an NT handle; the first version is 2.0":  {Kind: abi.MonitoredFence, At: AtOpen, WDDM: 1300},
		"a periodic-monitored-fence cannot be shared, so no NT handle leads to one; ask with --at create": {Kind: abi.PeriodicMonitoredFence, At: AtOpen, WDDM: 3200},
	} {
		if _, err := SyncObject(q); err == nil || err.Error() != want {
			t.Errorf("%+v: %v, want %s", q, err, want)
		}
	}
}

func TestParseFlags(t *testing.T) {
	sync, _ := FindWord("sync")
	for text, want := range map[string]uint32{
		"0": 0, "131": 131, "0x83": 0x83, "83h": 0x83, "0n131": 131, "0X400": 0x400, "-2147483648": 1 << 31,
		"Shared|NoWait": 0x21, "shared,nowait": 0x21, "Shared + 0x80": 0x81, "Unused": 0x200, "LocalMemoryPreferred": 0x200,
	} {
		if got, err := sync.Parse(text); err != nil || got != want {
			t.Errorf("%s: %#x, %v; want %#x", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":            "no flags given; write a number like 0x83 or names like Shared",
		"Sharde":      `"Sharde" is no bit of D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS and no number; its bits are Shared, `,
		"0x100000000": `"0x100000000" has more than 32 bits; give the low half of the 64-bit word`,
		"0xZZ":        `"0xZZ" is no number; write it like `,
		"-2147483649": `"-2147483649" is no number; `,
	} {
		if _, err := sync.Parse(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := FindWord("sink"); err == nil || !strings.Contains(err.Error(), "sync, signal, wait, device, context, hwqueue") {
		t.Errorf("word sink: %v", err)
	}
}

func TestParseKindAndVersion(t *testing.T) {
	for text, want := range map[string]abi.SyncObjectType{
		"mutex": 1, "SYNCHRONIZATION_MUTEX": 1, "D3DDDI_SYNCHRONIZATION_MUTEX": 1, "Semaphore": 2, "fence": 3, "CPU_NOTIFICATION": 4, "cpu": 4,
		"monitored-fence": 5, "D3DDDI_MONITORED_FENCE": 5, "monitored": 5, "periodic": 6, "7": 7,
	} {
		if got, err := Kind(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "8", "event"} {
		if _, err := Kind(text); err == nil || !strings.Contains(err.Error(), "use one of mutex, ") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, want := range map[string]abi.WDDM{"1.1": 1105, "1105": 1105, "2.0": 2000, "3.2": 3200, "3200": 3200} {
		if got, err := Version(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "2", "3.3", "32"} {
		if _, err := Version(text); err == nil || !strings.Contains(err.Error(), "use one of 1.0, 1.1, ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
