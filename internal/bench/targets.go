package bench

import (
	_ "embed"
	"strconv"
	"strings"
)

//go:embed targets.tsv
var targetTable string

// A Target says how close a measurement must come to a reference.
type Target struct {
	Operation string
	Metric    string  // ours, "P.…"
	Reference string  // a floor ("A…", "B…"), or a peer ("C.…")
	Max       float64 // largest ratio of metric to reference
	Why       string
}

// Targets are the rows of targets.tsv.
func Targets() []Target {
	var all []Target
	for line := range strings.Lines(targetTable) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) != 5 || strings.HasPrefix(f[0], "#") {
			continue
		}
		ratio, err := strconv.ParseFloat(f[3], 64)
		if err != nil {
			panic("bench: targets.tsv: " + err.Error())
		}
		all = append(all, Target{f[0], f[1], f[2], ratio, f[4]})
	}
	return all
}
