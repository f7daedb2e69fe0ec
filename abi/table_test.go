package abi

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// layout is a record as a compiler sees it.
type layout struct {
	name        string
	size, align int
	fields      []field
}

type field struct {
	name         string
	offset, size int
	kind         string
	bit, width   int
}

// table reads a file of testdata: lines of fields, comments left out.
func table(t *testing.T, name string) [][]string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimRight(line, "\n"); line != "" && line[0] != '#' {
			rows = append(rows, strings.Split(line, "\t"))
		}
	}
	return rows
}

func number(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.ParseInt(text, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}

func layouts(t *testing.T, bits string) []layout {
	t.Helper()
	var all []layout
	for _, r := range table(t, "layouts-linux"+bits+".tsv") {
		if r[0] != "" {
			all = append(all, layout{name: r[0], size: number(t, r[1]), align: number(t, r[2])})
			continue
		}
		f := field{name: r[1], offset: number(t, r[2]), size: number(t, r[3]), kind: r[4]}
		if f.kind == "bitfield" {
			f.bit, f.width = number(t, r[5]), number(t, r[6])
		}
		l := &all[len(all)-1]
		l.fields = append(l.fields, f)
	}
	return all
}
