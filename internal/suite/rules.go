package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/dxgsync/dxgsync/conformance"
)

// Rules are the rules that scenarios show, as rules.txt lists them.
// docs/conformance-format.md describes the file.
type Rules struct {
	Sections []*Section
	byID     map[string]*Rule
}

// A Section is a group of rules.
type Section struct {
	ID    string // "objects/4.2"
	Title string
	Rules []*Rule // in the order of the file
}

// A Rule is one behaviour that somebody can rely on.
type Rule struct {
	ID      string // that of its section, "-" and a word: "objects/4.2-7"
	Text    string // a sentence
	Sources []Source

	// At most one of these is set, and then no scenario shows the rule.
	Todo  bool   // nobody has written the scenario yet
	Later string // what it needs that is not there yet, one of Laters
	Apart string // why no scenario can show it, or the test that does
}

// Laters are the parts that rules may be waiting for.
var Laters = []string{"gpu", "tdr", "native"}

// Rule returns the rule of that name or nil.
func (r *Rules) Rule(id string) *Rule { return r.byID[id] }

// marked reports whether the rule says that it has no scenario.
func (r *Rule) marked() bool { return r.Todo || r.Later != "" || r.Apart != "" }

// Expected reports whether a scenario could show the rule today.
func (r *Rule) Expected() bool { return r.Later == "" && r.Apart == "" }

// readRules reads the rules of a corpus; one without any has the embedded ones.
func readRules(files fs.FS) (*Rules, error) {
	text, err := fs.ReadFile(files, conformance.Rules)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = fs.ReadFile(conformance.Files, conformance.Rules)
	}
	if err != nil {
		return nil, err
	}
	return ParseRules(conformance.Rules, string(text))
}

// ParseRules reads a list of rules. The error names path, line and what is wrong there.
func ParseRules(path, text string) (*Rules, error) {
	r := &Rules{byID: map[string]*Rule{}}
	var rule *Rule
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, " \t\r\n")
		var err error
		switch {
		case line == "" || line[0] == '#':
			continue
		case line[0] == ' ' || line[0] == '\t':
			err = rule.add(strings.Join(strings.Fields(line), " "))
		default:
			if err = rule.complete(); err == nil {
				rule, err = r.begin(line)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	if err := rule.complete(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", path, n, err)
	}
	return r, nil
}

// begin reads a line in the first column: a section, after which there is no rule, or
// the name of the next rule.
func (r *Rules) begin(line string) (*Rule, error) {
	if rest, ok := strings.CutPrefix(line, "section "); ok {
		id, title, ok := strings.Cut(strings.TrimSpace(rest), " ")
		if !ok {
			return nil, fmt.Errorf("%q is not section ID TITLE", line)
		}
		for _, s := range r.Sections {
			if s.ID == id {
				return nil, fmt.Errorf("second section %s", id)
			}
		}
		r.Sections = append(r.Sections, &Section{ID: id, Title: strings.TrimSpace(title)})
		return nil, nil
	}
	if strings.ContainsAny(line, " \t;") {
		return nil, fmt.Errorf("%q is no name of a rule", line)
	}
	if len(r.Sections) == 0 {
		return nil, fmt.Errorf("rule %s is in no section", line)
	}
	s := r.Sections[len(r.Sections)-1]
	if !strings.HasPrefix(line, s.ID+"-") || len(line) == len(s.ID)+1 {
		return nil, fmt.Errorf("rule %s is not named after its section %s", line, s.ID)
	}
	if r.byID[line] != nil {
		return nil, fmt.Errorf("second rule %s", line)
	}
	rule := &Rule{ID: line}
	s.Rules = append(s.Rules, rule)
	r.byID[line] = rule
	return rule, nil
}

// add reads an indented line. A nil rule has none.
func (r *Rule) add(line string) error {
	if r == nil {
		return fmt.Errorf("%q belongs to no rule", line)
	}
	key, value, ok := strings.Cut(line, ": ")
	mark := r.marked()
	switch {
	case line == "todo":
		r.Todo = true
	case ok && key == "source":
		source, err := parseSource(value)
		r.Sources = append(r.Sources, source)
		return err
	case ok && key == "later":
		for _, l := range Laters {
			if l == value {
				r.Later = l
			}
		}
		if r.Later == "" {
			return fmt.Errorf("later: %s is none of %s", value, strings.Join(Laters, ", "))
		}
	case ok && key == "apart":
		r.Apart = value
	default:
		r.Text = strings.TrimSpace(r.Text + " " + line)
		return nil
	}
	if mark {
		return fmt.Errorf("%s has two marks", r.ID)
	}
	return nil
}

// complete checks what every rule must have. A nil rule is complete.
func (r *Rule) complete() error {
	switch {
	case r == nil:
		return nil
	case r.Text == "":
		return fmt.Errorf("%s has no sentence", r.ID)
	case len(r.Sources) == 0:
		return fmt.Errorf("%s has no source: line", r.ID)
	}
	return nil
}
