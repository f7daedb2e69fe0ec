package suite

import (
	"strings"
	"testing"
	"time"
)

const header = "title: T\nrule: r\nsource: choice x\n\n"

// play runs a scenario that is not in the corpus.
func play(t *testing.T, d Door, steps string) Result {
	t.Helper()
	s, err := Parse("t.txt", header+steps)
	if err != nil {
		t.Fatal(err)
	}
	c := load(t)
	c.patience = 20 * time.Millisecond // these scenarios fail, and wait for nothing
	if err := c.check(s); err != nil {
		t.Fatal(err)
	}
	return c.Run(s, d)
}

func TestRunFindsWhatIsWrong(t *testing.T) {
	const fence = "p1 uses fence\n"
	for steps, want := range map[string]string{
		"p1 CreateDevice\n    STATUS_SUCCESS\n":                         "t.txt:5: p1 CreateDevice\n  want STATUS_SUCCESS\n  got  STATUS_INVALID_PARAMETER",
		"p1 EnumAdapters2\n    STATUS_SUCCESS\n":                        "got  STATUS_SUCCESS NumAdapters=34",
		"p1 EnumAdapters2\n    STATUS_SUCCESS NumAdapters=33\n":         "got  STATUS_SUCCESS NumAdapters=34",
		"p1 EnumAdapters2\n    STATUS_SUCCESS NumAdapters=34 Extra=1\n": "want STATUS_SUCCESS NumAdapters=34 Extra=1",
		fence + "p1 peek $page\n    1\n":                                "want 1\n  got  0",
		fence + "p1 peek $gpu\n    1\n":                                 "no fence is at",
		fence + "p1 close $nt\n":                                        "$nt has no value yet",
		fence + "p1 close 77\n":                                         "bad file descriptor",
		fence + "print $p1.page&7\n    3\n":                             "want 3\n  got  0",
		fence + "p1 uses nothing\n":                                     "given/nothing.txt does not exist",
		"p1 exit\np1 event\n    fd=$e\n":                                "process p1 has ended",
		"p1/t state\n    blocked\n":                                     `thread "t" has made no call`,
		"p1 CreateDevice Flags=Fast\n":                                  "name Fast is not known here",
		"p1 CreateDevice hAdapter=0x100000000\n":                        "does not fit 32 bits",
		"p1 CreateDevice hAdapter=1 hAdapter=1\n":                       "given twice",
		"p1 CreateDevice 1\n":                                           `argument "1" has no field name`,
		"p1 CreateDevice NULL\n":                                        "need the C library",
		"p1 EnumAdapters2 pAdapters=5\n":                                "nothing that a pointer can point to",
		"p1 file socket\n":                                              "is no kind of file",
		"p1 event\n    fd=$e\np1 poll $e\n    set\n":                    "want set\n  got  clear",
		"output 1 0 off\n":                                              "there is no adapter 1",
		"output 0 1 off\n":                                              "target 1: STATUS_INVALID_PARAMETER",
		"refresh 0 0 0.999Hz\n":                                         "target 0: STATUS_INVALID_PARAMETER",
		"signal 0 0\n    STATUS_SUCCESS\n":                              "want STATUS_SUCCESS\n  got  none",
		fence + "p1/t WaitForSynchronizationObjectFromCpu hDevice=$device ObjectHandleArray=[$fence] FenceValueArray=[1]\n    STATUS_SUCCESS\n":                                 "want STATUS_SUCCESS\n  got  blocked",
		fence + "p1/t WaitForSynchronizationObjectFromCpu hDevice=$device ObjectHandleArray=[$fence] FenceValueArray=[0]\n    blocked\n":                                        "want blocked\n  got  STATUS_SUCCESS",
		fence + "p1/t WaitForSynchronizationObjectFromCpu hDevice=$device ObjectHandleArray=[$fence] FenceValueArray=[1]\n    blocked\np1/t CreateDevice\n    STATUS_SUCCESS\n": "still in a call",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			res := play(t, InProcess{}, steps)
			if res.Verdict != Failed || !strings.Contains(res.Detail, want) {
				t.Errorf("verdict %s, detail\n%s\nwant in it\n%s", res.Verdict, res.Detail, want)
			}
		})
	}
}

