package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/spf13/cobra"
)

func init() { register(logCommand) }

type logFlags struct {
	lsFlags
	follow  bool
	entries uint32
}

func logCommand() *cobra.Command {
	var f logFlags
	cmd := &cobra.Command{
		Use:   "log [pid:N|pid:N/0xHANDLE]",
		Short: "Show who signalled native fences, and who was unblocked",
		Long: `Of hardware queues that programs fill by themselves the kernel sees neither signals nor
waits: the GPU does them alone, and logs them. This shows what it logged, for a hardware
queue (dxgsync ls queues), for all of a process or for all, in the order in which it
happened; of what has the same time, signals come first.

  TIME     when, in seconds of the CPU's clock (CLOCK_MONOTONIC), to the nanosecond
  PROCESS  whose queue it was
  QUEUE    the hardware queue
  WHAT     signal: a value was stored; unblocked: a wait has ended
  FENCE    number of the object (dxgsync ls natives); its handle if the process has
           destroyed it
  VALUE    that was stored, or waited for
  WAITED   how long the wait took
  TICKS    when, on the clock of the GPU

The kernel keeps the last 1,024 events of each queue. It reads logs when the GPU
interrupts, and when somebody asks. A log has 84 entries; what was written over before
anybody read it is lost, and counted. --entries makes logs larger, for as long as their
queues live; only root and the user who runs the kernel may do that.

Without --socket or --pid it looks for the kernel as dxgsync ls does; if there are
several, it must be one of them that has the process.`,
		Example: `  dxgsync log pid:4711
  dxgsync log pid:4711/0x40000100 --follow --entries 1000`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return errors.New("name one queue, as pid:N/0xHANDLE, or one process, as pid:N")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := parseLogTarget(args)
			if err != nil {
				return err
			}
			return showLog(cmd.OutOrStdout(), cmd.ErrOrStderr(), t, f)
		},
	}
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "go on until the kernel ends, with what comes")
	cmd.Flags().Uint32Var(&f.entries, "entries", 0, "make each log large enough for so many entries")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON; with --follow one document for each time there was something")
	cmd.Flags().StringVar(&f.socket, "socket", "", "address of the kernel: a path, or @name")
	cmd.Flags().IntVar(&f.pid, "pid", 0, "process id of the dxgsync run whose kernel it is")
	cmd.MarkFlagsMutuallyExclusive("socket", "pid")
	return cmd
}

// parseLogTarget reads what a log is of: nothing means everything.
func parseLogTarget(args []string) (target, error) {
	if len(args) == 0 {
		return target{what: "logs", adapter: -1}, nil
	}
	t, err := parseTarget(args[0])
	if err != nil || t.PID == 0 {
		return t, fmt.Errorf("target %q: want pid:N or pid:N/0xHANDLE", args[0])
	}
	return t, nil
}

// showLog finds the kernel and prints what its logs say.
func showLog(w, messages io.Writer, t target, f logFlags) error {
	found, err := t.find(f.lsFlags)
	if err != nil {
		return err
	}
	if err := t.checkLog(found); err != nil {
		return err
	}
	q := abi.FenceLog{PID: t.PID, Handle: t.Handle, Entries: f.entries}
	for first := true; ; first = false {
		report, err := fetchReport[kernel.FenceLogReport](found.place.Address, abi.OpFenceLog, q)
		switch {
		case !first && (errors.Is(err, errNobody) || errors.Is(err, errGone)):
			return nil // it has ended
		case !first && errors.Is(err, abi.StatusInvalidParameter):
			fmt.Fprintf(messages, "%s has ended\n", t)
			return nil
		case err != nil:
			return t.explainLog(found, err)
		case f.json && (first || len(report.Events) > 0):
			err = printJSON(w, struct {
				place
				kernel.FenceLogReport
			}{found.place, report})
		case !f.json:
			err = printLog(w, messages, report, first)
		}
		if err != nil || !f.follow {
			return err
		}
		q.After, q.Entries = report.Last, 0
		time.Sleep(followInterval)
	}
}

