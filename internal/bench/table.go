package bench

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// A Row is a target with what was measured.
type Row struct {
	Target
	Value    float64 `json:"value"`
	Floor    float64 `json:"reference_value"`
	Ratio    float64 `json:"ratio"`
	Unit     string  `json:"unit"`
	Met      bool    `json:"met"`
	Measured bool    `json:"measured"` // false: the reference is a peer that is not here
}

// Rows are the targets whose metric was measured.
func (r Results) Rows() []Row {
	var rows []Row
	for _, t := range Targets() {
		v, ok := r.Median(t.Metric)
		if !ok {
			continue
		}
		row := Row{Target: t, Value: v, Unit: unit(t.Metric)}
		if ratio, ok := r.Ratio(t.Metric, t.Reference); ok {
			row.Floor, _ = r.Median(t.Reference)
			row.Ratio, row.Met, row.Measured = ratio, ratio <= t.Max, true
		}
		rows = append(rows, row)
	}
	return rows
}

func unit(metric string) string {
	switch {
	case strings.Contains(metric, "interrupts"):
		return "interrupts"
	case strings.Contains(metric, "memory") || strings.Contains(metric, "rss"):
		return "bytes"
	case strings.Contains(metric, "million"):
		return "ms"
	}
	return "ns"
}

// WriteTSV writes every metric, "name value unit" a line.
func (r Results) WriteTSV(w io.Writer) error {
	for _, name := range slices.Sorted(maps.Keys(r)) {
		v, _ := r.Median(name)
		if _, err := fmt.Fprintf(w, "%s\t%.5g\t%s\n", name, v, unit(name)); err != nil {
			return err
		}
	}
	return nil
}

// WriteTable writes the targets as a table: those measured against a floor here,
// then the C library's own figures, then one line on the peers that are not here.
func (r Results) WriteTable(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "operation\tmeasured\tfloor\tratio\ttarget\t")
	absent := 0
	for _, row := range r.Rows() {
		if !row.Measured {
			absent++
			continue
		}
		verdict := "ok"
		if !row.Met {
			verdict = "MISSED"
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%.3g\t≤ %.3g\t%s\n", row.Operation, amount(row.Value, row.Unit), amount(row.Floor, row.Unit), row.Ratio, row.Max, verdict)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	var library []string
	for name := range r {
		if strings.HasPrefix(name, "L.") {
			library = append(library, name)
		}
	}
	if len(library) > 0 {
		slices.SortFunc(library, cmp.Compare)
		fmt.Fprintln(w, "\nthe C library")
		tw = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, name := range library {
			v, _ := r.Median(name)
			fmt.Fprintf(tw, "%s\t%s\t\n", strings.TrimPrefix(name, "L."), amount(v, "ns"))
		}
		if err := tw.Flush(); err != nil {
			return err
		}
	}
	if absent == 0 {
		return nil
	}
	_, err := fmt.Fprintf(w, "\n%d targets compare with programs that are not measured here (Vulkan drivers, Wine); targets.tsv names them.\n", absent)
	return err
}

// amount writes a value with a unit that a person can compare.
func amount(v float64, unit string) string {
	switch {
	case unit == "interrupts":
		return fmt.Sprintf("%.0f", v)
	case unit == "bytes":
		return fmt.Sprintf("%.0f B", v)
	case unit == "ms":
		return fmt.Sprintf("%.1f ms", v)
	case v >= 100_000:
		return fmt.Sprintf("%.0f µs", v/1000)
	case v >= 1000:
		return fmt.Sprintf("%.1f µs", v/1000)
	}
	return fmt.Sprintf("%.3g ns", v)
}
