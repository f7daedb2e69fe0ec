package suite

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
)

// frameOf builds the frame of a command such as "CreateDevice hAdapter=1".
func frameOf(t *testing.T, command string) *Frame {
	t.Helper()
	f, err := tryFrame(command)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func tryFrame(command string) (*Frame, error) {
	step, err := parseStep("p " + command)
	if err != nil {
		return nil, err
	}
	return newFrame(DefaultTable(), DefaultTable().Call(step.Verb), step.Args, func(string) (uint64, bool) { return 7, true })
}

// What is behind pointers in memory travels as arrays of its own.
func TestNestedArrays(t *testing.T) {
	const share, allocate = "ShareObjects pObjectAttributes=", "CreateAllocation2 Flags="
	for command, want := range map[string][]string{
		"ShareObjects":                                          {3: "NULL", 4: "NULL"},
		share + "[{Length=0x30}]":                               {3: "NULL", 4: "NULL"},
		share + `{ObjectName="\Ä x"}`:                           {3: "5c00c40020007800", 4: "NULL"},
		share + `{ObjectName=""}`:                               {3: "no bytes", 4: "NULL"},
		share + "{ObjectName={Length=3 Buffer=bytes(1 2 3 4)}}": {3: "010203", 4: "NULL"},
		share + "{ObjectName={Length=3}}":                       {3: "library"},
		share + "{ObjectName={Length=4 Buffer=bytes(9)}}":       {3: "09000000", 4: "NULL"},
		share + "{ObjectName={Buffer=bytes(1 2) MaximumLength=9} SecurityDescriptor=bytes(8)}": {3: "0102", 4: "08"},
		share + "{ObjectName=bad}":                                  {3: "library"},
		share + "{ObjectName={Length=2 Buffer=bad}}":                {3: "library"},
		share + "{SecurityDescriptor=bad}":                          {4: "library"},
		share + `{ObjectName={Buffer=["\X" repeat(0x590058 2) 1]}}`: {3: "5c005800" + "58005900" + "58005900" + "01000000"},
		share + "bad": {1: "library"},
		allocate + "0 pPrivateDriverData=bytes(1 2)":                                                                                      {1: "NULL", 2: "0102", 3: "NULL", 4: "NULL"},
		allocate + "StandardAllocation pStandardAllocation={Type=EXISTINGHEAP Size=0x1000}":                                               {1: "010000000000000000100000000000000000000000000000", 2: "NULL"},
		allocate + "0 pAllocationInfo2=[{} {pPrivateDriverData=bytes(1 2 3)} {pPrivateDriverData=bytes()} {pPrivateDriverData=bytes(4)}]": {4: "01020304"},
		allocate + "0 pAllocationInfo2=[{pPrivateDriverData=bytes(1 2 3) PrivateDriverDataSize=2}]":                                       {4: "0102"},
		allocate + "0 pAllocationInfo2=[{PrivateDriverDataSize=2}]":                                                                       {4: "library"},
		allocate + "0 pAllocationInfo2=repeat({pPrivateDriverData=bytes(5)} 3)":                                                           {4: "050505"},
	} {
		r, err := newRequester().request(frameOf(t, command))
		for i, w := range want {
			if w == "" {
				continue // it is another array that matters
			}
			var got string
			switch {
			case errors.Is(err, errOnlyLibrary):
				got = "library"
			case err != nil:
				got = err.Error()
			case r.Arrays[i] == nil:
				got = "NULL"
			case len(r.Arrays[i]) == 0:
				got = "no bytes"
			default:
				got = hex.EncodeToString(r.Arrays[i])
			}
			if w != got {
				t.Errorf("%s: array %d is %q, want %q", command, i, got, w)
			}
		}
	}
}

// Memory has names, for scenarios and for drivers, and pointers to it addresses.
func TestNestedNames(t *testing.T) {
	f := frameOf(t, `ShareObjects ObjectHandleArray=[1] pObjectAttributes=[{Length=0x30 ObjectName="X"}]`)
	var got []string
	for i := range f.Data {
		if d := &f.Data[i]; d.State == Present {
			got = append(got, d.Name+" "+d.Path)
		}
	}
	want := []string{
		"ObjectHandleArray ObjectHandleArray", "pObjectAttributes pObjectAttributes",
		"pObjectAttributes.ObjectName pObjectAttributes@16", "pObjectAttributes.ObjectName.Buffer pObjectAttributes@16@8",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	text := f.path("pObjectAttributes@16")
	if le.Uint64(f.path("pObjectAttributes").Bytes[16:]) != text.Address || hex.EncodeToString(text.Bytes[:4]) != "02000200" {
		t.Errorf("attributes %x, text %x", f.path("pObjectAttributes").Bytes, text.Bytes)
	}
	want = strings.Fields(fmt.Sprintf("ShareObjects ObjectCount=0x1 DesiredAccess=0x0 ObjectHandleArray=@01000000 "+
		"pObjectAttributes=@%x pObjectAttributes@16=@%x pObjectAttributes@16@8=@5800", f.path("pObjectAttributes").Bytes, text.Bytes))
	if got := strings.Fields(arguments(f)); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestNestedRefuses(t *testing.T) {
	for command, want := range map[string]string{
		"ShareObjects pObjectAttributes={Colour=1}":                                       `OBJECT_ATTRIBUTES has no member "Colour"`,
		"ShareObjects pObjectAttributes={Length=1 Length=2}":                              "member Length is given twice",
		"ShareObjects pObjectAttributes=[{ObjectName=5}]":                                 "nothing that a pointer can point to",
		`ShareObjects ObjectHandleArray="X"`:                                              "nothing that a pointer can point to",
		`ShareObjects pObjectAttributes="X"`:                                              "is no {MEMBER=VALUE",
		"ShareObjects pObjectAttributes={ObjectName={Length=0x10000}}":                    "does not fit 16 bits",
		"CreateAllocation2 pAllocationInfo2={}":                                           "nothing that a pointer can point to",
		"CreateAllocation2 pAllocationInfo2=repeat({pPrivateDriverData=bytes(1)} 5000)":   "too many pointers",
		"CreateAllocation2 pAllocationInfo2=repeat({pPrivateDriverData=room(60000)} 300)": "arguments of more than",
		`ShareObjects pObjectAttributes={ObjectName="X}`:                                  "leaves a bracket or a quote open",
		`ShareObjects pObjectAttributes={ObjectName=x"X"}`:                                "is no number, name or variable",
	} {
		if _, err := tryFrame(command); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", command, err, want)
		}
	}
}

// answers plays a kernel that changes what it is sent, and lists what the caller sees.
func answers(t *testing.T, command string, kernel func(r *abi.Request)) []string {
	t.Helper()
	p := newRequester()
	p.send = func(r *abi.Request) (abi.Status, error) {
		kernel(r)
		return abi.StatusSuccess, nil
	}
	f := frameOf(t, command)
	before := f.Clone()
	if _, err := p.Call(f); err != nil {
		t.Fatal(err)
	}
	return shown(f, before)
}

func shown(f, before *Frame) []string {
	var all []string
	for _, c := range f.Changes(before) {
		all = append(all, c.Name+"="+DefaultTable().show(&c, &vocabulary{}))
	}
	return all
}

// Pointers in elements stay the caller's, or lead to where the kernel says.
func TestNestedAnswers(t *testing.T) {
	got := answers(t, "CreateAllocation2 pAllocationInfo2=[{pPrivateDriverData=bytes(1)} {}]", func(r *abi.Request) {
		for i := range 2 {
			le.PutUint32(r.Arrays[3][96*i:], uint32(0x40+i))
			le.PutUint64(r.Arrays[3][96*i+0x10:], 99)
		}
		r.Arrays[4][0] = 9
	})
	if want := []string{"pAllocationInfo2[0].hAllocation=$allocation", "pAllocationInfo2[1].hAllocation=$allocation"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	const open = "OpenResource2 pOpenAllocationInfo2=room(2)"
	point := func(r *abi.Request) {
		le.PutUint64(r.Arrays[0][8:], 0)
		le.PutUint64(r.Arrays[0][80+8:], 3)
		if r.Arrays[3] != nil {
			r.Arrays[3][3] = 7
		}
	}
	got = answers(t, open+" pTotalPrivateDriverDataBuffer=room(4)", point)
	want := []string{
		"pOpenAllocationInfo2[0].pPrivateDriverData=pTotalPrivateDriverDataBuffer+0x0",
		"pOpenAllocationInfo2[1].pPrivateDriverData=pTotalPrivateDriverDataBuffer+0x3",
		"pTotalPrivateDriverDataBuffer[0]=0x7000000",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	got = answers(t, open, point)
	if want := []string{"pOpenAllocationInfo2[1].pPrivateDriverData=$pPrivateDriverData"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// A member of a union is told by its name when it is the one that is meant.
func TestUnions(t *testing.T) {
	for kind, want := range map[string][]string{
		"MUTEX":                    {"SynchronizationMutex.InitialState=TRUE", "@0x14=0x2"},
		"SEMAPHORE":                {"Semaphore.MaxCount=1", "Semaphore.InitialCount=2"},
		"FENCE":                    {"Fence.FenceValue=8589934593"},
		"CPU_NOTIFICATION":         {"CPUNotification.Event=$Event"},
		"MONITORED_FENCE":          {"InitialFenceValue=8589934593"},
		"PERIODIC_MONITORED_FENCE": {"PeriodicMonitoredFence.hAdapter=$adapter", "PeriodicMonitoredFence.VidPnTargetId=2"},
		"99":                       {"@0x10=0x1", "@0x14=0x2"},
	} {
		f := frameOf(t, "CreateSynchronizationObject2 Type="+kind)
		before := f.Clone()
		f.Record[0x10], f.Record[0x14] = 1, 2
		if got := shown(f, before); !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", kind, got, want)
		}
	}
	f := frameOf(t, "CreateSynchronizationObject2 Type=SEMAPHORE Semaphore.MaxCount=5 Semaphore.InitialCount=6")
	if n := le.Uint64(f.Record[0x10:]); n != 6<<32|5 {
		t.Errorf("union is %#x", n)
	}
}

// What a driver says of memory, and what it cannot say.
func TestDriverAnswers(t *testing.T) {
	const command = "CreateAllocation2 pAllocationInfo2=[{pPrivateDriverData=bytes(1)}] pPrivateDriverData=bytes(1 2)"
	zeros := strings.Repeat("00", 96)
	for answer, want := range map[string]string{
		"hResource=0x40":          "hResource=$resource",
		"@12=9":                   "@0x0C=0x9",
		"pAllocationInfo2@16=@05": "pAllocationInfo2[0].pPrivateDriverData[0]=0x5",
		"pAllocationInfo2@16=pAllocationInfo2@16+0":         "",
		"pAllocationInfo2@16=pPrivateDriverData+1":          "pAllocationInfo2[0].pPrivateDriverData=pPrivateDriverData+0x1",
		"pAllocationInfo2=@" + zeros:                        "pAllocationInfo2[0].pPrivateDriverData=0x0 pAllocationInfo2[0].PrivateDriverDataSize=0",
		"pAllocationInfo2@16=bad+0":                         "pAllocationInfo2[0].pPrivateDriverData=$pPrivateDriverData",
		"pAllocationInfo2@16=pAllocationInfo2@8+0":          "error",
		"pAllocationInfo2@16=pPrivateDriverData":            "error",
		"pAllocationInfo2@89=pPrivateDriverData+0":          "error",
		"pAllocationInfo2@x=pPrivateDriverData+0":           "error",
		"pAllocationInfo2@99999999999=pPrivateDriverData+0": "error",
		"pStandardAllocation@0=pPrivateDriverData+0":        "error",
		"pAllocationInfo2=@00":                              "error",
		"pAllocationInfo2@16=@0506":                         "error",
		"pAllocationInfo2@8=@05":                            "error",
		"colour=1":                                          "error",
		"@9999=1":                                           "error",
	} {
		f := frameOf(t, command)
		before := f.Clone()
		_, err := answered(f, "0x00000000 "+answer)
		got := strings.Join(shown(f, before), " ")
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: got %q (%v), want %q", answer, got, err, want)
		}
	}
}

// Arrays in the record itself are lists for scenarios and fields for drivers.
func TestInlineArrays(t *testing.T) {
	f := frameOf(t, "SignalSynchronizationObject2 ObjectHandleArray=[5 repeat(6 2)] BroadcastContext=9 Fence.FenceValue=3")
	words := func(offset, n int) (all []uint32) {
		for i := range n {
			all = append(all, le.Uint32(f.Record[offset+4*i:]))
		}
		return all
	}
	if got := words(4, 5); !slices.Equal(got, []uint32{3, 5, 6, 6, 0}) {
		t.Errorf("the objects are %v", got)
	}
	if got := words(0x8C, 3); !slices.Equal(got, []uint32{1, 9, 0}) {
		t.Errorf("the contexts are %v", got)
	}
	if text := arguments(f); !strings.Contains(text, " ObjectHandleArray[2]=0x6 ") || !strings.Contains(text, " BroadcastContext[63]=0x0 ") {
		t.Errorf("drivers are told %s", text)
	}
	if f = frameOf(t, "SignalSynchronizationObject2 ObjectHandleArray=[5] ObjectCount=33"); words(4, 1)[0] != 33 {
		t.Error("a count that was given was changed")
	}
	for command, want := range map[string]string{
		"SignalSynchronizationObject2 ObjectHandleArray=repeat(1 33)":              "more than 32 elements",
		"SignalSynchronizationObject2 ObjectHandleArray=[1] ObjectHandleArray=[2]": "given twice",
		"SignalSynchronizationObject2 ObjectHandleArray=[0x100000000]":             "does not fit",
		"SignalSynchronizationObject2 ObjectHandleArray=bad":                       "no number",
	} {
		if _, err := tryFrame(command); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", command, err, want)
		}
	}
}

// Command buffers are written as package cmdbuf writes them.
func TestCommands(t *testing.T) {
	lookup := func(string) (uint64, bool) { return 0x1000, true }
	var got []byte
	got = append(got, cmdbuf.New().Bytes()...)
	for _, text := range []string{"[WRITE64 $x 7]", "[DELAY 2ms NOT_PREEMPTIBLE]", "[COPY $x $x+8 16]", "[FAULT WRITE 5]", "[DELAY 1s]", "[HANG]"} {
		v, err := ParseValue(text)
		if err == nil {
			got, err = appendCommand(got, v.List, lookup)
		}
		if err != nil {
			t.Fatal(text, err)
		}
	}
	want := cmdbuf.New().Write64(0x1000, 7).Delay(2_000_000, cmdbuf.NotPreemptible).Copy(0x1000, 0x1008, 16).
		Fault(cmdbuf.FaultWrite, 5).Delay(1_000_000_000, 0).Hang().Bytes()
	if !bytes.Equal(got, want) {
		t.Errorf("wrote %x, want %x", got, want)
	}
	for text, why := range map[string]string{"[SING]": "no command", "[HANG 1]": "has 0 fields", "[DELAY often]": "not known", "[DELAY 5Hz]": "no number"} {
		v, err := ParseValue(text)
		if err == nil {
			_, err = appendCommand(nil, v.List, lookup)
		}
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v, want %q", text, err, why)
		}
	}
}
