package suite

import (
	"fmt"
	"strings"
)

// A Scenario is one file of the corpus: one behaviour, where it is known from and
// the steps that show it. docs/conformance-format.md describes the language.
type Scenario struct {
	Path  string // inside the corpus, "signal/below-current.txt"
	Title string
	// Rules are the names of the rules in rules.txt that the scenario shows.
	Rules []string
	// Sources say where each fact comes from; the first word is the provenance.
	Sources []Source
	// Adapters are the adapters of the world, in order; none means the neutral one.
	Adapters []AdapterSpec
	// TDR are the settings of the world that are not Windows' defaults.
	TDR Settings
	// Manual says that the world has a clock that stands still until it is moved.
	Manual bool
	// Users are the processes that run as somebody else, by name.
	Users map[string]User
	// Doors are the only doors that can run it; none means all.
	Doors []string
	Steps []*Step

	lines []string // the file
}

// A Source says where a fact is known from.
type Source struct {
	Provenance Provenance `json:"provenance"`
	Text       string     `json:"text"` // who measured it, which page, which choice
}

// A Provenance is a kind of source.
type Provenance string

// The provenances, strongest first.
const (
	Measured   Provenance = "measured"   // seen on Windows
	Documented Provenance = "documented" // a page or a public header says so
	Guest      Provenance = "guest"      // Microsoft's Linux guest driver or library does so
	Choice     Provenance = "choice"     // ours, where the sources are silent or disagree
)

// Provenances lists them all.
var Provenances = []Provenance{Measured, Documented, Guest, Choice}

// An AdapterSpec asks for an adapter: a profile, changed where it says so.
type AdapterSpec struct {
	Profile string
	WDDM    uint16   // as DRIVERVERSION answers it, 3200 for 3.2; 0 as in the profile
	Type    []string // names of ADAPTERTYPE bits; nil as in the profile
	Without []string // names of features and capabilities that are taken away
	Set     string   // fields of the profile, as JSON; "" as in the profile
}

// Settings are how engines are watched, by the names that Windows has them under in its
// registry. Times are in seconds.
type Settings map[string]uint64

// settingNames are all there are.
var settingNames = []string{"TdrLevel", "TdrDelay", "TdrDdiDelay", "TdrDebugMode", "TdrLimitTime", "TdrLimitCount"}

// A User is whom a process runs as.
type User struct{ UID, GID uint32 }

// A Step is a command and the output that it must have.
type Step struct {
	Line    int    // of the command, counted from 1
	Text    string // the command
	Process string // "" for commands of the world
	Thread  string // "" for the process's main thread
	Verb    string
	Args    []Arg
	Want    string // blanks between words are one blank

	path        string // of the file that it stands in
	first, last int    // lines of the output: [first, last)
}

// An Arg is an argument, NAME=VALUE or only VALUE.
type Arg struct {
	Name  string
	Value *Value
}

// Provenance is that of the first source.
func (s *Scenario) Provenance() Provenance { return s.Sources[0].Provenance }

// Family is the folder of the file.
func (s *Scenario) Family() string {
	if i := strings.LastIndexByte(s.Path, '/'); i >= 0 {
		return s.Path[:i]
	}
	return "."
}

// Runs reports whether the door called name can run the scenario.
func (s *Scenario) Runs(name string) bool {
	for _, d := range s.Doors {
		if d == name {
			return true
		}
	}
	return len(s.Doors) == 0
}

// outputIndent is what output lines begin with when the file is rewritten.
const outputIndent = "    "

// wrapAt is where rewritten output is wrapped, in columns.
const wrapAt = 110

// Rewrite returns the file's text with got as the outputs of its steps, which must
// be in the order of Steps. Everything else stays as it is.
func (s *Scenario) Rewrite(got []string) (string, error) {
	if len(got) != len(s.Steps) {
		return "", fmt.Errorf("%s: %d outputs for %d steps", s.Path, len(got), len(s.Steps))
	}
	var b strings.Builder
	at := 0
	for i, step := range s.Steps {
		for ; at < step.first; at++ {
			b.WriteString(s.lines[at] + "\n")
		}
		for _, line := range wrap(got[i]) {
			b.WriteString(outputIndent + line + "\n")
		}
		at = step.last
	}
	for ; at < len(s.lines); at++ {
		b.WriteString(s.lines[at] + "\n")
	}
	return b.String(), nil
}

// wrap breaks an output between words.
func wrap(text string) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(outputIndent)+len(line)+1+len(word) > wrapAt {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
