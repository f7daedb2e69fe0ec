package suite

import (
	"fmt"
	"io"
	"runtime"
	"sync"
	"text/tabwriter"
)

// RunAll runs scenarios at doors, several at a time, and returns the results in the
// order of the scenarios and, for each, of the doors.
func (c *Corpus) RunAll(scenarios []*Scenario, doors []Door) []Result {
	results := make([]Result, len(scenarios)*len(doors))
	jobs := make(chan int)
	var work sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		work.Go(func() {
			for i := range jobs {
				results[i] = c.Run(scenarios[i/len(doors)], doors[i%len(doors)])
			}
		})
	}
	for i := range results {
		jobs <- i
	}
	close(jobs)
	work.Wait()
	return results
}

// A Summary counts results.
type Summary struct {
	Scenarios int                `json:"scenarios"`
	Doors     map[string]*Counts `json:"doors"`
	// Provenance counts scenarios by their first source.
	Provenance map[Provenance]int `json:"provenance"`
}

// Counts are the verdicts at one door.
type Counts struct {
	Pass int `json:"pass"`
	Fail int `json:"fail"`
	Skip int `json:"skip"`
}

func (n *Counts) add(v Verdict) {
	switch v {
	case Passed:
		n.Pass++
	case Failed:
		n.Fail++
	case Skipped:
		n.Skip++
	}
}

func (n *Counts) String() string {
	text := fmt.Sprint(n.Pass)
	if n.Fail > 0 {
		text += fmt.Sprintf(", %d failed", n.Fail)
	}
	return text
}

// Summarize counts the results of scenarios.
func Summarize(scenarios []*Scenario, results []Result) Summary {
	s := Summary{Scenarios: len(scenarios), Doors: map[string]*Counts{}, Provenance: map[Provenance]int{}}
	for _, x := range scenarios {
		s.Provenance[x.Provenance()]++
	}
	for _, r := range results {
		if s.Doors[r.Door] == nil {
			s.Doors[r.Door] = &Counts{}
		}
		s.Doors[r.Door].add(r.Verdict)
	}
	return s
}

// Failed reports whether anything failed.
func (s Summary) Failed() bool {
	for _, n := range s.Doors {
		if n.Fail > 0 {
			return true
		}
	}
	return false
}

// PrintFailures writes what was wanted and what was seen where they differ.
func PrintFailures(w io.Writer, results []Result) error {
	for _, r := range results {
		if r.Verdict == Failed {
			if _, err := fmt.Fprintf(w, "FAIL at %s\n%s\n\n", r.Door, r.Detail); err != nil {
				return err
			}
		}
	}
	return nil
}

// Print writes what failed and a table of how many scenarios of each family passed
// at each door:
//
//	FAMILY    SCENARIOS  inproc  socket  c
//	adapters  29         22      22      29
//	…
//	total     283        262     262     277
//	measured 71, documented 64, guest 16, choice 132
func Print(w io.Writer, scenarios []*Scenario, doors []Door, results []Result) error {
	if err := PrintFailures(w, results); err != nil {
		return err
	}
	total := Summarize(scenarios, results)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "FAMILY\tSCENARIOS")
	for _, d := range doors {
		fmt.Fprintf(t, "\t%s", d.Name())
	}
	fmt.Fprintln(t)
	row := func(name string, s Summary) {
		fmt.Fprintf(t, "%s\t%d", name, s.Scenarios)
		for _, d := range doors {
			fmt.Fprintf(t, "\t%s", s.Doors[d.Name()])
		}
		fmt.Fprintln(t)
	}
	for first := 0; first < len(scenarios); {
		last := first
		for last < len(scenarios) && scenarios[last].Family() == scenarios[first].Family() {
			last++
		}
		row(scenarios[first].Family(), Summarize(scenarios[first:last], results[first*len(doors):last*len(doors)]))
		first = last
	}
	row("total", total)
	if err := t.Flush(); err != nil {
		return err
	}
	for i, p := range Provenances {
		if i > 0 {
			fmt.Fprint(w, ", ")
		}
		fmt.Fprintf(w, "%s %d", p, total.Provenance[p])
	}
	_, err := fmt.Fprintln(w)
	return err
}
