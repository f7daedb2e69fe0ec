package docs

import (
	"fmt"
	"math/bits"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/decode"
)

// columns are the versions of the grid: every one that differs from the one before
// it, and the last of each row of equal ones.
var columns = []abi.WDDM{1105, 1200, 1300, 2000, 2100, 2200, 2600, 2900, 3000, 3100, 3200}

// The grid of flags says what the rules say.
func TestFlagsGrid(t *testing.T) { checkTable(t, "flags.md", flagsGrid(t)) }

// No version outside the grid differs from the column before it.
func TestColumnsAreEnough(t *testing.T) {
	for _, w := range decode.Versions {
		i := 0
		for i+1 < len(columns) && columns[i+1] <= w {
			i++
		}
		if w < columns[0] {
			continue // WDDM 1.0 has no flags
		}
		for _, k := range decode.Kinds {
			for bit := range 32 {
				if a, b := cell(k, bit, w, decode.AtCreate), cell(k, bit, columns[i], decode.AtCreate); a != b {
					t.Errorf("%v, bit %d: %q at WDDM %v, %q in the column %v", k, bit, a, w, b, columns[i])
				}
			}
		}
	}
}

func flagsGrid(t *testing.T) string {
	var b strings.Builder
	sections(&b, "##", func(k abi.SyncObjectType) string {
		call := "D3DKMTCreateSynchronizationObject2"
		if k == abi.NativeFence {
			call = "D3DKMTCreateNativeFence; D3DKMTCreateSynchronizationObject2 refuses the kind at every version"
		}
		return fmt.Sprintf("Since WDDM %v, by %s.\n\n", max(k.First(), columns[0]), call) + grid(k, decode.AtCreate) + pairs(k)
	})
	b.WriteString("\n## Opening from an NT handle\n\nThe flags say how the opening device may use the object.\n")
	sections(&b, "###", func(k abi.SyncObjectType) string {
		if _, err := decode.SyncObject(decode.Question{Kind: k, At: decode.AtOpen}); err != nil {
			return "Cannot be shared, so cannot be opened.\n"
		}
		return grid(k, decode.AtOpen)
	})
	if strings.Contains(b.String(), "?") {
		t.Error("the grid has a cell that no word was found for")
	}
	return b.String() + "\n"
}

// sections writes a section per kind; kinds with the same text share one.
func sections(b *strings.Builder, heading string, text func(abi.SyncObjectType) string) {
	names := map[string][]string{}
	var order []string
	for _, k := range decode.Kinds {
		s := text(k)
		if names[s] == nil {
			order = append(order, s)
		}
		names[s] = append(names[s], k.String())
	}
	for _, s := range order {
		fmt.Fprintf(b, "\n%s %s\n\n%s", heading, strings.Join(names[s], ", "), s)
	}
}

// grid writes a row per bit that is accepted somewhere, and one for all others.
func grid(k abi.SyncObjectType, at decode.Moment) string {
	var b strings.Builder
	from := max(k.First(), 1105)
	if at == decode.AtOpen {
		from = max(from, 1200)
	}
	some := slices.DeleteFunc(slices.Clone(columns), func(w abi.WDDM) bool { return w < from })
	head := "| bit | flag |"
	for _, w := range some {
		head += fmt.Sprintf(" %v |", w)
	}
	head += "\n|---|---|" + strings.Repeat("---|", len(some)) + "\n"
	never := map[string][]string{} // refused everywhere, by reason
	var reasons []string
	for bit := range 32 {
		cells := make([]string, len(some))
		for i, w := range some {
			cells[i] = cell(k, bit, w, at)
		}
		if !slices.ContainsFunc(cells, accepted) {
			reason := "kind" // what holds at every version, and is said where it is true
			if !slices.Contains(cells, reason) {
				reason = cells[len(cells)-1]
			}
			if never[reason] == nil {
				reasons = append(reasons, reason)
			}
			never[reason] = append(never[reason], flagName(bit))
			continue
		}
		b.WriteString(head)
		head = ""
		fmt.Fprintf(&b, "| %d | %s | %s |\n", bit, flagName(bit), strings.Join(cells, " | "))
	}
	if head != "" {
		b.WriteString("It takes no flags.\n")
	}
	for _, reason := range reasons {
		fmt.Fprintf(&b, "\nRefused at every version (**%s**): %s.\n", reason, strings.Join(shorten(never[reason]), ", "))
	}
	return b.String()
}

