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

func TestConformReport(t *testing.T) {
	out, err := runConform("--report", "--list")
	if err != nil || !strings.Contains(out, "\n      create/type-zero\n") {
		t.Errorf("%v\n%.2000s", err, out)
	}
	out, err = runConform("--report", "--list", "--json")
	var cover struct {
		Total    struct{ Rules, Shown, Missing, Later, Apart int }
		Sections []struct {
			ID    string
			Rules []struct {
				ID        string
				Scenarios []string
			}
		}
		Missing []string
	}
	if err == nil {
		err = json.Unmarshal([]byte(out), &cover)
	}
	n := cover.Total
	if err != nil || n.Rules == 0 || n.Rules != n.Shown+n.Missing+n.Later+n.Apart || n.Missing != len(cover.Missing) {
		t.Fatalf("%v: %+v", err, n)
	}
	if s := cover.Sections[0]; s.ID != "objects/1" || s.Rules[0].ID != "objects/1-zero" || s.Rules[0].Scenarios[0] != "create/type-zero" {
		t.Errorf("first section is %+v", s)
	}
}

// corpusOf makes a corpus of one scenario that shows rule a/1-x, and rules.
func corpusOf(t *testing.T, want, rules string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "title: T\nrule: a/1-x\nsource: choice x\n\np1 EnumAdapters2\n    " + want + "\n"
	if err := os.WriteFile(filepath.Join(folder, "x", "y.txt"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "rules.txt"), []byte(rules), 0o644); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestConformReportStatus(t *testing.T) {
	const right, wrong = "STATUS_SUCCESS NumAdapters=34", "STATUS_SUCCESS NumAdapters=1"
	const shown = "section a/1 One\na/1-x\n    S.\n    source: choice x\n"
	const missing = shown + "a/1-y\n    U.\n    source: choice x\n    todo\n"
	for _, c := range []struct {
		want, rules, args string
		status            exitStatus
		out               string
	}{
		{right, shown, "", 0, "inproc 1: x/y"},
		{right, shown, "--strict", 0, "1 rules: 1 with"},
		{right, missing, "", 0, "Rules without a scenario:\n  a/1-y  U.\n"},
		{right, missing, "--strict", 1, "Rules without a scenario"},
		{right, "section b/1 B\n", "--strict", 1, "nobody lists:\n  a/1-x\n"},
		{wrong, shown, "", 1, "inproc 0, 1 failed: x/y"},
	} {
		args := append([]string{"--corpus", corpusOf(t, c.want, c.rules), "--door", "inproc", "--report"}, strings.Fields(c.args)...)
		out, err := runConform(args...)
		var status exitStatus
		if err != nil && !errors.As(err, &status) || status != c.status || !strings.Contains(out, c.out) {
			t.Errorf("%v: %v, want status %d and %q in\n%s", args, err, c.status, c.out, out)
		}
	}
}

func TestConformFails(t *testing.T) {
	folder := corpusOf(t, "STATUS_SUCCESS NumAdapters=1", "")
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
		{"--report signal", "give no PATH"},
		{"--strict", "goes with --report"},
		{"--corpus /does/not/exist", "/does/not/exist"},
	} {
		if out, err := runConform(strings.Fields(c.args)...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q\n%s", c.args, err, c.want, out)
		}
	}
}
