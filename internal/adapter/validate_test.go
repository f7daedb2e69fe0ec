package adapter

import (
	"strings"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

func TestValidate(t *testing.T) {
	tests := []struct {
		name   string
		change func(p *Profile)
		want   string // the whole message after the profile's name; "" for none
	}{
		{"unchanged", func(*Profile) {}, ""},
		{"no name", func(p *Profile) { p.Name = "" }, "name: need 1 to 32 letters, digits, '-', '_' or '.'"},
		{"long name", func(p *Profile) { p.Name = strings.Repeat("x", 33) }, "name: need 1 to 32 letters, digits, '-', '_' or '.'"},
		{"no description", func(p *Profile) { p.Description = "" }, "description: must not be empty"},
		{"longest description", func(p *Profile) { p.Description = strings.Repeat("x", 4095) }, ""},
		{"long description", func(p *Profile) { p.Description = strings.Repeat("x", 4096) }, "description: at most 4095 UTF-16 units, have 4096"},
		{"surrogates", func(p *Profile) { p.Nodes[0].FriendlyName = strings.Repeat("😀", 16) }, "nodes[0].name: at most 31 UTF-16 units, have 32"},
		{"NUL", func(p *Profile) { p.Description = "a\x00b" }, "description: must be UTF-8 without NUL"},
		{"vendor 0", func(p *Profile) { p.IDs.Vendor = 0 }, "ids.vendor: must not be 0"},
		{"PCI", func(p *Profile) { p.PCI.Device = 32 }, "pci: bus 1, device 32, function 0 is no PCI address (0-255, 0-31, 0-7)"},
		{"GUID", func(p *Profile) { p.GUID = GUID{} }, "guid: must not be zero"},
		{"WDDM", func(p *Profile) { p.WDDM = 3201 }, "wddm: 3201 is no driver model level, use one of 1000 1102 1105 1200 1300 2000 2100 2200 2300 2400 2500 2600 2700 2800 2900 3000 3100 3200"},
		{"no type", func(p *Profile) { p.Type, p.Displays = 0, nil }, "type: need RenderSupported, DisplaySupported or both"},
		{"compute only", func(p *Profile) { p.Type, p.Displays = RenderSupported|ComputeOnly, nil }, ""},
		{"compute only with display", func(p *Profile) { p.Type |= ComputeOnly }, "type: ComputeOnly excludes DisplaySupported"},
		{"display only", func(p *Profile) { p.Type, p.Nodes = DisplaySupported, nil }, ""},
		{"old native fence", func(p *Profile) { p.WDDM, p.Features = 3000, 0 }, "caps: NativeGpuFenceSupported needs WDDM 3100 or later, the profile has 3000"},
		{"32-bit storage", func(p *Profile) { p.Caps &^= Support64BitAtomics }, ""},
		{"old CPU events", func(p *Profile) {
			p.WDDM, p.Caps, p.HwFlipQueue = 2900, p.Caps&^(NativeGpuFenceSupported|DisplayableSupported), Feature{}
			p.Features = KMDSignalCPUEvent
		}, "features: KMD_SIGNAL_CPU_EVENT needs WDDM 3000 or later, the profile has 2900"},
		{"CPU events off", func(p *Profile) { p.Features = 0 }, ""},
		{"doorbells", func(p *Profile) { p.Doorbells.Physical = 4097 }, "doorbells.physical: at most 4096, have 4097"},
		{"stride", func(p *Profile) { p.NativeFence.MonitoredValueStride = 4 }, "native_fence.monitored_value_stride: need a multiple of 8 up to 4096, have 4"},
		{"bounds", func(p *Profile) { p.NativeFence.MinimumAddress, p.NativeFence.MaximumAddress = 8192, 4096 }, "native_fence: minimum_address and maximum_address need to be multiples of 4096 in this order"},
		{"interrupts", func(p *Profile) { p.NativeFence.Interrupt = 4 }, "native_fence.interrupt: unknown kind 4"},
		{"unknown feature", func(p *Profile) { p.Features |= 1 << 40 }, "features: unknown bits 0x10000000000"},
		{"scheduling", func(p *Profile) { p.HwScheduling.Support = SupportOff }, "hw_scheduling: cannot be enabled while its support is off"},
		{"tier", func(p *Profile) { p.Caps &^= SupportCrossAdapterResource }, "cross_adapter: tier texture needs the capability SupportCrossAdapterResource"},
		{"va bits", func(p *Profile) { p.GpuMmu.VirtualAddressBits = 31 }, "gpu_mmu.va_bits: need 32 to 64 with GpuMmuSupported, have 31"},
		{"no mmu", func(p *Profile) { p.Caps &^= GpuMmuSupported }, "gpu_mmu: must be absent without the capability GpuMmuSupported"},
		{"physical", func(p *Profile) { p.PhysicalAdapters = 65 }, "physical_adapters: need 1 to 64, have 65"},
		{"no nodes", func(p *Profile) { p.Nodes = nil }, "nodes: an adapter with RenderSupported needs at least one"},
		{"most nodes", func(p *Profile) { p.Nodes = make([]Node, MaxNodes) }, ""},
		{"nodes", func(p *Profile) { p.Nodes = make([]Node, MaxNodes+1) }, "nodes: at most 64, have 65"},
		{"memory", func(p *Profile) { p.Memory.SharedSystem = MaxMemory + 1 }, "memory: a segment has at most 1073741824 MiB"},
		{"dependent nodes", func(p *Profile) { p.Nodes[0].DependentNodes = []int{2, 1} }, ""},
		{"dependent on itself", func(p *Profile) { p.Nodes[1].DependentNodes = []int{1} }, "nodes[1].dependent_nodes: 1 is no other node"},
		{"dependent on nothing", func(p *Profile) { p.Nodes[1].DependentNodes = []int{3} }, "nodes[1].dependent_nodes: 3 is no other node"},
		{"fastest clock", func(p *Profile) { p.GpuClock = 1e12 }, ""},
		{"clock", func(p *Profile) { p.GpuClock = 1e12 + 1 }, "gpu_clock_hz: at most 1000000000000 ticks per second, have 1000000000001"},
		{"foreign commands", func(p *Profile) { p.ForeignCommands = 2 }, "foreign_commands: unknown fate 2"},
		{"faults", func(p *Profile) { p.Faults.Resume = 2 }, "faults: unknown outcome 2"},
		{"all faults", func(p *Profile) { p.Faults = Faults{Fail, Fail, Fail} }, ""},
		{"displays", func(p *Profile) { p.Displays = repeat(p.Displays[0], 17) }, "displays: at most 16, have 17"},
		{"refresh", func(p *Profile) { p.Displays[0].Refresh = 60 }, "displays[0].refresh_mhz: need 1000 to 1000000 thousandths of a hertz, have 60"},
		{"render only with display", func(p *Profile) { p.Type = RenderSupported }, "displays: an adapter without DisplaySupported has none"},
		{"umd", func(p *Profile) { p.UMD = make([]string, 5) }, "umd: at most 4 names (DX9, DX10, DX11, DX12), have 5"},
		{"private", func(p *Profile) { p.UMDPrivate = make(Bytes, MaxUMDPrivate+1) }, "umd_private: at most 65536 bytes, have 65537"},
		{"store", func(p *Profile) { p.DriverStore = strings.Repeat("x", 2048) }, "driver_store: at most 2047 UTF-16 units, have 2048"},
		{"value", func(p *Profile) {
			p.Registry.Service = map[string]Value{"V": {kind: regBinary, bytes: make(Bytes, 4097)}}
		}, `registry.service["V"]: at most 4096 bytes`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Load("neutral")
			if err != nil {
				t.Fatal(err)
			}
			tt.change(p)
			got := ""
			if err := p.Validate(); err != nil {
				got = strings.TrimPrefix(err.Error(), `adapter profile "`+p.Name+`": `)
			}
			if got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestValidateReportsAll(t *testing.T) {
	err := (&Profile{}).Validate()
	if err == nil || strings.Count(err.Error(), "\n") < 4 {
		t.Errorf("an empty profile breaks many rules, reported: %v", err)
	}
}

func TestCapabilityTable(t *testing.T) {
	seen := map[[2]uint32]string{}
	var all Caps
	for _, k := range capabilities {
		at := [2]uint32{k.query, uint32(k.bit)}
		if other := seen[at]; other != "" {
			t.Errorf("%s and %s are the same bit", k.name, other)
		}
		seen[at] = k.name
		if all&k.cap != 0 || k.sentence == "" || queries[k.query].answer == nil || k.first < abi.WDDM(1200) {
			t.Errorf("%s: doubled, without sentence, query or level", k.name)
		}
		all |= k.cap
	}
	if all.word(qWDDM31) != 1 || all.word(qWDDM20) != 0x3F || all.word(qWDDM13) != 0x3F || all.word(qWDDM12) != 0x3FF {
		t.Error("a flag word lacks bits")
	}
}

func repeat[T any](v T, n int) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = v
	}
	return list
}
