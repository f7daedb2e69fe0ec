package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/spf13/cobra"
)

func init() { register(adapterCommand) }

func adapterCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "adapter",
		Short: "Show adapter profiles",
		Long: `An adapter profile says what an adapter claims to be: ids, description, nodes,
driver store, driver model level, capabilities. Presets are built in. A profile of
your own is a JSON file; name a preset (or another file) as its base and say only
what differs:

    {
      "base": "nvidia",
      "name": "mine",
      "driver_store": "/opt/driver-store"
    }

"dxgsync adapter show --json NAME" prints a complete one. Give a preset or a file
to --adapter of run and serve. Objects and maps are merged with the base's, lists
replace them. Some programs look into driver_store; it must exist for them.`,
	}
	cmd.AddCommand(adapterLsCommand(), adapterShowCommand())
	return cmd
}

func adapterLsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List the built-in profiles",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var all []*adapter.Profile
			for _, name := range adapter.Presets() {
				p, err := adapter.Load(name)
				if err != nil {
					return err
				}
				all = append(all, p)
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), all)
			}
			t := newTable(cmd.OutOrStdout(), "NAME", "DESCRIPTION", "WDDM", "VENDOR", "DEVICE", "NODES")
			for _, p := range all {
				t.row(p.Name, p.Description, level(p), p.IDs.Vendor, p.IDs.Device, len(p.Nodes))
			}
			return t.flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the complete profiles as JSON")
	return cmd
}

func adapterShowCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show NAME|FILE",
		Short: "Show one profile",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, err := adapter.Load(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), p)
			}
			return showProfile(cmd.OutOrStdout(), p)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the complete profile as JSON, a start for one of your own")
	return cmd
}

func showProfile(w io.Writer, p *adapter.Profile) error {
	t := newTable(w)
	t.row("name", p.Name)
	t.row("description", p.Description)
	t.row("driver model", "WDDM "+level(p))
	t.row("driver version", p.DriverVersion)
	t.row("driver store", p.DriverStore)
	t.row("ids", fmt.Sprintf("vendor %v, device %v, subsystem %v %v, revision %v", p.IDs.Vendor, p.IDs.Device, p.IDs.SubVendor, p.IDs.SubSystem, p.IDs.Revision))
	t.row("PCI address", fmt.Sprintf("%02x:%02x.%x", p.PCI.Bus, p.PCI.Device, p.PCI.Function))
	t.row("GUID", p.GUID)
	t.row("type", strings.Join(p.Type.Names(), ", "))
	t.row("memory", fmt.Sprintf("%d MiB video, %d MiB dedicated system, %d MiB shared system", p.Memory.DedicatedVideo, p.Memory.DedicatedSystem, p.Memory.SharedSystem))
	t.row("hardware scheduling", fmt.Sprintf("%v, %s", p.HwScheduling.Support, onOff(p.HwScheduling.Enabled)))
	t.row("cross-adapter tier", p.CrossAdapter)
	for i, n := range p.Nodes {
		t.row(fmt.Sprintf("node %d", i), fmt.Sprintf("%s (%v)", n.FriendlyName, n.Engine))
	}
	for i, d := range p.Displays {
		t.row(fmt.Sprintf("target %d", i), fmt.Sprintf("%s, %dx%d at %.3f Hz", d.Name, d.Width, d.Height, float64(d.Refresh)/1000))
	}
	for _, c := range p.Caps.List() {
		t.row(c.Name, c.Sentence)
	}
	for _, f := range p.Features.List() {
		t.row(f.Name, f.Sentence)
	}
	return t.flush()
}

// level is the driver model level as people say it: 3.2 for 3200.
func level(p *adapter.Profile) string { return fmt.Sprintf("%d.%d", p.WDDM/1000, p.WDDM/100%10) }

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
