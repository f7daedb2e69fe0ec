package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/spf13/cobra"
)

func init() { register(faultCommand) }

type faultFlags struct {
	lsFlags
	engine  string
	address string
	state   string
}

// faultKinds are what fault can do, by name.
var faultKinds = map[string]abi.FaultKind{
	abi.FaultHang.String(): abi.FaultHang, abi.FaultPage.String(): abi.FaultPage,
	abi.FaultReset.String(): abi.FaultReset, abi.FaultRemove.String(): abi.FaultRemove,
	abi.FaultPower.String(): abi.FaultPower,
}

func faultCommand() *cobra.Command {
	var f faultFlags
	cmd := &cobra.Command{
		Use:   "fault hang|page-fault|reset|remove|power TARGET",
		Short: "Break something on purpose",
		Long: `Provokes what happens to programs when a GPU fails, to test how they recover.

TARGET is an adapter, by its number or LUID (dxgsync ls adapters); a process, as pid:N;
or a device, context or hardware queue of one, as pid:N/0xHANDLE (dxgsync ls queues).

  hang        An engine does nothing and answers nothing until it is reset, TdrDelay
              after it was to stop. Of an adapter all engines, or --engine; for a process
              or queue, the engine where its running packet is, or else its next one.
  page-fault  The packet that runs, or the next one, touches --address, which counts as
              not mapped. Its device is ERROR_DMAPAGEFAULT.
  reset       Of an adapter: it is reset at once, and every device on it is RESET. Such
              resets do not count for TdrLimitCount. Otherwise: the devices are HUNG, as
              after MarkDeviceAsError.
  remove      The adapter is removed, and every device on it is STOPPED. It does not come
              back before the kernel starts again.
  power       The adapter goes to the power state --state: D3, where nothing runs and all
              doorbells are disconnected, or back to D0. Connecting a doorbell does that too.

Without --socket or --pid it looks for the kernel as dxgsync ls does; if there are
several, it must be one of them that has the process. Only root and the user who runs
the kernel may do this.`,
		Example: `  dxgsync fault hang pid:4711
  dxgsync fault page-fault pid:4711/0x40000080 --address 0xdead0000
  dxgsync fault reset 0
  dxgsync fault power 0 --state D3`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 || faultKinds[args[0]] == 0 {
				return errors.New("name what to do and to what: dxgsync fault hang|page-fault|reset|remove|power ADAPTER|pid:N|pid:N/0xHANDLE")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return provoke(cmd.OutOrStdout(), faultKinds[args[0]], args[1], f)
		},
	}
	cmd.Flags().StringVar(&f.engine, "engine", "", "only this engine of the adapter, NODE or NODE.ENGINE (default all)")
	cmd.Flags().StringVar(&f.address, "address", "", "GPU virtual address that page-fault touches (default 0)")
	cmd.Flags().StringVar(&f.state, "state", "", "power state for power: D3 or D0")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.Flags().StringVar(&f.socket, "socket", "", "address of the kernel: a path, or @name")
	cmd.Flags().IntVar(&f.pid, "pid", 0, "process id of the dxgsync run whose kernel it is")
	cmd.MarkFlagsMutuallyExclusive("socket", "pid")
	return cmd
}

// provoke finds the target, breaks it and says what was done.
func provoke(w io.Writer, kind abi.FaultKind, text string, f faultFlags) error {
	t, err := parseTarget(text)
	if err != nil {
		return err
	}
	t.Kind = kind
	if err := f.into(&t.ProvokeFault); err != nil {
		return err
	}
	found, err := t.find(f.lsFlags)
	if err != nil {
		return err
	}
	if err := t.check(found); err != nil {
		return err
	}
	report, err := fetchReport[kernel.FaultReport](found.place.Address, abi.OpProvokeFault, t.ProvokeFault)
	if err != nil {
		return t.explain(found, err)
	}
	if f.json {
		return printJSON(w, struct {
			place
			kernel.FaultReport
		}{found.place, report})
	}
	return printFault(w, t, report)
}

