package main

import (
	"fmt"
	"strings"

	"github.com/dxgsync/dxgsync/internal/vidsch"
	"github.com/spf13/cobra"
)

// gpuFlags are how GPUs are watched and what their paging queues begin with.
type gpuFlags struct {
	settings []string
	paging   uint64
}

func (f *gpuFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.settings, "tdr", nil, "setting of timeout detection and recovery, NAME=VALUE as in the registry; may be repeated")
	cmd.Flags().Uint64Var(&f.paging, "first-paging-value", 0, "what the fence of a new paging queue shows, above 0 (default 7000)")
}

// into puts them into a configuration. The error says which is wrong and what is allowed.
func (f *gpuFlags) into(cmd *cobra.Command, cfg *kernelConfig) (err error) {
	if cfg.tdr, err = vidsch.ParseTDR(f.settings...); err != nil {
		return fmt.Errorf("--tdr: %w", err)
	}
	if f.paging == 0 && cmd.Flags().Changed("first-paging-value") {
		return fmt.Errorf("--first-paging-value 0: want a number above 0")
	}
	cfg.paging = f.paging
	return nil
}

// tdrHelp is for the help of run and serve.
func tdrHelp() string {
	return `Engines are watched as Windows watches them; --tdr NAME=VALUE sets what the registry
sets there: ` + strings.Join(vidsch.TDRNames(), ", ") + `.
Times are seconds, or durations such as 200ms. docs/losses.md has meanings and defaults.`
}
