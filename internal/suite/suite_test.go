package suite

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the outputs of the scenarios from what the in-process door answers")

// corpusFolder is where the corpus lies in the source tree.
const corpusFolder = "../../conformance"

func load(t testing.TB) *Corpus {
	t.Helper()
	c, err := Load(os.DirFS(corpusFolder))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// runAll runs every scenario at a door.
func runAll(t *testing.T, d Door) {
	c := load(t)
	for _, s := range c.Scenarios {
		if !s.Runs(d.Name()) {
			continue
		}
		t.Run(s.Path[:len(s.Path)-len(".txt")], func(t *testing.T) {
			t.Parallel()
			if res := c.Run(s, d); res.Verdict != Passed {
				t.Errorf("at the door %s:\n%s", d.Name(), res.Detail)
			}
		})
	}
}

func TestInProcess(t *testing.T) {
	if *update {
		rewrite(t, InProcess{})
	}
	runAll(t, InProcess{})
}

// rewrite brings the corpus in line with a door. Look at the difference afterwards:
// a scenario says what is right, not what is.
func rewrite(t *testing.T, d Door) {
	c := load(t)
	for _, s := range c.Scenarios {
		if !s.Runs(d.Name()) {
			continue
		}
		text, err := c.Update(s, d)
		if err == nil {
			err = os.WriteFile(filepath.Join(corpusFolder, s.Path), []byte(text), 0o644)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

func TestSocket(t *testing.T) { runAll(t, Socket{}) }

// buildDriver brings the driver and the C library up to date and returns the path of
// the driver.
func buildDriver(t *testing.T) string {
	t.Helper()
	build := exec.Command("make", "-C", "../..", "-f", "c/build.mk", "-f", "c/driver/build.mk", "c-driver")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s\nThe C door needs make and a C compiler.", build, err, out)
	}
	driver, err := filepath.Abs("../../build/bin/" + DriverName)
	if err != nil {
		t.Fatal(err)
	}
	return driver
}

// TestC runs the corpus through the C library of this source tree.
func TestC(t *testing.T) { runAll(t, C{Driver: buildDriver(t)}) }

// The driver says what is wrong with a line and goes on.
func TestDriver(t *testing.T) {
	d, err := newDaemon(WorldSpec{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := startDriver(buildDriver(t), d.address)
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"":                                 "no such command",
		"sing":                             "no such command",
		"call":                             "no such call",
		"call EnumAdapters9":               "no such call",
		"call CreateDevice hDevice":        "argument without =",
		"call CreateDevice x=1":            "no such field",
		"call CreateDevice hDevice=one":    "a value is no number",
		"call EnumAdapters2 pAdapters=1":   "a pointer is @HEX or bad",
		"call EnumAdapters2 pAdapters=@0":  "half a byte",
		"call EnumAdapters2 pAdapters=@0g": "a byte is not two of 0-9 a-f",
		"call ShareObjects x@0=@":          "no such place in memory",
		"call ShareObjects ObjectHandleArray=@00 ObjectHandleArray@0=@00":               "no such place in memory",
		"call ShareObjects ObjectHandleArray=@0000000000000000 ObjectHandleArray@=@00":  "no such place in memory",
		"call ShareObjects ObjectHandleArray=@0000000000000000 ObjectHandleArray@1=@00": "no such place in memory",
		"call ShareObjects ObjectHandleArray=bad ObjectHandleArray@0=@00":               "no such place in memory",
		"call ShareObjects ObjectCount=@00":                                             "a value is no number",
		"state t":                                                                       "the thread is in no call",
		"start t EnumAdapters9":                                                         "no such call",
		"close 1000":                                                                    "Bad file descriptor",
		"dup 1000":                                                                      "Bad file descriptor",
		"file socket":                                                                   "a file is event, pipe, memory or null",
	} {
		if _, err := p.ask("%s", line); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
	if n, err := p.number("peek 8"); err == nil {
		t.Errorf("peek at nothing answered %d", n)
	}
	if answer, err := p.ask("call EnumAdapters2"); err != nil || answer != "0x00000000 NumAdapters=0x22" {
		t.Errorf("after all that: %q, %v", answer, err)
	}
	nestedInDriver(t, p)
	if err := p.Exit(); err != nil {
		t.Error(err)
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
}

// Memory that has changed is told with where its pointers lead.
func nestedInDriver(t *testing.T, p *drivenProcess) {
	t.Helper()
	if _, err := p.ask("call EnumAdapters2 NumAdapters=1 pAdapters=@%040x", 0); err != nil {
		t.Fatal(err)
	}
	answer, err := p.ask("call EnumAdapters2 NumAdapters=1 pAdapters=@%x pAdapters@24=@0102 pAdapters@32=bad pAdapters@40=@%016x pAdapters@40@0=@",
		make([]byte, 50), 0)
	const want = " pAdapters@24=pAdapters@24+0 pAdapters@32=bad+0 pAdapters@40=pAdapters@40+0"
	if err != nil || !strings.HasSuffix(answer, strings.Repeat("00", 30)+want) {
		t.Errorf("answered %q, %v; want %q at its end", answer, err, want)
	}
}

// The driver can make every call of the table, with memory behind every pointer.
func TestDriverMakesEveryCall(t *testing.T) {
	d, err := newDaemon(WorldSpec{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := startDriver(buildDriver(t), d.address)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range DefaultTable().Calls {
		command := c.Name
		for _, f := range c.Pointers() {
			command += " " + f.Name + "=[" + someElement(f.Pointer) + "]"
		}
		if _, err := p.Call(frameOf(t, command)); err != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
	if err := errors.Join(p.Exit(), d.close()); err != nil {
		t.Error(err)
	}
}

// someElement writes an element, with memory behind its pointers.
func someElement(p *Pointer) string {
	if p.Record == nil {
		return "0"
	}
	var members []string
	for _, m := range p.Record.Pointers() {
		members = append(members, m.Name+"=["+someElement(m.Pointer)+"]")
	}
	return "{" + strings.Join(members, " ") + "}"
}

// A driver that does not come to the runner's daemon is another implementation's. Here
// it is ours, sent elsewhere.
func TestForeignDriver(t *testing.T) {
	spec, err := (&Scenario{}).world()
	if err != nil {
		t.Fatal(err)
	}
	other, err := newDaemon(spec)
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "driver")
	text := fmt.Sprintf("#!/bin/sh\nDXGSYNC_SOCKET=%s exec %s\n", other.address, buildDriver(t))
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	c := load(t)
	some, err := c.Select([]string{"wait/blocks", "wait/cross-process", "process/killed-creator", "destroy/sets-event"})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range some {
		if res := c.Run(s, C{Driver: script}); res.Verdict != Passed {
			t.Error(res.Detail)
		}
	}
	some, err = c.Select([]string{"periodic/value", "kmd/signal"})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range some {
		if res := c.Run(s, C{Driver: script}); res.Verdict != Skipped || !strings.Contains(res.Detail, "another implementation's clock") {
			t.Errorf("%s: %s %s", s.Path, res.Verdict, res.Detail)
		}
	}
	if err := other.close(); err != nil {
		t.Error(err)
	}
}
