package suite

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const good = `title: T
rule: calls/1-values; sharing/1-4
rule: objects/1-zero
source: choice OQ-1
adapter: neutral wddm=3000 type=RenderSupported|ComputeOnly
doors: c

p1/t1 CreateDevice hAdapter=$a+0x40 \
  Flags=LegacyMode|0x2
    STATUS_SUCCESS   hDevice=$d
    Flags=1
# comment

print ($p1.d>>30)!=0
    1
p1 close $d
`

func TestParse(t *testing.T) {
	s, err := Parse("x/y.txt", good)
	if err != nil {
		t.Fatal(err)
	}
	step := s.Steps[0]
	if s.Family() != "x" || s.Provenance() != Choice || !s.Runs("c") || s.Runs("socket") || strings.Join(s.Rules, " ") != "calls/1-values sharing/1-4 objects/1-zero" {
		t.Errorf("header read as %+v", s)
	}
	if a := s.Adapters[0]; a.Profile != "neutral" || a.WDDM != 3000 || len(a.Type) != 2 {
		t.Errorf("adapter read as %+v", a)
	}
	if step.Process != "p1" || step.Thread != "t1" || step.Verb != "CreateDevice" || len(step.Args) != 2 || step.Line != 8 {
		t.Errorf("step read as %+v", step)
	}
	if step.Want != "STATUS_SUCCESS hDevice=$d Flags=1" || s.Steps[2].Want != "" {
		t.Errorf("outputs read as %q, %q", step.Want, s.Steps[2].Want)
	}
	n, err := step.Args[1].Value.eval(nil, DefaultTable().sets["device"])
	if err != nil || n != 3 {
		t.Errorf("flags are %#x, %v", n, err)
	}
}

func TestParseRefuses(t *testing.T) {
	head := "title: T\nrule: r\nsource: choice x\n\n"
	for text, want := range map[string]string{
		"":                                     "no title",
		"title: T\n\np1 event\n":               "no rule",
		"title: T\nrule: r\n\np1 event\n":      "no source",
		head:                                   "no steps",
		"title T\n":                            ":1: header line",
		"title: T\ntitle: U\n\n":               ":2: second title",
		"  title: T\n":                         ":1: line goes on",
		"title:\n\n":                           "is empty",
		"colour: red\n\n":                      `header "colour"`,
		"source: rumour has it\n\n":            "does not begin with",
		"source: choice\n\n":                   "does not begin with",
		"adapter: neutral wddm=x\n\n":          "no WDDM level",
		"adapter: neutral size=3\n\n":          "is not wddm=",
		"doors: c:\n\n":                        "is no name",
		"rule: a/1-x; ; a/1-y\n\n":             "has an empty name",
		head + "    out\n":                     ":5: output without a command",
		head + "p1 event\n\n    out\n":         ":7: output must follow",
		head + "p1\n":                          ":5: no command",
		head + "p1/ event\n":                   "is no process",
		head + "1 event\n":                     "is no process",
		head + "p1 X a=[1\n":                   "leaves a bracket or a quote open",
		head + "p1 X a=1]\n":                   "closes what was not opened",
		head + "p1 X a=0x\n":                   "is no 64-bit number",
		head + "p1 X a=99999999999999999999\n": "is no 64-bit number",
		head + "p1 X a=$1\n":                   "is no variable",
		head + "p1 X a=1+\n":                   "operand is missing",
		head + "p1 X a=\"\n":                   "leaves a bracket or a quote open",
		head + "p1 X a=\"x\"y\n":               "is no text between quotes",
		head + "p1 X a.=1\n":                   "is no number, name or variable",
		head + "p1 X a=\n":                     "value is missing",
		head + "p1 X a=room(x)\n":              "is not a number up to",
		head + "p1 X a=room(70000)\n":          "is not a number up to",
		head + "p1 X a=repeat(1)\n":            "wants 2 words",
		head + "p1 X a=" + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "\n": "too deep",
		head + "print (1\n":                  "leaves a bracket or a quote open",
		head + "advance 16m\n":               "is no 64-bit number",
		head + "advance 1.6.1ms\n":           "is no 64-bit number",
		head + "advance 0.5ns\n":             "is no 64-bit number",
		head + "advance 9223372037s\n":       "is no 64-bit number",
		"title: T\nclock: wound\n":           `clock "wound" is not manual`,
		"tdr: TdrDelay\n":                    `"TdrDelay" is no setting`,
		"tdr: TdrTestMode=1\n":               `"TdrTestMode=1" is no setting`,
		"tdr: TdrDelay=1\ntdr: TdrLevel=1\n": "second line of settings",
		"user: p1 1000\n":                    `is not PROCESS UID GID`,
		"user: p1 x 100\n":                   "invalid syntax",
		"user: p1 1 1\nuser: p1 2 2\n":       "second user of p1",
		"title: T\nrule: a/1-x\nsource: choice C\nuser: p1 1 1\n\np1 event\n": `needs "doors: inproc"`,
	} {
		_, err := Parse("s.txt", text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q in it", text, err, want)
		}
	}
}

