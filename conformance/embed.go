// Package conformance is the corpus: one text file per behaviour, with where the
// behaviour is known from, the rules that they show, and the table of calls that they use.
// The files are embedded so that an installed program can run them. What they mean
// is written in docs/conformance-format.md; package suite runs them.
package conformance

import "embed"

// Files holds the scenarios (FAMILY/NAME.txt), the common beginnings
// (given/NAME.txt), the rules (rules.txt) and the table of calls and names (calls.txt).
//
//go:embed calls.txt rules.txt */*.txt
var Files embed.FS

// Calls and Rules are the paths of the table of calls and of the rules in Files; Given
// is the folder of the common beginnings.
const (
	Calls = "calls.txt"
	Rules = "rules.txt"
	Given = "given"
)