func accepted(cell string) bool {
	return cell == "yes" || cell == "ignored" || strings.HasPrefix(cell, "with ")
}

func flagName(bit int) string {
	for _, r := range abi.SyncObjectFlagRules.Rules {
		if int(r.Bit) == bit {
			return r.Name
		}
	}
	return fmt.Sprintf("bit %d", bit)
}

// shorten writes the reserved bits, of which there are many, as a range.
func shorten(names []string) []string {
	if i := slices.Index(names, "bit 11"); i >= 0 {
		return append(slices.Clone(names[:i]), "bits 11 to 31")
	}
	return names
}

// cell says what becomes of a bit: a word of the legend.
func cell(k abi.SyncObjectType, bit int, w abi.WDDM, at decode.Moment) string {
	if k.First() > w {
		return "no kind"
	}
	b, ok := ask(k, 1<<bit, w, at)
	switch {
	case b.State == decode.Ignored && ok:
		return "ignored"
	case ok:
		return "yes"
	}
	switch {
	case b.Since == "":
		return "reserved"
	case strings.Contains(b.Breaks, "does not have it yet"):
		return "new"
	case strings.Contains(b.Breaks, "no more"):
		return "gone"
	case strings.HasPrefix(b.Breaks, "it is not for"):
		return "kind"
	}
	need, found := strings.CutPrefix(b.Breaks, "it needs ")
	word := &decode.Words[0]
	v, err := word.Parse(need)
	if !found || err != nil {
		return "?"
	}
	if _, ok := ask(k, 1<<bit|v, w, at); !ok {
		return "new" // what it needs is not there yet
	}
	return "with " + list(need)
}

// ask explains a word and reports whether it is accepted. The answer is that of the
// call which makes or opens the kind.
func ask(k abi.SyncObjectType, v uint32, w abi.WDDM, at decode.Moment) (decode.Bit, bool) {
	f, err := decode.SyncObject(decode.Question{Value: v, Kind: k, WDDM: w, At: at})
	if err != nil {
		return decode.Bit{}, false
	}
	verdict := f.Verdicts[len(f.Verdicts)-1]
	for _, b := range f.Bits {
		if b.State == decode.Illegal {
			return b, verdict.Code.OK()
		}
	}
	if len(f.Bits) == 0 {
		return decode.Bit{}, verdict.Code.OK()
	}
	return f.Bits[bits.OnesCount32(v)-1], verdict.Code.OK()
}

// combinations are pairs and more that programs use, or that rules are about. Those
// with a bit that is not for the kind are left out of its table.
var combinations = []uint32{0x3, 0x5, 0x7, 0x30, 0x81, 0x83, 0x88, 0x483}

func pairs(k abi.SyncObjectType) string {
	var b strings.Builder
	head := "\n| together | accepted at WDDM | otherwise |\n|---|---|---|\n"
	for _, v := range combinations {
		f, err := decode.SyncObject(decode.Question{Value: v, Kind: k})
		if err != nil {
			panic(err) // a question of ours
		}
		if strings.Contains(f.Verdicts[0].Why, "it is not for") {
			continue // the grid says it
		}
		b.WriteString(head)
		head = ""
		fmt.Fprintf(&b, "| 0x%X %s | %s | %s |\n", v, list(f.Names), f.Verdicts[0].Versions, list(f.Verdicts[0].Why))
	}
	return b.String()
}

// list writes names of flags so that they fit into a table.
func list(names string) string {
	return strings.NewReplacer("|", " + ", "NtSecuritySharing", "Nt").Replace(names)
}

// checkTable compares the part of a document between the marks with what it should be.
func checkTable(t *testing.T, path, table string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s: the marks around the table are gone", path)
	}
	want := head + begin + table + end + tail
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Errorf("%s is stale: go test ./docs -update", path)
	}
}
