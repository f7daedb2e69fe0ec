package decode

import (
	"encoding/binary"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// Every operation has its record, found by every spelling of its name.
func TestEveryOperationHasItsRecord(t *testing.T) {
	for i := range abi.Ops {
		op := &abi.Ops[i]
		for _, name := range []string{op.Name, strings.TrimPrefix(op.Name, "D3DKMT"), strings.ToLower(strings.TrimPrefix(op.Name, "D3DKMT")), strings.ToUpper(op.Name)} {
			r, found, err := FindRecord(name)
			if err != nil || r == nil || found != op || r.Name != op.Record || int(r.Type.Size()) != op.Size {
				t.Errorf("%s: %v, %v, %v", name, r, found, err)
			}
		}
		if r, found, err := FindRecord(op.Record); err != nil || r.Name != op.Record || found == nil || found.Record != op.Record {
			t.Errorf("%s: %v, %v, %v", op.Record, r, found, err)
		}
	}
}

func TestEveryRecordIsFound(t *testing.T) {
	for _, want := range allRecords() {
		if r, _, err := FindRecord(want.Name); err != nil || int(r.Type.Size()) != int(want.Type.Size()) {
			t.Errorf("%s: %v, %v", want.Name, r, err)
		}
	}
	for name, want := range map[string]string{
		"createsynchronizationobject": "D3DKMT_CREATESYNCHRONIZATIONOBJECT",
		"D3DKMT_ADAPTERINFO":          "D3DKMT_ADAPTERINFO",
		"synchronizationobjectinfo2":  "D3DDDI_SYNCHRONIZATIONOBJECTINFO2",
		"Create_Doorbell":             "D3DKMT_CREATE_DOORBELL",
		"makeresident":                "D3DDDI_MAKERESIDENT",
	} {
		if r, _, err := FindRecord(name); err != nil || r.Name != want {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
	for name, want := range map[string]string{
		"":               "no record is named",
		"D3DKMT":         "no record is named",
		"keyedmutexfrom": `no record or call is named "keyedmutexfrom"; there is D3DKMT_OPENKEYEDMUTEXFROMNTHANDLE`,
		"cats":           "docs/calls/README.md lists the calls",
	} {
		if _, _, err := FindRecord(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}

// Fields have the names and places that the public headers give them.
func TestFieldsHaveTheirPublicNames(t *testing.T) {
	text, err := os.ReadFile("../../abi/testdata/layouts-linux64.tsv")
	if err != nil {
		t.Fatal(err)
	}
	public := map[string]map[string]bool{}
	record := ""
	for line := range strings.Lines(string(text)) {
		words := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if words[0] != "" {
			record = words[0]
			public[record] = map[string]bool{}
		} else {
			public[record][words[1]] = true
		}
	}
	checked := 0
	for _, r := range abi.Records {
		if r.Type.Kind() != reflect.Struct || public[r.Name] == nil || r.Name == "D3DKMT_QUERYSTATISTICS" { // bytes
			continue
		}
		for _, f := range ExplainRecord(&r, nil, make([]byte, r.Type.Size()), 3200).Fields {
			name := f.Name
			if i := strings.LastIndexByte(name, '.'); i >= 0 && !public[r.Name][name] {
				name = name[i+1:] // of a record inside
			}
			last := f.Name[strings.LastIndexByte(f.Name, '.')+1:]
			if isUnion(last) || last == "Value" || last == "Bits" || public[r.Name][name] {
				checked++
				continue
			}
			inside := false
			for _, fields := range public {
				inside = inside || fields[name]
			}
			if !inside {
				t.Errorf("%s: %s is no public name", r.Name, f.Name)
			}
			checked++
		}
	}
	if checked < 700 {
		t.Errorf("only %d fields were looked at", checked)
	}
}

// However long the dump: what it does not reach is missing, everything else has a
// value. Where no union is, the fields and the padding cover the whole record.
func TestFieldsOfEveryRecord(t *testing.T) {
	for _, r := range allRecords() {
		size := int(r.Type.Size())
		for _, given := range []int{0, 1, size / 2, size - 1, size, size + 5} {
			covered := make([]bool, size)
			for _, f := range ExplainRecord(r, nil, slices.Repeat([]byte{0xA5}, given), 2000).Fields {
				if f.Name == "" || f.Missing != (f.Offset+f.Size > given) || len(f.Raw) != 2*max(0, min(f.Size, given-f.Offset)) || !f.Missing && f.Text == "" {
					t.Fatalf("%s, %d bytes: %+v", r.Name, given, f)
				}
				for i := range f.Size {
					covered[f.Offset+i] = true
				}
			}
			if given >= size && slices.Contains(covered, false) && !hasUnion(r.Type) {
				t.Errorf("%s: nothing shows byte %#x", r.Name, slices.Index(covered, false))
			}
		}
	}
}

func hasUnion(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for i := range t.NumField() {
		if f := t.Field(i); isUnion(f.Name) || hasUnion(f.Type) {
			return true
		}
	}
	return false
}

// createDump is a CreateSynchronizationObject2 of a kind.
func createDump(kind abi.SyncObjectType, flags uint32, union ...uint64) []byte {
	b := make([]byte, 96)
	binary.LittleEndian.PutUint32(b, 0x40000480)
	binary.LittleEndian.PutUint32(b[8:], uint32(kind))
	binary.LittleEndian.PutUint32(b[12:], flags)
	for i, u := range union {
		binary.LittleEndian.PutUint64(b[16+8*i:], u)
	}
	binary.LittleEndian.PutUint32(b[0x50:], 0x80000042)
	binary.LittleEndian.PutUint32(b[0x58:], 0x400004C0)
	return b
}

func explainCreate(t *testing.T, dump []byte, w abi.WDDM) *Record {
	t.Helper()
	r, op, err := FindRecord("createsynchronizationobject2")
	if err != nil {
		t.Fatal(err)
	}
	return ExplainRecord(r, op, dump, w)
}

// objects.md §3: the union is read by Type, and nothing else of it is shown.
func TestUnionByType(t *testing.T) {
	for kind, want := range map[abi.SyncObjectType][]string{
		abi.SynchronizationMutex: {"0x10 Info.SynchronizationMutex.InitialState 1"},
		abi.Semaphore:            {"0x10 Info.Semaphore.MaxCount 1", "0x14 Info.Semaphore.InitialCount 0"},
		abi.Fence:                {"0x10 Info.Fence.FenceValue 1"},
		abi.CPUNotification:      {"0x10 Info.CPUNotification.Event 0x1"},
		abi.MonitoredFence: {
			"0x10 Info.MonitoredFence.InitialFenceValue 1", "0x18 Info.MonitoredFence.FenceValueCPUVirtualAddress 0x7f0000001000",
			"0x20 Info.MonitoredFence.FenceValueGPUVirtualAddress 0 (none)", "0x28 Info.MonitoredFence.EngineAffinity 3",
			"0x2c Info.MonitoredFence.Padding 0",
		},
		abi.PeriodicMonitoredFence: {
			"0x10 Info.PeriodicMonitoredFence.hAdapter 0x1 (no D3DKMT handle: bits 30 and 31 are 0)",
			"0x14 Info.PeriodicMonitoredFence.VidPnTargetId 0", "0x18 Info.PeriodicMonitoredFence.Time 139637976731648 (0x7f0000001000)",
			"0x20 Info.PeriodicMonitoredFence.FenceValueCPUVirtualAddress 0 (none)",
			"0x28 Info.PeriodicMonitoredFence.FenceValueGPUVirtualAddress 0x3", "0x30 Info.PeriodicMonitoredFence.EngineAffinity 0",
			"0x34 Info.PeriodicMonitoredFence.Padding 0",
		},
		abi.NativeFence: {"0x10 Info.Union [0x1 0x7f0000001000 0x0 0x3] (4 more are 0)"},
		99:              {"0x10 Info.Union [0x1 0x7f0000001000 0x0 0x3] (4 more are 0)"},
	} {
		r := explainCreate(t, createDump(kind, 0, 1, 0x7f0000001000, 0, 3), 3200)
		want = append([]string{"0x0 hDevice 0x40000480 (local, index 18, uniqueness 1)", "", "0xc Info.Flags 0"}, want...)
		want = append(want, "0x50 Info.SharedHandle 0x80000042 (global)", "0x58 hSyncObject 0x400004c0 (local, index 19, uniqueness 1)")
		for i, f := range r.Fields {
			if got := lineOf(f); i >= len(want) || want[i] != "" && got != want[i] {
				t.Errorf("%v: field %d is %q, want %q", kind, i, got, want)
				break
			}
		}
		if len(r.Fields) != len(want) {
			t.Errorf("%v: %d fields, want %d", kind, len(r.Fields), len(want))
		}
	}
}

func lineOf(f Field) string { return fmt.Sprintf("%#x %s %s", f.Offset, f.Name, f.Text) }

func TestCreateRecordsAreJudged(t *testing.T) {
	r := explainCreate(t, createDump(abi.MonitoredFence, 0x81), 2000)
	if r.Flags == nil || len(r.Flags.Bits) != 2 || r.Flags.Bits[0].State != Illegal || r.Flags.Verdicts[0].Code != inv || r.Flags.WDDM != "2.0" {
		t.Errorf("Shared|NoGPUAccess: %+v", r.Flags)
	}
	for _, c := range []struct {
		dump []byte
		note string
	}{
		{createDump(abi.Semaphore, 0, 1|2<<32), "InitialCount 2 is above MaxCount 1: STATUS_INVALID_PARAMETER; lower it"},
		{createDump(abi.Semaphore, 0, 2|2<<32), ""},
		{createDump(abi.Semaphore, 0, 0), ""},
		{createDump(abi.CPUNotification, 0), "a CPU notification without an event: STATUS_INVALID_HANDLE; give one"},
		{createDump(abi.CPUNotification, 0, 0x1A4), ""},
		{createDump(0, 0), "Type 0 is no kind of synchronization object: STATUS_INVALID_PARAMETER"},
		{createDump(abi.MonitoredFence, 0)[:20], "the dump has 20 of 96 bytes: Info.MonitoredFence.InitialFenceValue, Info.MonitoredFence.FenceValueCPUVirtualAddress, Info.MonitoredFence.FenceValueGPUVirtualAddress, Info.MonitoredFence.EngineAffinity, Info.MonitoredFence.Padding, Info.SharedHandle, hSyncObject missing"},
		{append(createDump(abi.MonitoredFence, 0), 1, 2), "bytes after the record, not read: 2"},
	} {
		want := []string{}
		if c.note != "" {
			want = []string{c.note}
		}
		if r := explainCreate(t, c.dump, 3200); !slices.Equal(r.Notes, want) {
			t.Errorf("notes %q, want %q", r.Notes, want)
		}
	}
	if r := explainCreate(t, createDump(abi.MonitoredFence, 0)[:15], 3200); r.Flags != nil {
		t.Errorf("flags that are not there are judged: %+v", r.Flags)
	}
}

// objects.md §7.
func TestVersion1RecordsAreJudged(t *testing.T) {
	r, op, err := FindRecord("createsynchronizationobject")
	if err != nil || op != nil {
		t.Fatal(r, op, err)
	}
	for kind, want := range map[abi.SyncObjectType]string{
		abi.SynchronizationMutex: "",
		abi.Semaphore:            "InitialCount 2 is above MaxCount 1: STATUS_INVALID_PARAMETER; lower it",
		abi.Fence:                "version 1 makes no fence, only a mutex or semaphore: STATUS_INVALID_PARAMETER; use version 2",
		0:                        "version 1 makes no type 0, only a mutex or semaphore: STATUS_INVALID_PARAMETER; use version 2",
	} {
		dump := make([]byte, r.Type.Size())
		dump[4], dump[8], dump[12] = byte(kind), 1, 2
		out := ExplainRecord(r, op, dump, 3200)
		if got := strings.Join(out.Notes, "; "); got != want || out.Flags != nil {
			t.Errorf("%v: %q, want %q", kind, got, want)
		}
	}
}

// Where the flags lie is what the records say.
func TestPlacesOfSyncFlags(t *testing.T) {
	for typ, s := range hasSyncFlags {
		rec := abi.Record{Name: "it", Type: typ}
		dump := make([]byte, typ.Size())
		binary.LittleEndian.PutUint32(dump[s.flags:], 0x10)
		if s.typ >= 0 {
			binary.LittleEndian.PutUint32(dump[s.typ:], uint32(abi.MonitoredFence))
		}
		out := ExplainRecord(&rec, nil, dump, 3200)
		seen := 0
		for _, f := range out.Fields {
			if f.Text == "0x10 (NoSignal)" || s.typ >= 0 && f.Text == "5 (monitored-fence)" {
				seen++
			}
		}
		if want := 1 + btoi(s.typ >= 0); seen != want {
			t.Errorf("%v: %d of %d fields lie where they should", typ, seen, want)
		}
		if out.Flags == nil || out.Flags.Value != "0x10" || out.Flags.At != s.at {
			t.Errorf("%v: %+v", typ, out.Flags)
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestOtherUnions(t *testing.T) {
	for _, c := range []struct {
		name        string
		at          int
		v           uint32
		has, hasNot string
	}{
		{"getdevicestate", 4, 1, "ExecutionState", "PageFaultState"},
		{"getdevicestate", 4, 5, "PageFaultState.FaultedPipelineStage", "ExecutionState"},
		{"getdevicestate", 4, 3, "ResetState", "PresentState"},
		{"signalsynchronizationobject2", 0x88, 0, "Fence.FenceValue", "CpuEventHandle"},
		{"signalsynchronizationobject2", 0x88, 2, "CpuEventHandle", "Fence.FenceValue"},
		{"signalsynchronizationobjectfromgpu2", 0x10, 0, "MonitoredFenceValueArray", "CpuEventHandle"},
		{"signalsynchronizationobjectfromgpu2", 0x10, 2, "CpuEventHandle", "MonitoredFenceValueArray"},
		{"UPDATEGPUVIRTUALADDRESS_OPERATION", 0, 1, "Unmap.BaseAddress", "Map.BaseAddress"},
		{"waitforsynchronizationobjectfromgpu", 0, 0, "FenceValue", ""},
		{"createsynchronizationobject", 4, 2, "Info.Semaphore.MaxCount", "Info.SynchronizationMutex.InitialState"},
	} {
		r, op, err := FindRecord(c.name)
		if err != nil {
			t.Fatal(err)
		}
		dump := make([]byte, r.Type.Size())
		binary.LittleEndian.PutUint32(dump[c.at:], c.v)
		var names []string
		for _, f := range ExplainRecord(r, op, dump, 3200).Fields {
			names = append(names, f.Name)
		}
		if !slices.Contains(names, c.has) || c.hasNot != "" && slices.Contains(names, c.hasNot) {
			t.Errorf("%s with %d: %v", c.name, c.v, names)
		}
	}
}

// The members that choices name are members.
func TestChoicesNameMembers(t *testing.T) {
	for typ, c := range choices {
		if f, ok := typ.FieldByName(c.field); !ok || f.Type.Size() != 4 {
			t.Errorf("%v has no field %s of 32 bits", typ, c.field)
		}
		picked := map[string]bool{}
		for v := range uint32(16) {
			for _, m := range members(typ) {
				picked[m.name] = picked[m.name] || c.pick(v, m.name)
			}
		}
		for name, ok := range picked {
			if !ok {
				t.Errorf("%v: nothing chooses %s", typ, name)
			}
		}
	}
}

func TestValuesOfFields(t *testing.T) {
	for _, c := range []struct {
		name  string
		at    int
		bytes []byte
		field string
		want  string
	}{
		{"waitforsynchronizationobjectfromcpu", 0x20, []byte{3}, "Flags", "0x3 (WaitAny|0x2, of which the number is reserved)"},
		{"waitforsynchronizationobjectfromcpu", 4, []byte{12}, "ObjectCount", "12 (0xc)"},
		{"openadapterfromluid", 0, []byte{1, 0, 0, 0, 2}, "AdapterLuid", "00000002:00000001"},
		{"signalsynchronizationobject2", 8, []byte{0x40, 4, 0, 0x40, 0, 0, 0, 0, 0x80, 4, 0, 0x40}, "ObjectHandleArray", "[0x40000440 0x0 0x40000480] (29 more are 0)"},
		{"signalsynchronizationobject2", 0x190, []byte{255, 255, 255, 255, 255, 255, 255, 255}, "Fence.FenceValue", "0xffffffffffffffff (the maximum)"},
		{"getcontextschedulingpriority", 4, []byte{0xFE, 0xFF, 0xFF, 0xFF}, "Priority", "-2"},
		{"createcontextvirtual", 0x1C, []byte{12}, "ClientHint", "12 (DX12)"},
		{"createpagingqueue", 4, []byte{0xFF, 0xFF, 0xFF, 0xFF}, "Priority", "-1 (BELOW_NORMAL)"},
		{"driver_description", 0, []byte{'G', 0, 0, 0, 'P', 0, 0, 0, 'U'}, "DriverDescription", `"GPU"`},
		{"queryclockcalibration", 4, []byte{2}, "NodeOrdinal", "2"},
		{"createnativefence", 8, []byte{1, 2}, "PrivateDriverData", "01 02 (62 more are 0)"},
		{"createsynchronizationobject2", 4, []byte{1}, "(padding)", "not 0; no call looks at it"},
	} {
		r, op, err := FindRecord(c.name)
		if err != nil {
			t.Fatal(err)
		}
		dump := make([]byte, r.Type.Size())
		copy(dump[c.at:], c.bytes)
		got := "no such field"
		for _, f := range ExplainRecord(r, op, dump, 3200).Fields {
			if f.Name == c.field {
				got = f.Text
			}
		}
		if got != c.want {
			t.Errorf("%s: %s is %q, want %q", c.name, c.field, got, c.want)
		}
	}
}
