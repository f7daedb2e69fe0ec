package adapter

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestPresets(t *testing.T) {
	for _, n := range Presets() {
		p, err := Load(n)
		if err != nil {
			t.Errorf("Load(%q): %v", n, err)
			continue
		}
		if p.Name != n || p.WDDM != 3200 {
			t.Errorf("%s: name %q, WDDM %d", n, p.Name, p.WDDM)
		}
		if len(p.Nodes) < 2 || p.Nodes[0].Engine != Engine3D || p.Nodes[1].Engine != EngineOther {
			t.Errorf("%s: want a 3D node first and a compute node second, have %v", n, p.Nodes)
		}
		if !p.HwScheduling.Enabled || p.Sources() == 0 || p.ComputeOnly() || p.DisplayOnly() || p.Engines() != 1 {
			t.Errorf("%s: not an ordinary render and display adapter", n)
		}
	}
	if intel, _ := Load("intel"); !strings.Contains(intel.Description, "Intel") {
		t.Errorf("the description of intel is %q, programs look for Intel in it", intel.Description)
	}
	if neutral, _ := Load("neutral"); !strings.Contains(neutral.Description, "Virtual Render") {
		t.Errorf("the description of neutral is %q, programs look for Virtual Render in it", neutral.Description)
	}
}

func TestJSONRoundTrip(t *testing.T) {
	for _, n := range Presets() {
		p, err := Load(n)
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Load(write(t, string(data)))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(p, again) {
			t.Errorf("%s changed on its way through JSON: %s", n, data)
		}
	}
}

func TestBehaviourOfTheSoftwareGPU(t *testing.T) {
	p, err := Load(write(t, `{
		"base": "neutral", "gpu_clock_hz": 19200000, "foreign_commands": "fault",
		"faults": {"reset_engine": "fail", "restart": "fail"},
		"nodes": [{"engine": "3d", "name": "A", "dependent_nodes": [1]}, {"engine": "copy", "name": "B"}]
	}`))
	if err != nil {
		t.Fatal(err)
	}
	if p.GpuClock != 19_200_000 || p.ForeignCommands != ForeignFault || p.Faults != (Faults{ResetEngine: Fail, Restart: Fail}) || len(p.Nodes[0].DependentNodes) != 1 {
		t.Errorf("got %+v", p)
	}
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Load(write(t, string(data))); err != nil || !reflect.DeepEqual(p, again) {
		t.Errorf("changed on its way through JSON: %v, %s", err, data)
	}
	for text, want := range map[string]string{
		`{"base": "neutral", "foreign_commands": "skip"}`:    `unknown fate of foreign commands "skip": use one of run, fault`,
		`{"base": "neutral", "faults": {"resume": "maybe"}}`: `unknown outcome "maybe": use one of succeed, fail`,
	} {
		if _, err := Load(write(t, text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestBase(t *testing.T) {
	base, _ := Load("nvidia")
	p, err := Load(write(t, `{
		"base": "nvidia", "name": "mine", "driver_store": "/opt/store",
		"ids": {"device": 7},
		"nodes": [{"engine": "3d", "name": "A"}],
		"registry": {"adapter": {"New": 1}}
	}`))
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "mine" || p.DriverStore != "/opt/store" || p.IDs.Device != 7 || p.IDs.Vendor != base.IDs.Vendor {
		t.Errorf("got %+v", p)
	}
	if want := []Node{{Engine: Engine3D, FriendlyName: "A"}}; !reflect.DeepEqual(p.Nodes, want) {
		t.Errorf("nodes = %+v, want %+v: a list replaces the base's", p.Nodes, want)
	}
	if len(p.Registry.Adapter) != len(base.Registry.Adapter)+1 {
		t.Errorf("registry = %v: values are added to the base's", p.Registry.Adapter)
	}
	again, _ := Load("nvidia")
	if !reflect.DeepEqual(base, again) {
		t.Error("loading a profile changed its base")
	}
}

func TestBaseRelativeAndEndless(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	put("a.json", `{"base": "amd", "name": "a"}`)
	if p, err := Load(put("b.json", `{"base": "a.json"}`)); err != nil || p.Name != "a" {
		t.Errorf("a base beside the file: %v, %v", p, err)
	}
	_, err := Load(put("loop.json", `{"base": "loop.json"}`))
	if err == nil || !strings.Contains(err.Error(), "more than 8 profiles build on each other") {
		t.Errorf("a loop: %v", err)
	}
}

func TestLoadErrors(t *testing.T) {
	tests := []struct{ text, want string }{
		{`{`, "unexpected end of JSON input"},
		{`{"base": "amd", "colour": 1}`, `unknown field "colour"`},
		{`{"base": "nonsense"}`, "no preset of that name (neutral, amd, intel, nvidia, native)"},
		{`{"base": "amd", "type": ["Big"]}`, `unknown adapter type "Big": use one of RenderSupported,`},
		{`{"base": "amd", "nodes": [{"engine": "warp"}]}`, `unknown engine "warp": use one of other, 3d,`},
		{`{"base": "amd", "guid": "{1}"}`, `guid "{1}": want {xxxxxxxx-`},
		{`{"base": "amd", "driver_version": "1.2"}`, `driver version "1.2": want four numbers`},
		{`{"base": "amd", "driver_version": "1.2.3.70000"}`, `"70000" is no number of 16 bits`},
		{`{"base": "amd", "ids": {"vendor": "amd"}}`, `want a number or a string such as "0x10de"`},
		{`{"base": "amd", "umd_private": "xyz"}`, "want hexadecimal digits"},
		{`{"base": "amd", "registry": {"adapter": {"X": [1]}}}`, "registry value [1]: want a string, a number or"},
	}
	for _, tt := range tests {
		_, err := Load(write(t, tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s\n got %v\nwant …%s…", tt.text, err, tt.want)
		}
	}
	_, err := Load("nvidea")
	const want = `adapter profile "nvidea": no preset of that name (neutral, amd, intel, nvidia, native) and no such file; give a preset or the path of a profile file`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if _, err := Load(write(t, strings.Repeat(" ", maxFile+1))); err == nil || !strings.Contains(err.Error(), "larger than 1048576 bytes") {
		t.Errorf("a huge file: %v", err)
	}
}

func TestLoadAllKeepsAdaptersApart(t *testing.T) {
	all, err := LoadAll([]string{"neutral", "nvidia", "neutral", "neutral"})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range all {
		for _, o := range all[:i] {
			if p.PCI == o.PCI || p.GUID == o.GUID {
				t.Errorf("%s and %s share %v %v", p.Name, o.Name, p.PCI, p.GUID)
			}
		}
	}
	if _, err := LoadAll([]string{"neutral", "none"}); err == nil {
		t.Error("an unknown profile in the list was accepted")
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "profile.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
