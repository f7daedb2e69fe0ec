package suite

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

var format = flag.Bool("format", false, "rewrite the scenarios with their outputs wrapped as they should be")

// The embedded corpus is the one in the source tree, whole.
func TestEmbedded(t *testing.T) {
	c, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(c.Scenarios), len(load(t).Scenarios); got != want || got < 200 {
		t.Fatalf("%d scenarios are embedded, %d in the folder", got, want)
	}
	for _, s := range c.Scenarios {
		if strings.Contains(s.Path, "given/") {
			t.Errorf("%s is a beginning, not a scenario", s.Path)
		}
	}
}

func TestFormatted(t *testing.T) {
	c := load(t)
	all := c.Scenarios
	for _, s := range c.Given {
		all = append(all, s)
	}
	titles := map[string]string{}
	for _, s := range all {
		wants := make([]string, len(s.Steps))
		for i, step := range s.Steps {
			wants[i] = step.Want
		}
		text, err := s.Rewrite(wants)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(corpusFolder, s.Path)
		if *format {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		old, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if string(old) != text {
			t.Errorf("%s is not formatted: go test ./internal/suite -run Formatted -format", s.Path)
		}
		for i, line := range strings.Split(text, "\n") {
			if len([]rune(line)) > 130 {
				t.Errorf("%s:%d: line has more than 130 characters", s.Path, i+1)
			}
		}
		if other := titles[s.Title]; other != "" {
			t.Errorf("%s and %s have the same title", s.Path, other)
		}
		titles[s.Title] = s.Path
	}
}

// Every beginning is used, and each is right by itself.
func TestGiven(t *testing.T) {
	c := load(t)
	used := map[string]bool{}
	for _, s := range c.Scenarios {
		for _, step := range s.Steps {
			if step.Verb == "uses" {
				used[step.Args[0].Value.Name] = true
			}
		}
	}
	for name, s := range c.Given {
		if !used[name] {
			t.Errorf("nothing uses %s", s.Path)
		}
		if res := c.Run(s, InProcess{}); res.Verdict != Passed {
			t.Error(res.Detail)
		}
	}
}

// notSent are pointers that no request carries: what they lead to is not looked at.
var notSent = map[string]string{
	"QueryResourceInfo":             "pPrivateRuntimeData", // only the size is answered
	"QueryResourceInfoFromNtHandle": "pPrivateRuntimeData",
	"OpenKeyedMutexFromNtHandle":    "pPrivateRuntimeData", // never succeeds
}

// The corpus has its own table of records, so that it can find a mistake in
// package abi. Both agree about sizes and about where the descriptors are.
func TestTableAgreesWithOperations(t *testing.T) {
	for _, c := range DefaultTable().Calls {
		op := opOf(c)
		if name, known := rows[c.Name]; known && name == "" {
			continue
		}
		if op == nil {
			t.Errorf("abi has no operation %s", c.Name)
			continue
		}
		if op.Record != c.CName || op.Size != c.Size {
			t.Errorf("%s: abi has %s of %d bytes, the corpus %s of %d", c.Name, op.Record, op.Size, c.CName, c.Size)
		}
		for _, f := range op.Files {
			if f.Array < 0 && f.Kind != abi.FileMemory && fieldAt(&c.Record, int(f.Off)) != nil && !slices.ContainsFunc(c.Fields, func(field *Field) bool {
				return field.Offset == int(f.Off) && field.Shown == "file"
			}) {
				t.Errorf("%s: abi has a descriptor at %#x", c.Name, f.Off)
			}
		}
		for _, f := range c.Pointers() {
			if notSent[c.Name] == f.Name {
				continue
			}
			found := false
			for i := range op.Arrays {
				a := &op.Arrays[i]
				if int(a.Pointer) == f.Offset {
					found = found || int(a.Elem) == f.Pointer.Elem
				}
			}
			if !found {
				t.Errorf("%s: abi has no array of %d-byte elements at %s", c.Name, f.Pointer.Elem, f.Name)
			}
		}
	}
}

func fieldAt(r *Record, offset int) *Field {
	for _, f := range r.Fields {
		if f.Offset == offset {
			return f
		}
	}
	return nil
}

func TestCTable(t *testing.T) {
	const file = "../../c/driver/table.h"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != DefaultTable().CTable() {
		t.Errorf("%s is stale: go generate ./internal/suite", file)
	}
}

// Every call of the table that is supported has scenarios, and every scenario makes calls.
func TestEveryCallIsCovered(t *testing.T) {
	c := load(t)
	made := map[string]int{}
	for _, s := range c.Scenarios {
		calls := 0
		for _, step := range s.Steps {
			if c.Table.Call(step.Verb) != nil {
				made[step.Verb]++
			}
			if c.Table.Call(step.Verb) != nil || step.Verb == "uses" {
				calls++
			}
		}
		if calls == 0 {
			t.Errorf("%s makes no call", s.Path)
		}
	}
	for _, call := range c.Table.Calls {
		if op := opOf(call); op != nil && op.Support == abi.Supported && made[call.Name] < 4 {
			t.Errorf("%s is called %d times in the whole corpus", call.Name, made[call.Name])
		}
	}
}

func TestCorpusHasOnlyScenarios(t *testing.T) {
	err := fs.WalkDir(os.DirFS(corpusFolder), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || notScenarios[name] || name == "embed.go" {
			return err
		}
		if filepath.Ext(name) != ".txt" || !strings.Contains(name, "/") {
			t.Errorf("%s is no scenario in a folder", name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
