// Package conformance is the corpus: one text file per behaviour, with where the
// behaviour is known from, and the tables that the files are written against.
// The files are embedded so that an installed program can run them. What they mean
// is written in docs/conformance.md; package suite runs them.
package conformance

import "embed"

// Files holds the scenarios (FAMILY/NAME.txt), the common beginnings
// (given/NAME.txt) and the table of calls and names (calls.txt).
//
//go:embed calls.txt */*.txt
var Files embed.FS

// Calls is the path of the table of calls in Files; Given is the folder of the
// common beginnings.
const (
	Calls = "calls.txt"
	Given = "given"
)