// into puts --engine and --address into a request that has its kind.
func (f *faultFlags) into(r *abi.ProvokeFault) (err error) {
	breaks := r.Kind == abi.FaultHang || r.Kind == abi.FaultPage
	r.Node = abi.FaultEveryNode
	if f.engine != "" {
		if !breaks || r.PID != 0 {
			return errors.New("--engine is for hang and page-fault of an adapter; a process or queue has its engine")
		}
		if r.Node, r.Engine, err = parseEngine(f.engine); err != nil {
			return err
		}
	}
	if (f.state != "") != (r.Kind == abi.FaultPower) {
		return errors.New("--state is for power, which needs it: D3 or D0")
	}
	switch f.state {
	case "", abi.PowerD0.String():
	case abi.PowerD3.String():
		r.State = abi.PowerD3
	default:
		return fmt.Errorf("--state %s: want D3 or D0", f.state)
	}
	if f.address != "" {
		if r.Kind != abi.FaultPage {
			return errors.New("--address is for page-fault")
		}
		if r.Address, err = strconv.ParseUint(f.address, 0, 64); err != nil {
			return fmt.Errorf("--address %s: want a number of 64 bits such as 0xdead0000", f.address)
		}
	}
	return nil
}

// parseEngine reads NODE or NODE.ENGINE.
func parseEngine(text string) (node, engine uint32, err error) {
	first, second, two := strings.Cut(text, ".")
	n, err := strconv.ParseUint(first, 10, 31)
	var e uint64
	if err == nil && two {
		e, err = strconv.ParseUint(second, 10, 31)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("--engine %s: want NODE or NODE.ENGINE such as 0 or 1.0, see dxgsync ls engines", text)
	}
	return uint32(n), uint32(e), nil
}

// printFault says what was done, and what follows.
func printFault(w io.Writer, t target, r kernel.FaultReport) error {
	switch t.Kind {
	case abi.FaultHang, abi.FaultPage:
		what := "hangs the engine until that is reset"
		if t.Kind == abi.FaultPage {
			what = fmt.Sprintf("touches %#x, which counts as not mapped", t.Address)
		}
		if r.Adapter != "" {
			fmt.Fprintf(w, "On adapter %s, the packet that runs or comes next on each of these engines %s: %s\n", r.Adapter, what, strings.Join(r.Engines, ", "))
			return nil
		}
		fmt.Fprintf(w, "The packet of %s that runs or comes next %s, once:\n", t, what)
		table := newTable(w, queueTitles...)
		queueRows(table, r.Queues)
		return table.flush()
	case abi.FaultPower:
		fmt.Fprintf(w, "Adapter %s goes to %s.\n", r.Adapter, r.State)
	case abi.FaultRemove:
		fmt.Fprintf(w, "Adapter %s was removed. Devices lost: %d\n", r.Adapter, len(r.Devices))
	default:
		if r.Adapter != "" {
			fmt.Fprintf(w, "Adapter %s was reset. Devices lost: %d\n", r.Adapter, len(r.Devices))
		} else {
			fmt.Fprintf(w, "Devices in error: %d\n", len(r.Devices))
		}
	}
	if len(r.Devices) == 0 {
		return nil
	}
	table := newTable(w, deviceTitles...)
	deviceRows(table, r.Devices)
	return table.flush()
}

// parseTarget reads what a fault is for.
func parseTarget(text string) (target, error) {
	t := target{text: text, adapter: -1}
	wrong := fmt.Errorf("target %q: want an adapter (0, or a LUID such as 00000000:00010000), pid:N or pid:N/0xHANDLE", text)
	if rest, ok := strings.CutPrefix(text, "pid:"); ok {
		pid, handle, one := strings.Cut(rest, "/")
		n, err := strconv.ParseUint(pid, 10, 31)
		if err != nil || n == 0 {
			return t, wrong
		}
		t.PID = uint32(n)
		if one {
			h, err := strconv.ParseUint(handle, 0, 32)
			if err != nil || h == 0 {
				return t, wrong
			}
			t.Handle = abi.Handle(h)
		}
		return t, nil
	}
	if high, low, ok := strings.Cut(text, ":"); ok {
		h, err1 := strconv.ParseUint(high, 16, 32)
		l, err2 := strconv.ParseUint(low, 16, 32)
		if err1 != nil || err2 != nil {
			return t, wrong
		}
		t.AdapterLuid = abi.LUID{HighPart: int32(uint32(h)), LowPart: uint32(l)}
		return t, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > math.MaxInt32 {
		return t, wrong
	}
	t.adapter = n
	return t, nil
}
