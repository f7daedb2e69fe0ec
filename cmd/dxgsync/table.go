package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"
)

// A table prints rows with their columns lined up.
type table struct{ w *tabwriter.Writer }

func newTable(w io.Writer, titles ...string) *table {
	t := &table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)}
	if len(titles) > 0 {
		fmt.Fprintln(t.w, strings.Join(titles, "\t"))
	}
	return t
}

func (t *table) row(cells ...any) {
	words := make([]string, len(cells))
	for i, c := range cells {
		words[i] = strings.Map(printable, fmt.Sprint(c))
	}
	fmt.Fprintln(t.w, strings.Join(words, "\t"))
}

func (t *table) flush() error { return t.w.Flush() }

// printable keeps names that others chose from moving the cursor.
func printable(r rune) rune {
	if unicode.IsPrint(r) {
		return r
	}
	return '?'
}

// age writes a duration in nanoseconds with two figures that matter: 1.2ms, 35s,
// 4m10s.
func age(ns int64) string {
	d := time.Duration(ns)
	switch {
	case d >= time.Minute:
		return d.Round(time.Second).String()
	case d >= 10*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	default:
		return d.Round(time.Microsecond).String()
	}
}