// Update keeps what matches and writes what was seen for the rest.
func TestUpdate(t *testing.T) {
	s, err := Parse("t.txt", header+`p1 EnumAdapters2 pAdapters=room(2)
    STATUS_SUCCESS NumAdapters=2 pAdapters[0].hAdapter=$mine

# a comment
p1 CreateDevice hAdapter=$mine
p1 CreateDevice hAdapter=$mine
    STATUS_INVALID_PARAMETER
`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := load(t).Update(s, InProcess{})
	if err != nil {
		t.Fatal(err)
	}
	want := header + `p1 EnumAdapters2 pAdapters=room(2)
    STATUS_SUCCESS NumAdapters=1 pAdapters[0].hAdapter=$mine pAdapters[0].AdapterLuid=0x10000
    pAdapters[0].NumOfSources=1

# a comment
p1 CreateDevice hAdapter=$mine
    STATUS_SUCCESS hDevice=$device
p1 CreateDevice hAdapter=$mine
    STATUS_SUCCESS hDevice=$device2
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A mutant is the in-process door with a mistake.
type mutant struct {
	InProcess
	change func(f, before *Frame, st uint32) uint32
}

type mutantWorld struct {
	World
	change func(f, before *Frame, st uint32) uint32
}

type mutantProcess struct {
	Process
	change func(f, before *Frame, st uint32) uint32
}

func (m mutant) Open(spec WorldSpec) (World, error) {
	w, err := m.InProcess.Open(spec)
	return mutantWorld{w, m.change}, err
}

func (w mutantWorld) Process(name string) (Process, error) {
	p, err := w.World.Process(name)
	return mutantProcess{p, w.change}, err
}

func (p mutantProcess) Call(f *Frame) (uint32, error) {
	before := f.Clone()
	st, err := p.Process.Call(f)
	return p.change(f, before, st), err
}

// The corpus notices small mistakes: each breaks several scenarios.
func TestCorpusNoticesMistakes(t *testing.T) {
	const invalidParameter, invalidHandle, accessDenied = 0xC000000D, 0xC0000008, 0xC0000022
	for name, change := range map[string]func(f, before *Frame, st uint32) uint32{
		"writes Flags on success": func(f, _ *Frame, st uint32) uint32 {
			if field := f.Call.Field("Flags"); field != nil && st == 0 {
				putNumber(f.Record, field, number(f.Record, field)|0x100)
			}
			return st
		},
		"clears outputs on failure": func(f, _ *Frame, st uint32) uint32 {
			if field := f.Call.Field("hSyncObject"); field != nil && st != 0 {
				putNumber(f.Record, field, 0)
			}
			return st
		},
		"writes padding": func(f, _ *Frame, st uint32) uint32 {
			if f.Call.Name == "CreateSynchronizationObject2" {
				f.Record[4] ^= 1
			}
			return st
		},
		"writes the handle array": func(f, _ *Frame, st uint32) uint32 {
			if len(f.Data) > 0 && len(f.Data[0].Bytes) > 0 && st == 0 && f.Call.Field("ObjectHandleArray") != nil {
				f.Data[0].Bytes[0] ^= 0xFF
			}
			return st
		},
		"one status for all refusals": func(_, _ *Frame, st uint32) uint32 {
			if st == invalidHandle || st == accessDenied {
				return invalidParameter
			}
			return st
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := load(t)
			c.patience = 20 * time.Millisecond
			failed := 0
			for _, s := range c.Scenarios {
				if s.Runs("inproc") && c.Run(s, mutant{change: change}).Verdict == Failed {
					failed++
				}
			}
			if failed < 3 {
				t.Errorf("%d scenarios notice it", failed)
			}
		})
	}
}
