package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/wire"
	"github.com/spf13/cobra"
)

func init() { register(lsCommand) }

// What ls can list, in the order of its tables.
var listings = []string{"adapters", "engines", "processes", "devices", "queues", "objects", "natives", "shares", "waits", "incidents"}

type lsFlags struct {
	json   bool
	socket string
	pid    int
}

func lsCommand() *cobra.Command {
	var f lsFlags
	cmd := &cobra.Command{
		Use:   "ls [adapters|engines|processes|devices|queues|objects|natives|shares|waits|incidents]",
		Short: "List what a kernel holds",
		Long: `Lists adapters with their engines, processes with their devices, contexts and
hardware queues, objects, native fences as the GPU of each adapter sees them, what is
shared by NT handles, waits, and incidents: resets and removals of adapters. Or only one of them; together, engines that are idle,
devices that are active and all but the last 8 incidents are left out.

Without --socket or --pid it shows every kernel that this user can find: the one
that DXGSYNC_SOCKET names, and only that, if it is set; else the daemon at its
default address and every "dxgsync run" of this user. Sockets of run are in
$XDG_RUNTIME_DIR/dxgsync-run-PID, or, where there is no such directory, in $TMPDIR
or /tmp.

--json prints a list with one entry per kernel: its address, the pid of its run if
it belongs to one, and what was asked for. Ages there are in nanoseconds.`,
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: listings,
		RunE: func(cmd *cobra.Command, args []string) error {
			what := listings
			if len(args) == 1 {
				what = args
			}
			return ls(cmd.OutOrStdout(), what, f)
		},
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.Flags().StringVar(&f.socket, "socket", "", "address of one kernel: a path, or @name")
	cmd.Flags().IntVar(&f.pid, "pid", 0, "process id of one dxgsync run")
	cmd.MarkFlagsMutuallyExclusive("socket", "pid")
	return cmd
}

// A listing is one kernel in the output of ls.
type listing struct {
	place
	Adapters  *[]kernel.AdapterInfo `json:"adapters,omitempty"`
	Engines   *[]kernel.EngineRow   `json:"engines,omitempty"`
	Devices   *[]kernel.DeviceRow   `json:"devices,omitempty"`
	Queues    *[]kernel.QueueRow    `json:"queues,omitempty"`
	Incidents *[]kernel.IncidentRow `json:"incidents,omitempty"`
	Processes *[]kernel.ProcessRow  `json:"processes,omitempty"`
	Objects   *[]kernel.ObjectRow   `json:"objects,omitempty"`
	Natives   *[]kernel.NativeRow   `json:"native_fences,omitempty"`
	Shares    *[]kernel.NTObjectRow `json:"nt_objects,omitempty"`
	NTHandles *int                  `json:"nt_handles,omitempty"`
	Globals   *int                  `json:"global_handles,omitempty"`
	Waits     *[]kernel.WaitRow     `json:"waits,omitempty"`
}

func ls(w io.Writer, what []string, f lsFlags) error {
	places, one, err := choosePlaces(f)
	if err != nil {
		return err
	}
	found := []listing{}
	for _, p := range places {
		s, err := inspect(p.Address)
		if (errors.Is(err, errNobody) || errors.Is(err, errGone)) && !one {
			continue
		}
		if err != nil {
			return err
		}
		found = append(found, newListing(p, s, what))
	}
	if f.json {
		return printJSON(w, found)
	}
	if len(found) == 0 {
		return noKernel(wire.Address())
	}
	for i, l := range found {
		if len(found) > 1 {
			if i > 0 {
				fmt.Fprintln(w)
			}
			fmt.Fprintf(w, "# %s\n", l.place)
		}
		if err := l.print(w, len(what) > 1); err != nil {
			return err
		}
	}
	return nil
}

// noKernel says that there is none to be found.
func noKernel(address string) error {
	return fmt.Errorf("no kernel found: no daemon listens at %s and no dxgsync run of this user is alive; start one with dxgsync serve or dxgsync run, or name an address with --socket", address)
}

// choosePlaces says where to look. one: the user named the place, so it must be there.
func choosePlaces(f lsFlags) (places []place, one bool, err error) {
	switch {
	case f.socket != "":
		return []place{{Address: f.socket}}, true, nil
	case f.pid != 0:
		for _, p := range runs() {
			if p.PID == f.pid {
				return []place{p}, true, nil
			}
		}
		return nil, false, fmt.Errorf("process %d is no dxgsync run of this user; dxgsync ls without --pid shows all there are", f.pid)
	case os.Getenv(wire.SocketEnv) != "":
		return []place{{Address: wire.Address()}}, true, nil
	default:
		return append([]place{{Address: wire.Address()}}, runs()...), false, nil
	}
}

func newListing(p place, s *kernel.Snapshot, what []string) listing {
	l := listing{place: p}
	if slices.Contains(what, "adapters") {
		l.Adapters = &s.Adapters
	}
	if slices.Contains(what, "engines") {
		l.Engines = &s.Engines
	}
	if slices.Contains(what, "devices") {
		l.Devices = &s.Devices
	}
	if slices.Contains(what, "queues") {
		l.Queues = &s.Queues
	}
	if slices.Contains(what, "incidents") {
		l.Incidents = &s.Incidents
	}
	if slices.Contains(what, "processes") {
		l.Processes = &s.Processes
	}
	if slices.Contains(what, "objects") {
		l.Objects = &s.Objects
	}
	if slices.Contains(what, "natives") {
		l.Natives = &s.Natives
	}
	if slices.Contains(what, "shares") {
		l.Shares, l.NTHandles, l.Globals = &s.NTObjects, &s.NTHandles, &s.Globals
	}
	if slices.Contains(what, "waits") {
		l.Waits = &s.Waits
	}
	return l
}

// print writes the tables. With several of them each has a heading. An empty one is
// only that; what GPUs have is left away then.
func (l *listing) print(w io.Writer, headings bool) error {
	first := true
	section := func(title string, n int, titles []string, rows func(t *table)) error {
		if headings {
			if !first {
				fmt.Fprintln(w)
			}
			fmt.Fprintf(w, "%s: %d\n", title, n)
		}
		first = false
		if n == 0 && headings {
			return nil
		}
		t := newTable(w, titles...)
		rows(t)
		return t.flush()
	}
	ifAny := func(title string, n int, titles []string, rows func(t *table)) error {
		if n == 0 && headings {
			return nil
		}
		return section(title, n, titles, rows)
	}
	var errs []error
	if l.Adapters != nil {
		errs = append(errs, section("adapters", len(*l.Adapters), adapterTitles, func(t *table) { adapterRows(t, *l.Adapters) }))
	}
	if l.Engines != nil {
		rows := *l.Engines
		if headings {
			rows = remarkable(rows, func(e kernel.EngineRow) bool { return e.State != "idle" })
		}
		errs = append(errs, ifAny("engines", len(rows), engineTitles, func(t *table) { engineRows(t, rows) }))
	}
	if l.Processes != nil {
		errs = append(errs, section("processes", len(*l.Processes), processTitles, func(t *table) { processRows(t, *l.Processes) }))
	}
	if l.Devices != nil {
		rows := *l.Devices
		if headings {
			rows = remarkable(rows, func(d kernel.DeviceRow) bool { return d.State != abi.DeviceExecutionActive.String() })
		}
		errs = append(errs, ifAny("devices", len(rows), deviceTitles, func(t *table) { deviceRows(t, rows) }))
	}
	if l.Queues != nil {
		errs = append(errs, ifAny("queues", len(*l.Queues), queueTitles, func(t *table) { queueRows(t, *l.Queues) }))
	}
	if l.Objects != nil {
		errs = append(errs, section("objects", len(*l.Objects), objectTitles, func(t *table) { objectRows(t, *l.Objects) }))
	}
	if l.Natives != nil {
		errs = append(errs, ifAny("natives", len(*l.Natives), nativeTitles, func(t *table) { nativeRows(t, *l.Natives) }))
	}
	if l.Shares != nil {
		errs = append(errs, section("shares", len(*l.Shares), shareTitles, func(t *table) { shareRows(t, *l.Shares) }))
	}
	if l.Waits != nil {
		errs = append(errs, section("waits", len(*l.Waits), waitTitles, func(t *table) { waitRows(t, *l.Waits) }))
	}
	if l.Incidents != nil {
		rows := *l.Incidents
		if headings {
			rows = rows[max(0, len(rows)-recentIncidents):]
		}
		errs = append(errs, ifAny("incidents", len(*l.Incidents), incidentTitles, func(t *table) { incidentRows(t, rows) }))
	}
	return errors.Join(errs...)
}

// recentIncidents is how many incidents stand among other tables, the last ones.
const recentIncidents = 8

// remarkable are the rows that are worth a line among other tables.
func remarkable[R any](rows []R, is func(R) bool) []R {
	var some []R
	for _, r := range rows {
		if is(r) {
			some = append(some, r)
		}
	}
	return some
}
