package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const corpus = "../../../conformance"

func TestScenariosAreUpToDate(t *testing.T) {
	files, err := generate(corpus)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(arguments) {
		t.Errorf("%d operations in the table, %d are known", len(files), len(arguments))
	}
	for path, text := range files {
		if old, err := os.ReadFile(path); err != nil || string(old) != text {
			t.Errorf("%s is stale: go generate ./internal/suite/packetgrid (%v)", path, err)
		}
	}
	there, err := filepath.Glob(filepath.Join(corpus, "operations", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range there {
		if files[path] == "" {
			t.Errorf("%s comes from no line of packets.tsv", path)
		}
	}
}

func TestTablesThatAreWrong(t *testing.T) {
	const head = "call\tmutex\tfence\tsource\n"
	const line = "WaitForSynchronizationObject2\tS\tP\tchoice\n"
	if _, rows, err := readTable("# comment\n" + head + line); err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	for want, text := range map[string]string{
		"line 1: not a call, kinds and a source":              "call\tsource\n",
		`line 1: "door" is no kind`:                           strings.Replace(head, "mutex", "door", 1),
		"line 2: 3 columns, not 4":                            head + "WaitForSynchronizationObject2\tS\tchoice\n",
		`line 2: "Sing" is no operation`:                      head + "Sing\tS\tP\tchoice\n",
		"line 3: WaitForSynchronizationObject2 has two lines": head + line + line,
		`line 2: "X" is neither S, P nor A`:                   head + strings.Replace(line, "P", "X", 1),
	} {
		if _, _, err := readTable(text); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
