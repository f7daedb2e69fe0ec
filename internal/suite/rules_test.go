package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dxgsync/dxgsync/conformance"
)

// Every rule has a scenario or a mark that says why it has none, never both, and
// scenarios name only rules that there are.
func TestEveryRuleHasAScenarioOrAMark(t *testing.T) {
	c := load(t)
	for _, section := range c.Coverage(nil).Sections {
		for _, r := range section.Rules {
			rule := c.Rules.Rule(r.ID)
			switch {
			case rule.marked() && len(r.Scenarios) > 0:
				t.Errorf("%s is shown by %s: delete its todo, later or apart in conformance/%s", r.ID, r.Scenarios, conformance.Rules)
			case !rule.marked() && len(r.Scenarios) == 0:
				t.Errorf("%s is shown by no scenario", r.ID)
			}
		}
	}
	for _, s := range c.Scenarios {
		seen := map[string]bool{}
		for _, id := range s.Rules {
			if c.Rules.Rule(id) == nil {
				t.Errorf("%s shows %q, which is no rule of conformance/%s", s.Path, id, conformance.Rules)
			}
			if seen[id] {
				t.Errorf("%s names %s twice", s.Path, id)
			}
			seen[id] = true
		}
	}
}

// The list reads well: sentences that end, each said once, lines that fit, tests that exist.
func TestRulesAreWellWritten(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(corpusFolder, conformance.Rules))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if len([]rune(line)) > 130 || strings.TrimRight(line, " ") != line {
			t.Errorf("%s:%d: line has more than 130 characters or ends in a blank", conformance.Rules, i+1)
		}
	}
	said := map[string]string{}
	for _, section := range load(t).Rules.Sections {
		if len(section.Rules) == 0 {
			t.Errorf("section %s has no rules", section.ID)
		}
		for _, r := range section.Rules {
			if !strings.HasSuffix(r.Text, ".") || strings.Contains(r.Text, "todo") {
				t.Errorf("%s: %q is no sentence", r.ID, r.Text)
			}
			// Calls may say the same of their records; a section says a thing once.
			if other := said[section.ID+r.Text]; other != "" {
				t.Errorf("%s and %s say the same", other, r.ID)
			}
			said[section.ID+r.Text] = r.ID
			if ext := filepath.Ext(r.Apart); ext == ".go" || ext == ".c" {
				if _, err := os.Stat(filepath.Join("../..", r.Apart)); err != nil {
					t.Errorf("%s: %v", r.ID, err)
				}
			}
		}
	}
}

func TestParseRules(t *testing.T) {
	r, err := ParseRules("rules.txt", `# a comment
section a/1 The first
a/1-x
    A sentence
    goes on.
    source: measured somebody
    source: choice OQ-1
    later: tdr

section a/1-b A section below it
a/1-b-2
    Another.
    source: guest x
`)
	if err != nil {
		t.Fatal(err)
	}
	x := r.Rule("a/1-x")
	if len(r.Sections) != 2 || r.Sections[0].Title != "The first" || r.Rule("a/1-b-2") != r.Sections[1].Rules[0] {
		t.Errorf("sections read as %+v", r.Sections)
	}
	if x.Text != "A sentence goes on." || len(x.Sources) != 2 || x.Sources[0].Provenance != Measured || x.Later != "tdr" || x.Expected() {
		t.Errorf("rule read as %+v", x)
	}
}