// followInterval is how often --follow looks.
const followInterval = 100 * time.Millisecond

// checkLog says beforehand why the kernel would refuse.
func (t target) checkLog(k foundKernel) error {
	if t.PID == 0 {
		return nil
	}
	if !slices.ContainsFunc(k.Processes, t.isProcess) {
		return fmt.Errorf("the kernel at %s has no process %d; dxgsync ls processes shows those it has", k.place.Address, t.PID)
	}
	if t.Handle == 0 {
		return nil
	}
	var have []string
	for _, q := range k.Queues {
		if q.PID != int(t.PID) {
			continue
		}
		if q.Handle == t.Handle && !q.Log {
			return fmt.Errorf("%s is a %s that the kernel fills, so it knows what happens there and the GPU keeps no log; dxgsync ls queues shows what it waits for", t, q.Kind)
		}
		if q.Handle == t.Handle {
			return nil
		}
		if q.Log {
			have = append(have, q.Handle.String())
		}
	}
	if len(have) == 0 {
		return fmt.Errorf("process %d has no hardware queue %v, and none that it fills by itself", t.PID, t.Handle)
	}
	return fmt.Errorf("process %d has no hardware queue %v; those with logs are %s", t.PID, t.Handle, strings.Join(have, ", "))
}

// explainLog says what a refusal of the kernel means, and what to do.
func (t target) explainLog(k foundKernel, err error) error {
	advice := ""
	switch {
	case errors.Is(err, abi.StatusAccessDenied):
		advice = "only root and the user who runs the kernel may make logs larger; leave --entries away"
	case errors.Is(err, abi.StatusNoMemory):
		advice = "there is no room for so much; try fewer --entries"
	case errors.Is(err, abi.StatusInvalidParameter):
		advice = "it has just ended"
	default:
		return err
	}
	return fmt.Errorf("log of %s at %s: %w: %s", t, k.place.Address, err, advice)
}

// printLog prints events, and the first time titles and what is missing. Columns do not
// depend on what is in them, as more may come.
func printLog(w, messages io.Writer, r kernel.FenceLogReport, first bool) error {
	const line = "%-20s %-10v %-11v %-10s %-11s %-20s %-9s %v\n"
	if first {
		if len(r.Queues) == 0 {
			fmt.Fprintln(messages, "no hardware queue there is filled by its program, so no GPU keeps a log; dxgsync ls queues shows what queues wait for")
		}
		for _, q := range r.Queues {
			if q.Lost > 0 {
				fmt.Fprintf(messages, "%d events of %v of process %d were written over before anybody read them; --entries makes its logs larger\n", q.Lost, q.Queue, q.PID)
			}
			if q.Wrong > 0 {
				fmt.Fprintf(messages, "the log of %v of process %d had %d times what no GPU writes; the program writes there itself\n", q.Queue, q.PID, q.Wrong)
			}
		}
		fmt.Fprintf(w, line, "TIME", "PROCESS", "QUEUE", "WHAT", "FENCE", "VALUE", "WAITED", "TICKS")
	}
	var err error
	for _, e := range r.Events {
		when, waited, what, fence := "-", "-", "unblocked", fmt.Sprintf("#%d", e.Object)
		if e.Time != 0 {
			when = fmt.Sprintf("%d.%09d", e.Time/1e9, e.Time%1e9)
		}
		if e.Waited != 0 {
			waited = age(e.Waited)
		}
		if e.Operation == abi.NativeFenceLogSignalExecuted.String() {
			what = "signal"
		}
		if e.Object == 0 {
			fence = e.Fence.String()
		}
		_, err = fmt.Fprintf(w, line, when, e.PID, e.Queue, what, fence, value(e.Value), waited, e.End)
	}
	return err
}
