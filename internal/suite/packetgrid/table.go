package main

import (
	"fmt"
	"slices"
	"strings"
)

// A row is an operation: what becomes of it with each kind of object.
type row struct {
	call   string
	result []string // statuses, one per kind
	source string
}

// statuses are what the letters of the table stand for.
var statuses = map[string]string{"S": "STATUS_SUCCESS", "P": "STATUS_INVALID_PARAMETER", "A": "STATUS_ACCESS_DENIED"}

// readTable reads the kinds, which the first line names, and the operations. The error
// names the line.
func readTable(text string) (kinds []string, rows []*row, err error) {
	for i, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		cells := strings.Split(line, "\t")
		if kinds == nil {
			if len(cells) < 3 || cells[0] != "call" || cells[len(cells)-1] != "source" {
				return nil, nil, fmt.Errorf("line %d: not a call, kinds and a source", i+1)
			}
			kinds = cells[1 : len(cells)-1]
			for _, k := range kinds {
				if objects[k] == "" {
					return nil, nil, fmt.Errorf("line %d: %q is no kind", i+1, k)
				}
			}
			continue
		}
		if len(cells) != len(kinds)+2 {
			return nil, nil, fmt.Errorf("line %d: %d columns, not %d", i+1, len(cells), len(kinds)+2)
		}
		r := &row{call: cells[0], source: cells[len(cells)-1]}
		if arguments[r.call] == nil {
			return nil, nil, fmt.Errorf("line %d: %q is no operation", i+1, r.call)
		}
		if slices.ContainsFunc(rows, func(o *row) bool { return o.call == r.call }) {
			return nil, nil, fmt.Errorf("line %d: %s has two lines", i+1, r.call)
		}
		for _, cell := range cells[1 : len(cells)-1] {
			st, ok := statuses[cell]
			if !ok {
				return nil, nil, fmt.Errorf("line %d: %q is neither S, P nor A", i+1, cell)
			}
			r.result = append(r.result, st)
		}
		rows = append(rows, r)
	}
	return kinds, rows, nil
}