func TestParseRulesRefuses(t *testing.T) {
	const begun, rule = "section a/1 T\n", "section a/1 T\na/1-x\n    S.\n    source: choice x\n"
	for _, c := range []struct{ text, want string }{
		{"section a/1\n", `rules.txt:1: "section a/1" is not section ID TITLE`},
		{begun + begun, "rules.txt:2: second section a/1"},
		{"a/1-x\n", "rules.txt:1: rule a/1-x is in no section"},
		{begun + "a/2-x\n", "rules.txt:2: rule a/2-x is not named after its section a/1"},
		{begun + "a/1-\n", "rules.txt:2: rule a/1- is not named after"},
		{begun + "a/1-x y\n", `rules.txt:2: "a/1-x y" is no name`},
		{begun + "    S.\n", `rules.txt:2: "S." belongs to no rule`},
		{rule + "a/1-x\n", "rules.txt:5: second rule a/1-x"},
		{begun + "a/1-x\n    source: choice x\n", "rules.txt:3: a/1-x has no sentence"},
		{begun + "a/1-x\n    S.\na/1-y\n", "rules.txt:4: a/1-x has no source"},
		{begun + "a/1-x\n    S.\n", "rules.txt:3: a/1-x has no source"},
		{begun + "a/1-x\n    source: gossip x\n", "rules.txt:3: source \"gossip x\""},
		{rule + "    later: soon\n", "rules.txt:5: later: soon is none of gpu, tdr, native"},
		{rule + "    todo\n    later: gpu\n", "rules.txt:6: a/1-x has two marks"},
		{rule + "    apart: x\n    todo\n", "rules.txt:6: a/1-x has two marks"},
	} {
		if _, err := ParseRules("rules.txt", c.text); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

// Rules come from whoever writes a corpus.
func FuzzParseRules(f *testing.F) {
	text, err := os.ReadFile(filepath.Join(corpusFolder, conformance.Rules))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text[:4096]))
	f.Add("section a b\na-x\n S\n source: choice y\n todo\n")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseRules("f", text)
		if err != nil {
			return
		}
		for _, s := range r.Sections {
			for _, rule := range s.Rules {
				if r.Rule(rule.ID) != rule || rule.Text == "" || len(rule.Sources) == 0 {
					t.Errorf("accepted %+v", rule)
				}
			}
		}
	})
}

func TestCoverage(t *testing.T) {
	rules, err := ParseRules("rules.txt", `section a/1 One
a/1-x
    Shown.
    source: choice x
a/1-y
    Not shown.
    source: choice x
    todo
a/1-z
    Not yet.
    source: choice x
    later: gpu
a/1-w
    Never.
    source: choice x
    apart: it cannot be
`)
	if err != nil {
		t.Fatal(err)
	}
	c := &Corpus{Rules: rules, Scenarios: []*Scenario{
		{Path: "f/one.txt", Rules: []string{"a/1-x", "b/2-x"}},
		{Path: "f/two.txt", Rules: []string{"b/2-x", "a/1-x"}},
	}}
	cover := c.Coverage([]Result{
		{Path: "f/one.txt", Door: "inproc", Verdict: Passed},
		{Path: "f/two.txt", Door: "inproc", Verdict: Failed},
	})
	if want := (Tally{Rules: 4, Shown: 1, Missing: 1, Later: 1, Apart: 1}); cover.Total != want || cover.Sections[0].Tally != want {
		t.Errorf("total %+v", cover.Total)
	}
	if cover.Complete() || strings.Join(cover.Missing, " ") != "a/1-y" || strings.Join(cover.Unknown, " ") != "b/2-x" {
		t.Errorf("missing %v, unknown %v", cover.Missing, cover.Unknown)
	}
	var out strings.Builder
	if err := cover.Print(&out, []Door{InProcess{}}); err != nil {
		t.Fatal(err)
	}
	const want = `a/1 One

  a/1-x  Shown.
      choice x
      inproc 1, 1 failed: f/one f/two
  a/1-y  Not shown.
      choice x
      no scenario
  a/1-z  Not yet.
      choice x
      later: gpu
  a/1-w  Never.
      choice x
      apart: it cannot be
  4 rules: 1 with a scenario, 1 without, 1 later, 1 apart

Rules without a scenario:
  a/1-y  Not shown.

Rules that scenarios name and nobody lists:
  b/2-x

4 rules: 1 with a scenario, 1 without, 1 later, 1 apart
`
	if out.String() != want {
		t.Errorf("printed\n%s", out.String())
	}
}