func TestLoadRefusesUnknownNames(t *testing.T) {
	for text, want := range map[string]string{
		"p1 CreateDevices\n":         "s/x.txt:5: CreateDevices is no call and no command",
		"p1 CreateDevice hAdopter=1": "s/x.txt:5: CreateDevice has no field hAdopter",
		"p1 print 1":                 "s/x.txt:5: print is no call and no command",
		"print":                      "s/x.txt:5: print wants one expression without blanks",
		"advance 1s":                 "s/x.txt:5: advance needs the header clock: manual",
		"advance 1Hz":                "s/x.txt:5: advance wants a time, 16ms",
		"advance 1":                  "s/x.txt:5: advance wants a time, 16ms",
		"refresh 0 0 1s":             "s/x.txt:5: refresh wants an adapter, a target and a rate, 59.94Hz",
		"refresh 0 0x100000000 1Hz":  "s/x.txt:5: refresh wants an adapter, a target and a rate, 59.94Hz",
		"refresh 0 0 4294968Hz":      "s/x.txt:5: refresh wants an adapter, a target and a rate, 59.94Hz",
		"output 0 0":                 "s/x.txt:5: output wants an adapter, a target, and on or off",
		"output 0 0 up":              "s/x.txt:5: output wants an adapter, a target, and on or off",
		"signal 0":                   "s/x.txt:5: signal wants an adapter and the place of an event",
		"fault 0":                    "s/x.txt:5: fault wants an adapter, and hang NODE, page_fault NODE ADDRESS, power D0, power D3, reset or remove",
		"fault 0 hang":               "s/x.txt:5: fault wants an adapter, and hang NODE, page_fault NODE ADDRESS, power D0, power D3, reset or remove",
		"fault 0 sing 1":             "s/x.txt:5: fault wants an adapter, and hang NODE, page_fault NODE ADDRESS, power D0, power D3, reset or remove",
		"fault 0 hang x":             "s/x.txt:5: fault wants an adapter, and hang NODE, page_fault NODE ADDRESS, power D0, power D3, reset or remove",
		"fault 0 reset 1":            "s/x.txt:5: fault wants an adapter, and hang NODE, page_fault NODE ADDRESS, power D0, power D3, reset or remove",
		"fault 0 power":              "s/x.txt:5: fault wants an adapter, and hang NODE, page_fault NODE ADDRESS, power D0, power D3, reset or remove",
		"fault 0 power D1":           "s/x.txt:5: fault wants an adapter, and hang NODE, page_fault NODE ADDRESS, power D0, power D3, reset or remove",
		"fault 0 hang D3":            "s/x.txt:5: fault wants an adapter, and hang NODE, page_fault NODE ADDRESS, power D0, power D3, reset or remove",
		"signal x=0 0":               "s/x.txt:5: signal wants an adapter and the place of an event",
	} {
		folder := t.TempDir()
		if err := os.Mkdir(filepath.Join(folder, "s"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "s", "x.txt"), []byte("title: T\nrule: r\nsource: choice x\n\n"+text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(os.DirFS(folder)); err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

// Quantities are exact.
func TestQuantities(t *testing.T) {
	for text, want := range map[string]uint64{
		"0ns": 0, "16ms": 16_000_000, "16.6667ms": 16_666_700, "1.5us": 1500, "2s": 2_000_000_000, "0.000000001s": 1,
		"144Hz": 144_000, "59.94Hz": 59_940, "23.976Hz": 23_976, "9223372036s": 9_223_372_036_000_000_000,
	} {
		v, err := ParseValue(text)
		if err != nil || v.Form != Quantity || v.Num != want || !strings.HasSuffix(text, v.Name) {
			t.Errorf("%s: %+v, %v, want %d", text, v, err, want)
		}
		if _, err := v.eval(nil, nil); err == nil {
			t.Errorf("%s can be computed with", text)
		}
	}
}

func TestTableRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"  x 0 u32 hex x":                                                "line 1: indented line belongs to nothing",
		"thing x":                                                        `"thing" begins nothing known`,
		"call A B 0\n":                                                   "is no number of bytes",
		"call A B 4\n x 0 u8 hex x":                                      `type "u8"`,
		"call A B 4\n x 2 u32 hex x":                                     "ends behind the record",
		"call A B 4\n x 0 u32 colours x":                                 `names "colours" are not defined`,
		"call A B 4\n x 0 u32":                                           "want NAME OFFSET",
		"call A B 8\n x 0 ptr REC[1] record x":                           `record "REC" is not defined`,
		"call A B 8\n x 0 ptr u32[n] dec x":                              "x has no count",
		"call A B 8\n x 0 ptr u32 dec x":                                 "is not ELEMENT[COUNT]",
		"call A B 8\n n 0 u32 dec n\n x 4 2 u32[n] dec x":                "x[1] ends behind the record",
		"call A B 8\n x 0 2 u32[n] dec x":                                "x has no count",
		"call A B 8\n x 0 0 u32[n] dec x":                                `"0" is no number of elements`,
		"call A B 8\n x 0 2 u64[n] dec x":                                `elements "u64[n]" are neither u32[COUNT] nor u8`,
		"call A B 8\n x 0 2 u32[n] colours x":                            "x is shown neither as handle nor as dec",
		"names s\n A one":                                                `value "one" is no number`,
		"names s\n A":                                                    "want NAME VALUE",
		"record R 8\n x 0 ptr u32[n] dec x":                              "record R: x has no count",
		"call A B 8\n x 0 u32 dec x\n x 4 u32 dec x":                     "is no name, or taken",
		"call A B 8\n x=y 0 u32 dec x":                                   "is no name, or taken",
		"call A B 8\n x 0 u32 dec x if y=1":                              `field "y" is not defined above`,
		"names s\n A 1\ncall A B 8\n y 0 u32 s y\n x 4 u32 dec x if y=B": `y has no value "B"`,
		"call A B 8\n y 0 u32 dec y\n x 4 u32 dec x if y=B":              `y has no value "B"`,
		"call A B 8\n x y u32 hex x":                                     `offset "y"`,
	} {
		if _, err := ParseTable(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q in it", text, err, want)
		}
	}
}

// Whatever parses can be written again and parses to the same.
func FuzzParse(f *testing.F) {
	f.Add(good)
	f.Add(header + `p1 ShareObjects pObjectAttributes=[{Length=0x30 ObjectName="\BaseNamedObjects\X y" SecurityDescriptor=bad}]` + "\n" +
		`p1 ShareObjects pObjectAttributes={ObjectName={Length=3 Buffer=bytes(1 2)}}` + "\n    STATUS_SUCCESS\n" +
		"p1 CreateAllocation2 pAllocationInfo2=repeat({pPrivateDriverData=bytes(1 2 3) PrivateDriverDataSize=9} 3)\n")
	err := fs.WalkDir(os.DirFS(corpusFolder), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(name) == ".txt" {
			var text []byte
			text, err = os.ReadFile(filepath.Join(corpusFolder, name))
			f.Add(string(text))
		}
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse("f.txt", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.txt:") {
				t.Fatalf("error %q does not say where", err)
			}
			return
		}
		wants := make([]string, len(s.Steps))
		for i, step := range s.Steps {
			wants[i] = step.Want
			if call := DefaultTable().Call(step.Verb); call != nil {
				_, _ = newFrame(DefaultTable(), call, step.Args, func(string) (uint64, bool) { return 1, true })
			}
		}
		once, err := s.Rewrite(wants)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("f.txt", once)
		if err != nil {
			t.Fatalf("%v in\n%s", err, once)
		}
		if len(again.Steps) != len(s.Steps) {
			t.Fatalf("%d steps became %d in\n%s", len(s.Steps), len(again.Steps), once)
		}
		for i, step := range again.Steps {
			if step.Want != wants[i] || step.Text != s.Steps[i].Text {
				t.Fatalf("step %d: %q %q became %q %q", i, s.Steps[i].Text, wants[i], step.Text, step.Want)
			}
		}
	})
}
