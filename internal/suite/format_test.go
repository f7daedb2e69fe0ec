package suite

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// formatDocument describes the format of the corpus for other implementations.
const formatDocument = "../../docs/conformance-format.md"

// example returns the block of the document that is marked with kind.
func example(t *testing.T, kind string) string {
	t.Helper()
	text, err := os.ReadFile(formatDocument)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "\n```"+kind+"\n")
	block, _, closed := strings.Cut(rest, "\n```\n")
	if !ok || !closed {
		t.Fatalf("%s has no example of kind %s", formatDocument, kind)
	}
	return block + "\n"
}

// The scenario in the document is the one of the corpus.
func TestDocumentedScenario(t *testing.T) {
	text := example(t, "scenario")
	s, err := Parse("signal/below-current.txt", text)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(corpusFolder + "/" + s.Path)
	if err != nil {
		t.Fatal(err)
	}
	if string(file) != text {
		t.Errorf("%s shows another %s than the corpus has", formatDocument, s.Path)
	}
	if res := load(t).Run(s, InProcess{}); res.Verdict != Passed {
		t.Error(res.Detail)
	}
}

// The rules in the document are those of the list.
func TestDocumentedRules(t *testing.T) {
	documented, err := ParseRules("example", example(t, "rules"))
	if err != nil {
		t.Fatal(err)
	}
	all := load(t).Rules
	for _, s := range documented.Sections {
		for _, r := range s.Rules {
			if real := all.Rule(r.ID); real == nil || real.Text != r.Text || real.Later != r.Later || real.Sources[0] != r.Sources[0] {
				t.Errorf("%s shows %+v, the list has %+v", formatDocument, r, real)
			}
		}
	}
}

// Every command, provenance and mark that there is stands in the document.
func TestDocumentNamesEverything(t *testing.T) {
	text, err := os.ReadFile(formatDocument)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for verb := range verbs {
		want = append(want, "`p[12](/t1)? "+verb+"\\b")
	}
	for verb := range worldVerbs {
		want = append(want, "`"+verb+"\\b")
	}
	for _, p := range Provenances {
		want = append(want, "\n\\| `"+string(p)+"` \\|")
	}
	for _, l := range Laters {
		want = append(want, "`later: "+l+"`")
	}
	for _, w := range want {
		if !regexp.MustCompile(w).Match(text) {
			t.Errorf("%s has nothing like %q", formatDocument, w)
		}
	}
}

// The session in the document is what the driver says, but for addresses.
func TestDocumentedSession(t *testing.T) {
	spec, err := (&Scenario{}).world()
	if err != nil {
		t.Fatal(err)
	}
	d, err := newDaemon(spec)
	if err != nil {
		t.Fatal(err)
	}
	p, err := startDriver(buildDriver(t), d.address)
	if err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`(VirtualAddress|Time)=0x[0-9a-f]+`)
	session := strings.ReplaceAll(example(t, "session"), "\n  ", " ")
	lines := strings.Split(strings.TrimSpace(session), "\n")
	if lines[len(lines)-1] != "> exit" {
		t.Fatalf("the session ends with %q", lines[len(lines)-1])
	}
	for i := 0; i+1 < len(lines); i += 2 {
		ask, ok := strings.CutPrefix(lines[i], "> ")
		want, ok2 := strings.CutPrefix(lines[i+1], "< ")
		if !ok || !ok2 {
			t.Fatalf("%q and %q are not what is read and what is written", lines[i], lines[i+1])
		}
		got, err := p.ask("%s", ask)
		// A thread may still be on its way.
		for end := time.Now().Add(defaultPatience); err == nil && got == "running" && time.Now().Before(end); {
			got, err = p.ask("%s", ask)
		}
		if err != nil || address.ReplaceAllString(got, "$1") != address.ReplaceAllString(want, "$1") {
			t.Errorf("%q: %q, %v, want %q", ask, got, err, want)
		}
	}
	if err := p.Exit(); err != nil {
		t.Error(err)
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
}
