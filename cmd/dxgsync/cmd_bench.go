package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/dxgsync/dxgsync/internal/bench"
)

func init() {
	register(benchCommand)
	register(benchSideCommand)
}

// benchCommand makes the measurements.
func benchCommand() *cobra.Command {
	var o bench.Options
	var tsv, asJSON bool
	cmd := &cobra.Command{
		Use:   "bench [METRIC]",
		Short: "Measure dxgsync against what this machine allows",
		Long: `Bench measures signals, waits, creation, sharing and memory, interleaved with the floors of this
machine (compare-and-swap, futexes, sockets, channels), and prints each with its ratio to the floor and the target.
METRIC limits it to metrics whose name contains it.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.Match = args[0]
			}
			if o.Rounds < 1 {
				return errors.New("--rounds: want a number above 0")
			}
			if o.Floors == "" {
				o.Floors = beside("libexec", "floors")
			}
			if o.CBench == "" {
				o.CBench = beside("libexec", "library-bench")
			}
			if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
				o.Progress = func(step, steps int, name string) {
					fmt.Fprintf(os.Stderr, "\r\x1b[K%d/%d %s", step, steps, name)
				}
				defer fmt.Fprint(os.Stderr, "\r\x1b[K")
			}
			r, err := bench.Run(o)
			if err != nil {
				return err
			}
			if o.Progress != nil {
				fmt.Fprint(os.Stderr, "\r\x1b[K")
			}
			switch {
			case tsv:
				return r.WriteTSV(cmd.OutOrStdout())
			case asJSON:
				return json.NewEncoder(cmd.OutOrStdout()).Encode(r.Rows())
			}
			return r.WriteTable(cmd.OutOrStdout())
		},
	}
	cmd.Flags().IntVar(&o.Rounds, "rounds", 7, "interleaved rounds; medians are taken over them")
	cmd.Flags().StringVar(&o.Floors, "floors", "", "the program built from bench/floors.c (default: libexec/floors beside this program)")
	cmd.Flags().StringVar(&o.CBench, "library", "", "the program built from bench/library.c (default: libexec/library-bench, if it is there)")
	cmd.Flags().BoolVar(&tsv, "tsv", false, "print metric, value and unit, one a line")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the table as JSON")
	return cmd
}

// benchSideCommand is what a measuring process runs.
func benchSideCommand() *cobra.Command {
	return &cobra.Command{
		Use: "bench-side", Hidden: true, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error { return bench.Side(args) },
	}
}

// beside returns a file of the installation that this program is part of, "" when
// it is not there.
func beside(dir, name string) string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	path := filepath.Join(filepath.Dir(self), "..", dir, name)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}
