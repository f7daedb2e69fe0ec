package adapter

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Limits of a profile.
const (
	MaxNodes            = 64
	MaxPhysicalAdapters = 64
	MaxDisplays         = 16      // D3DKMDT_MAX_VIDPN_SOURCES
	MaxMemory           = 1 << 30 // MiB, a pebibyte
	MaxUMDPrivate       = 1 << 16 // bytes
	MaxRegistryValue    = 1 << 12 // bytes of one value
	MaxUMD              = 4       // DX9, DX10, DX11, DX12
	MaxDoorbells        = 4096

	minRefresh, maxRefresh = 1_000, 1_000_000
	maxGpuClock            = 1_000_000_000_000 // ticks per second
)

// levels are the driver model levels that DRIVERVERSION knows. Source: d3dkmthk.h.
var levels = []int{
	1000, 1102, 1105, 1200, 1300,
	2000, 2100, 2200, 2300, 2400, 2500, 2600, 2700, 2800, 2900,
	3000, 3100, 3200,
}

var nameRule = regexp.MustCompile(`^[A-Za-z0-9._-]{1,32}$`)

// Validate reports every rule that the profile breaks, one sentence each, or nil.
func (p *Profile) Validate() error {
	c := &checker{}
	c.identity(p)
	c.abilities(p)
	c.parts(p)
	c.texts(p)
	if len(c.broken) == 0 {
		return nil
	}
	errs := make([]error, len(c.broken))
	for i, sentence := range c.broken {
		errs[i] = fmt.Errorf("adapter profile %q: %s", p.Name, sentence)
	}
	return errors.Join(errs...)
}

// A checker collects sentences.
type checker struct{ broken []string }

// rule notes the sentence unless ok.
func (c *checker) rule(ok bool, format string, args ...any) {
	if !ok {
		c.broken = append(c.broken, fmt.Sprintf(format, args...))
	}
}

func (c *checker) identity(p *Profile) {
	c.rule(nameRule.MatchString(p.Name), "name: need 1 to 32 letters, digits, '-', '_' or '.'")
	c.rule(p.Description != "", "description: must not be empty")
	c.rule(p.IDs.Vendor != 0, "ids.vendor: must not be 0")
	c.rule(p.PCI.Bus <= 255 && p.PCI.Device <= 31 && p.PCI.Function <= 7,
		"pci: bus %d, device %d, function %d is no PCI address (0-255, 0-31, 0-7)", p.PCI.Bus, p.PCI.Device, p.PCI.Function)
	c.rule(p.GUID != GUID{}, "guid: must not be zero")
	c.rule(slices.Contains(levels, int(p.WDDM)), "wddm: %d is no driver model level, use one of %s", p.WDDM, strings.Trim(fmt.Sprint(levels), "[]"))
}

func (c *checker) abilities(p *Profile) {
	c.rule(p.Type&(RenderSupported|DisplaySupported) != 0, "type: need RenderSupported, DisplaySupported or both")
	c.rule(p.Type&ComputeOnly == 0 || p.Type&RenderSupported != 0, "type: ComputeOnly needs RenderSupported")
	c.rule(p.Type&ComputeOnly == 0 || p.Type&DisplaySupported == 0, "type: ComputeOnly excludes DisplaySupported")
	for _, k := range capabilities {
		c.rule(p.Caps&k.cap == 0 || p.WDDM >= k.first, "caps: %s needs WDDM %d or later, the profile has %d", k.name, k.first, p.WDDM)
	}
	c.rule(p.Features&^knownFeatures == 0, "features: unknown bits 0x%x", uint64(p.Features&^knownFeatures))
	for _, k := range features {
		c.rule(!p.Features.Has(k.id) || p.WDDM >= k.first, "features: %v needs WDDM %d or later, the profile has %d", k.id, k.first, p.WDDM)
	}
	c.feature("hw_scheduling", p.HwScheduling, 2700, p)
	c.feature("hw_flip_queue", p.HwFlipQueue, 3000, p)
	c.native(p)
	c.rule(p.GpuClock <= maxGpuClock, "gpu_clock_hz: at most %d ticks per second, have %d", uint64(maxGpuClock), p.GpuClock)
	c.rule(p.ForeignCommands <= ForeignFault, "foreign_commands: unknown fate %d", p.ForeignCommands)
	c.rule(max(p.Faults.ResetEngine, p.Faults.Resume, p.Faults.Restart) <= Fail, "faults: unknown outcome %d", max(p.Faults.ResetEngine, p.Faults.Resume, p.Faults.Restart))
	c.rule(p.CrossAdapter <= TierScanout, "cross_adapter: unknown tier %d", p.CrossAdapter)
	c.rule(p.CrossAdapter == TierNone || p.Caps.Has(SupportCrossAdapterResource),
		"cross_adapter: tier %s needs the capability SupportCrossAdapterResource", p.CrossAdapter)
	if p.Caps.Has(GpuMmuSupported) {
		c.rule(p.GpuMmu.VirtualAddressBits >= 32 && p.GpuMmu.VirtualAddressBits <= 64,
			"gpu_mmu.va_bits: need 32 to 64 with GpuMmuSupported, have %d", p.GpuMmu.VirtualAddressBits)
	} else {
		c.rule(p.GpuMmu == GpuMmu{}, "gpu_mmu: must be absent without the capability GpuMmuSupported")
	}
}

