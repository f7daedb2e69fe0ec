package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// runConform runs the command with arguments and returns what it printed.
func runConform(args ...string) (string, error) {
	cmd := conformCommand()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	err := cmd.Execute()
	return out.String(), err
}

func TestConformPrintsTable(t *testing.T) {
	out, err := runConform("--door", "inproc,socket", "handles", "signal/raise")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(out, "\n")
	if want := "FAMILY   SCENARIOS  inproc  socket"; lines[0] != want {
		t.Errorf("first line %q, want %q", lines[0], want)
	}
	if want := "signal   1          1       1"; lines[2] != want {
		t.Errorf("third line %q, want %q", lines[2], want)
	}
}

func TestConformJSON(t *testing.T) {
	out, err := runConform("--door", "inproc", "--json", "signal/raise")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got struct {
		Summary struct{ Scenarios int }
		Results []struct{ Path, Door, Verdict string }
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Summary.Scenarios != 1 || len(got.Results) != 1 || got.Results[0].Verdict != "pass" || got.Results[0].Path != "signal/raise.txt" {
		t.Errorf("got %+v", got)
	}
}

func TestConformList(t *testing.T) {
	out, err := runConform("--list", "signal/raise")
	if err != nil || !strings.Contains(out, "signal/raise") || strings.Count(out, "\n") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = runConform("--list", "--json", "signal/raise")
	var entries []scenarioEntry
	if err == nil {
		err = json.Unmarshal([]byte(out), &entries)
	}
	if err != nil || len(entries) != 1 || entries[0].Sources[0].Provenance != "measured" {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestConformFails(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "title: T\nrule: r\nsource: choice x\n\np1 EnumAdapters2\n    STATUS_SUCCESS NumAdapters=1\n"
	if err := os.WriteFile(filepath.Join(folder, "x", "y.txt"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := runConform("--corpus", folder, "--door", "inproc")
	var status exitStatus
	if !errors.As(err, &status) || status != 1 || !strings.Contains(out, "want STATUS_SUCCESS NumAdapters=1\n  got  STATUS_SUCCESS NumAdapters=34") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestConformRefuses(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--door window", `door "window" is none of`},
		{"nowhere", `no scenario fits "nowhere"`},
		{"--door c --driver /does/not/exist", "/does/not/exist"},
		{"--corpus /does/not/exist", "/does/not/exist"},
	} {
		if out, err := runConform(strings.Fields(c.args)...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q\n%s", c.args, err, c.want, out)
		}
	}
}
