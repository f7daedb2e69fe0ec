package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/dxgsync/dxgsync/internal/suite"
	"github.com/spf13/cobra"
)

func init() { register(conformCommand) }

type conformFlags struct {
	doors  []string
	corpus string
	driver string
	json   bool
	list   bool
	report bool
	strict bool
}

func conformCommand() *cobra.Command {
	var f conformFlags
	cmd := &cobra.Command{
		Use:   "conform [PATH…]",
		Short: "Run the conformance scenarios",
		Long: `Runs the conformance corpus: small scenarios, one behaviour each, every one with
where the behaviour is known from. A PATH is a folder of the corpus or one scenario,
"signal" or "signal/rewind"; without one everything runs.

Doors are inproc (the kernel itself), socket (a daemon and its client) and c (a
driver program linked with the C library). Without --door every door that is
available runs. The driver of the C door is dxgdrive beside this command or in $PATH,
or what --driver names: any program that speaks its protocol, so that other
implementations can be judged by the same scenarios.

With --report it says rule by rule which scenarios show the rule, how many of them
passed at each door, and which rules have none. With --list as well nothing is run.

The exit status is 1 when a scenario failed, and with --strict also when a rule that
a scenario could show has none.`,
		Example: `  dxgsync conform
  dxgsync conform --door c wait destroy/wait-all
  dxgsync conform --report --door c --driver ./my-driver
  dxgsync conform --list --json | jq '.[] | select(.sources[0].provenance == "choice")'`,
		RunE: func(cmd *cobra.Command, args []string) error { return conform(cmd, args, f) },
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.doors, "door", nil, "run only at this door: inproc, socket or c (may be given again)")
	flags.StringVar(&f.corpus, "corpus", "", "read the scenarios from this folder, not the built-in ones")
	flags.StringVar(&f.driver, "driver", "", "driver program of the C door")
	flags.BoolVar(&f.json, "json", false, "print JSON")
	flags.BoolVar(&f.list, "list", false, "list the scenarios with their sources and run nothing")
	flags.BoolVar(&f.report, "report", false, "report which rules the scenarios show and which have none")
	flags.BoolVar(&f.strict, "strict", false, "with --report: fail when a rule has no scenario that could have one")
	return cmd
}

func conform(cmd *cobra.Command, args []string, f conformFlags) error {
	corpus, err := suite.Embedded()
	if f.corpus != "" {
		corpus, err = suite.Load(os.DirFS(f.corpus))
	}
	if err != nil {
		return fmt.Errorf("read corpus %s: %w", f.corpus, err)
	}
	if f.report && len(args) > 0 {
		return errors.New("--report is about the whole corpus: give no PATH")
	}
	if f.strict && !f.report {
		return errors.New("--strict goes with --report")
	}
	some, err := corpus.Select(args)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if f.list && !f.report {
		return listScenarios(out, some, f.json)
	}
	var doors []suite.Door
	if !f.list {
		if doors, err = chooseDoors(cmd.ErrOrStderr(), f); err != nil {
			return err
		}
	}
	results := corpus.RunAll(some, doors)
	summary := suite.Summarize(some, results)
	if f.report {
		return reportCoverage(cmd, corpus, doors, results, f)
	}
	if f.json {
		err = printJSON(out, struct {
			Summary suite.Summary  `json:"summary"`
			Results []suite.Result `json:"results"`
		}{summary, results})
	} else {
		err = suite.Print(out, some, doors, results)
	}
	if err == nil && summary.Failed() {
		err = exitStatus(1)
	}
	return err
}

// reportCoverage prints which rules the results show. What failed goes to the errors.
func reportCoverage(cmd *cobra.Command, corpus *suite.Corpus, doors []suite.Door, results []suite.Result, f conformFlags) error {
	cover := corpus.Coverage(results)
	err := suite.PrintFailures(cmd.ErrOrStderr(), results)
	switch {
	case err != nil:
	case f.json:
		err = printJSON(cmd.OutOrStdout(), cover)
	default:
		err = cover.Print(cmd.OutOrStdout(), doors)
	}
	failed := suite.Summarize(corpus.Scenarios, results).Failed()
	if err == nil && (failed || f.strict && !cover.Complete()) {
		err = exitStatus(1)
	}
	return err
}

// chooseDoors makes the doors that were asked for; without wishes those there are,
// and says which is missing.
func chooseDoors(notes io.Writer, f conformFlags) ([]suite.Door, error) {
	all := len(f.doors) == 0
	names := f.doors
	if all {
		names = []string{"inproc", "socket", "c"}
	}
	var doors []suite.Door
	for _, name := range names {
		switch name {
		case "inproc":
			doors = append(doors, suite.InProcess{})
		case "socket":
			doors = append(doors, suite.Socket{})
		case "c":
			driver, err := f.driver, error(nil)
			if driver == "" {
				driver, err = suite.FindDriver()
			} else if _, e := os.Stat(driver); errors.Is(e, fs.ErrNotExist) {
				err = e
			}
			if err != nil && (!all || f.driver != "") {
				return nil, fmt.Errorf("door c: %w", err)
			}
			if err != nil {
				fmt.Fprintf(notes, "door c is left out: %v\n", err)
				continue
			}
			doors = append(doors, suite.C{Driver: driver})
		default:
			return nil, fmt.Errorf("door %q is none of inproc, socket, c", name)
		}
	}
	return doors, nil
}

// scenarioEntry is a scenario in the JSON of --list.
type scenarioEntry struct {
	Path    string         `json:"path"`
	Title   string         `json:"title"`
	Rules   []string       `json:"rules"`
	Sources []suite.Source `json:"sources"`
	Doors   []string       `json:"doors,omitempty"`
}

func listScenarios(w io.Writer, some []*suite.Scenario, asJSON bool) error {
	if !asJSON {
		t := newTable(w, "SCENARIO", "PROVENANCE", "TITLE")
		for _, s := range some {
			t.row(strings.TrimSuffix(s.Path, ".txt"), s.Provenance(), s.Title)
		}
		return t.flush()
	}
	entries := []scenarioEntry{}
	for _, s := range some {
		entries = append(entries, scenarioEntry{s.Path, s.Title, s.Rules, s.Sources, s.Doors})
	}
	return printJSON(w, entries)
}
