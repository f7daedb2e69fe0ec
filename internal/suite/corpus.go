package suite

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/dxgsync/dxgsync/conformance"
)

// A Corpus is a set of scenarios with what they share.
type Corpus struct {
	Table     *Table
	Given     map[string]*Scenario // common beginnings by name
	Scenarios []*Scenario          // in path order
	Rules     *Rules               // what the scenarios show

	patience time.Duration
}

// Embedded reads the corpus that is part of the program.
func Embedded() (*Corpus, error) { return Load(conformance.Files) }

// Load reads a corpus: every FOLDER/NAME.txt. The common beginnings are those of
// given/, and the embedded ones that it does not have; the rules are its own or, if it
// has none, the embedded ones. The error joins everything that is wrong with the files.
func Load(files fs.FS) (*Corpus, error) {
	c := &Corpus{Table: DefaultTable(), Given: map[string]*Scenario{}, patience: defaultPatience}
	if err := c.given(conformance.Files); err != nil {
		return nil, err
	}
	if err := c.given(files); err != nil {
		return nil, err
	}
	var err error
	if c.Rules, err = readRules(files); err != nil {
		return nil, err
	}
	var bad []error
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".txt" || notScenarios[name] || path.Dir(name) == conformance.Given {
			return err
		}
		s, err := c.read(files, name)
		if err != nil {
			bad = append(bad, err)
			return nil
		}
		c.Scenarios = append(c.Scenarios, s)
		return nil
	})
	return c, errors.Join(append(bad, err)...)
}

// notScenarios are the texts beside the scenarios.
var notScenarios = map[string]bool{conformance.Calls: true, conformance.Rules: true, "flags.tsv": true, "packets.tsv": true}

func (c *Corpus) given(files fs.FS) error {
	names, err := fs.Glob(files, conformance.Given+"/*.txt")
	for _, name := range names {
		s, e := c.read(files, name)
		if err = errors.Join(err, e); e == nil {
			c.Given[strings.TrimSuffix(path.Base(name), ".txt")] = s
		}
	}
	return err
}

func (c *Corpus) read(files fs.FS, name string) (*Scenario, error) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	s, err := Parse(name, string(text))
	if err != nil {
		return nil, err
	}
	return s, c.check(s)
}

// check finds what would stop a scenario at any door: unknown commands and fields.
func (c *Corpus) check(s *Scenario) error {
	for _, step := range s.Steps {
		call := c.Table.Call(step.Verb)
		world := worldVerbs[step.Verb]
		if step.Process != "" {
			world = nil
		}
		if call == nil && verbs[step.Verb] == nil && world == nil {
			return fmt.Errorf("%s:%d: %s is no call and no command", s.Path, step.Line, step.Verb)
		}
		if world != nil {
			if _, err := world(s, step.Args); err != nil {
				return fmt.Errorf("%s:%d: %w", s.Path, step.Line, err)
			}
		}
		for _, a := range step.Args {
			if call != nil && a.Name != "" && a.Name != "fill" && call.Field(a.Name) == nil && call.inline(a.Name) == nil {
				return fmt.Errorf("%s:%d: %s has no field %s", s.Path, step.Line, call.Name, a.Name)
			}
		}
	}
	return nil
}

// Select returns the scenarios whose path begins with one of the prefixes, all of
// them for none. A prefix that fits nothing is an error.
func (c *Corpus) Select(prefixes []string) ([]*Scenario, error) {
	if len(prefixes) == 0 {
		return c.Scenarios, nil
	}
	used := make([]bool, len(prefixes))
	var some []*Scenario
	for _, s := range c.Scenarios {
		for i, p := range prefixes {
			p = strings.TrimPrefix(path.Clean(p), "conformance/")
			if s.Path == p || s.Path == p+".txt" || strings.HasPrefix(s.Path, p+"/") {
				used[i] = true
				some = append(some, s)
				break
			}
		}
	}
	for i, ok := range used {
		if !ok {
			return nil, fmt.Errorf("no scenario fits %q", prefixes[i])
		}
	}
	return some, nil
}
