package suite

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// A Coverage says which rules the scenarios show, and at which doors they did.
type Coverage struct {
	Total    Tally             `json:"total"`
	Sections []SectionCoverage `json:"sections"`
	// Missing are the names of the rules that no scenario shows although one could.
	Missing []string `json:"missing"`
	// Unknown are names of rules that scenarios give and the list does not have.
	Unknown []string `json:"unknown,omitempty"`
}

// A Tally counts rules.
type Tally struct {
	Rules   int `json:"rules"`
	Shown   int `json:"shown"`   // with a scenario
	Missing int `json:"missing"` // without one that there could be
	Later   int `json:"later"`   // not to be shown yet
	Apart   int `json:"apart"`   // not to be shown by a scenario
}

// A SectionCoverage is the coverage of a section.
type SectionCoverage struct {
	ID    string         `json:"id"`
	Title string         `json:"title"`
	Tally Tally          `json:"tally"`
	Rules []RuleCoverage `json:"rules"`
}

// A RuleCoverage says who shows a rule.
type RuleCoverage struct {
	ID        string             `json:"id"`
	Text      string             `json:"text"`
	Sources   []Source           `json:"sources"`
	Later     string             `json:"later,omitempty"`
	Apart     string             `json:"apart,omitempty"`
	Scenarios []string           `json:"scenarios"` // without ".txt"
	Doors     map[string]*Counts `json:"doors,omitempty"`
}

// Coverage compares the rules with the corpus and with results, which may be of no door.
func (c *Corpus) Coverage(results []Result) Coverage {
	by := map[string][]Result{}
	for _, r := range results {
		by[r.Path] = append(by[r.Path], r)
	}
	shown := map[string][]*Scenario{}
	cover := Coverage{Missing: []string{}}
	for _, s := range c.Scenarios {
		for _, id := range s.Rules {
			if shown[id] = append(shown[id], s); c.Rules.Rule(id) == nil && len(shown[id]) == 1 {
				cover.Unknown = append(cover.Unknown, id)
			}
		}
	}
	for _, section := range c.Rules.Sections {
		sc := SectionCoverage{ID: section.ID, Title: section.Title}
		for _, rule := range section.Rules {
			rc := rule.coverage(shown[rule.ID], by)
			sc.Rules = append(sc.Rules, rc)
			sc.Tally.add(rule, len(rc.Scenarios))
			if rule.Expected() && len(rc.Scenarios) == 0 {
				cover.Missing = append(cover.Missing, rule.ID)
			}
		}
		cover.Total.join(sc.Tally)
		cover.Sections = append(cover.Sections, sc)
	}
	return cover
}

func (r *Rule) coverage(shown []*Scenario, results map[string][]Result) RuleCoverage {
	rc := RuleCoverage{ID: r.ID, Text: r.Text, Sources: r.Sources, Later: r.Later, Apart: r.Apart, Scenarios: []string{}, Doors: map[string]*Counts{}}
	for _, s := range shown {
		rc.Scenarios = append(rc.Scenarios, strings.TrimSuffix(s.Path, ".txt"))
		for _, res := range results[s.Path] {
			if rc.Doors[res.Door] == nil {
				rc.Doors[res.Door] = &Counts{}
			}
			rc.Doors[res.Door].add(res.Verdict)
		}
	}
	return rc
}

func (t *Tally) add(r *Rule, scenarios int) {
	t.Rules++
	switch {
	case scenarios > 0:
		t.Shown++
	case r.Later != "":
		t.Later++
	case r.Apart != "":
		t.Apart++
	default:
		t.Missing++
	}
}

func (t *Tally) join(o Tally) {
	t.Rules += o.Rules
	t.Shown += o.Shown
	t.Missing += o.Missing
	t.Later += o.Later
	t.Apart += o.Apart
}

func (t Tally) String() string {
	return fmt.Sprintf("%d rules: %d with a scenario, %d without, %d later, %d apart", t.Rules, t.Shown, t.Missing, t.Later, t.Apart)
}

// Complete reports whether every rule that could have a scenario has one and every
// scenario shows rules that there are.
func (c Coverage) Complete() bool { return len(c.Missing) == 0 && len(c.Unknown) == 0 }

// Print writes the coverage rule by rule, with how many of its scenarios passed at each
// door, and at the end what has no scenario:
//
//	objects/4.2 Value visibility and ordering
//
//	  objects/4.2-7  A wait is satisfied by its value and by any greater one.
//	      documented page of D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU
//	      inproc 2, socket 2, c 2: wait/greater wait/reached
//	  …
//	  28 rules: 19 with a scenario, 0 without, 9 later, 0 apart
func (c Coverage) Print(w io.Writer, doors []Door) error {
	p := printer{w: w}
	var missing []string
	for _, s := range c.Sections {
		p.line("%s %s\n", s.ID, s.Title)
		for _, r := range s.Rules {
			p.line("  %s  %s", r.ID, r.Text)
			for _, source := range r.Sources {
				p.line("      %s %s", source.Provenance, source.Text)
			}
			p.line("      %s", r.shown(doors))
			if slices.Contains(c.Missing, r.ID) {
				missing = append(missing, r.ID+"  "+r.Text)
			}
		}
		p.line("  %s\n", s.Tally)
	}
	p.list("Rules without a scenario", missing)
	p.list("Rules that scenarios name and nobody lists", c.Unknown)
	p.line("%s", c.Total)
	return p.err
}

// shown says which scenarios show a rule, or why none does.
func (r RuleCoverage) shown(doors []Door) string {
	switch {
	case len(r.Scenarios) > 0:
		var passed []string
		for _, d := range doors {
			passed = append(passed, fmt.Sprintf("%s %s", d.Name(), r.Doors[d.Name()]))
		}
		text := strings.Join(r.Scenarios, " ")
		if len(passed) > 0 {
			text = strings.Join(passed, ", ") + ": " + text
		}
		return text
	case r.Later != "":
		return "later: " + r.Later
	case r.Apart != "":
		return "apart: " + r.Apart
	}
	return "no scenario"
}

// A printer keeps the first error of many lines.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
}

func (p *printer) list(title string, names []string) {
	if len(names) == 0 {
		return
	}
	p.line("%s:", title)
	for _, n := range names {
		p.line("  %s", n)
	}
	p.line("")
}