// native checks native fences and doorbells. Source: native-fence.md §8.
func (c *checker) native(p *Profile) {
	n := p.NativeFence
	c.rule(n.MonitoredValueStride <= 4096 && n.MonitoredValueStride%8 == 0, "native_fence.monitored_value_stride: need a multiple of 8 up to 4096, have %d", n.MonitoredValueStride)
	c.rule(n.MinimumAddress%4096 == 0 && n.MaximumAddress%4096 == 0 && (n.MaximumAddress == 0 || n.MinimumAddress < n.MaximumAddress),
		"native_fence: minimum_address and maximum_address need to be multiples of 4096 in this order")
	c.rule(n.Interrupt <= InterruptLegacy, "native_fence.interrupt: unknown kind %d", n.Interrupt)
	c.rule(p.Doorbells.Physical >= 0 && p.Doorbells.Physical <= MaxDoorbells, "doorbells.physical: at most %d, have %d", MaxDoorbells, p.Doorbells.Physical)
}

func (c *checker) feature(field string, f Feature, first int, p *Profile) {
	c.rule(f.Support <= SupportAlwaysOn, "%s.support: unknown state %d", field, f.Support)
	c.rule(!f.Enabled || f.Support != SupportOff, "%s: cannot be enabled while its support is off", field)
	c.rule(f.Support == SupportOff || int(p.WDDM) >= first, "%s: needs WDDM %d or later, the profile has %d", field, first, p.WDDM)
}

func (c *checker) parts(p *Profile) {
	c.rule(p.PhysicalAdapters >= 1 && p.PhysicalAdapters <= MaxPhysicalAdapters,
		"physical_adapters: need 1 to %d, have %d", MaxPhysicalAdapters, p.PhysicalAdapters)
	c.rule(len(p.Nodes) <= MaxNodes, "nodes: at most %d, have %d", MaxNodes, len(p.Nodes))
	c.rule(len(p.Nodes) > 0 || p.Type&RenderSupported == 0, "nodes: an adapter with RenderSupported needs at least one")
	for i, n := range p.Nodes {
		c.rule(n.Engine <= EngineCrypto, "nodes[%d].engine: unknown type %d", i, n.Engine)
		c.text(fmt.Sprintf("nodes[%d].name", i), n.FriendlyName, nodeNameChars)
		for _, o := range n.DependentNodes {
			c.rule(o >= 0 && o < len(p.Nodes) && o != i, "nodes[%d].dependent_nodes: %d is no other node", i, o)
		}
	}
	c.rule(p.Memory.DedicatedVideo <= MaxMemory && p.Memory.DedicatedSystem <= MaxMemory && p.Memory.SharedSystem <= MaxMemory,
		"memory: a segment has at most %d MiB", MaxMemory)
	c.rule(len(p.Displays) <= MaxDisplays, "displays: at most %d, have %d", MaxDisplays, len(p.Displays))
	c.rule(len(p.Displays) == 0 || p.Type&DisplaySupported != 0, "displays: an adapter without DisplaySupported has none")
	for i, d := range p.Displays {
		c.rule(d.Name != "", "displays[%d].name: must not be empty", i)
		c.rule(d.Width > 0 && d.Height > 0, "displays[%d]: width and height must not be 0", i)
		c.rule(d.Refresh >= minRefresh && d.Refresh <= maxRefresh,
			"displays[%d].refresh_mhz: need %d to %d thousandths of a hertz, have %d", i, minRefresh, maxRefresh, d.Refresh)
	}
	c.rule(len(p.UMD) <= MaxUMD, "umd: at most %d names (DX9, DX10, DX11, DX12), have %d", MaxUMD, len(p.UMD))
	c.rule(len(p.UMDPrivate) <= MaxUMDPrivate, "umd_private: at most %d bytes, have %d", MaxUMDPrivate, len(p.UMDPrivate))
}

func (c *checker) texts(p *Profile) {
	c.text("description", p.Description, descriptionChars)
	c.text("strings.adapter", p.Strings.Adapter, pathChars)
	c.text("strings.bios", p.Strings.BIOS, pathChars)
	c.text("strings.dac", p.Strings.DAC, pathChars)
	c.text("strings.chip", p.Strings.Chip, pathChars)
	c.text("driver_store", p.DriverStore, MaxRegistryValue/2)
	c.text("driver_image", p.DriverImage, MaxRegistryValue/2)
	for i, s := range p.UMD {
		c.text(fmt.Sprintf("umd[%d]", i), s, pathChars)
	}
	for field, key := range map[string]map[string]Value{"registry.service": p.Registry.Service, "registry.adapter": p.Registry.Adapter} {
		for n, v := range key {
			c.text(fmt.Sprintf("%s: the name %q", field, n), n, pathChars)
			c.rule(len(v.data()) <= MaxRegistryValue, "%s[%q]: at most %d bytes", field, n, MaxRegistryValue)
		}
	}
}

// text checks that s and its NUL fit in chars 16-bit characters.
func (c *checker) text(field, s string, chars int) {
	c.rule(utf8.ValidString(s) && !strings.ContainsRune(s, 0), "%s: must be UTF-8 without NUL", field)
	n := len(utf16.Encode([]rune(s)))
	c.rule(n < chars, "%s: at most %d UTF-16 units, have %d", field, chars-1, n)
}
