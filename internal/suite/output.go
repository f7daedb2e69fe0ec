package suite

import (
	"fmt"
	"math"
	"strings"
)

// An Outcome is the output of a step: a first word or none, then named values.
type Outcome struct {
	Head    string
	Changes []Change
}

// vocabulary is what a process calls its values, in the order they got their names.
type vocabulary struct {
	names  []string
	values map[string]uint64
}

func (v *vocabulary) bind(name string, value uint64) {
	if v.values == nil {
		v.values = map[string]uint64{}
	}
	v.names = append(v.names, name)
	v.values[name] = value
}

// nameOf finds a variable that has the value.
func (v *vocabulary) nameOf(value uint64) (string, bool) {
	for _, n := range v.names {
		if v.values[n] == value {
			return n, true
		}
	}
	return "", false
}

// shortNames are the variables for what calls answer, by the last part of the field's
// name, where they are not called like the field.
var shortNames = map[string]string{
	"hAdapter": "adapter", "hDevice": "device", "hContext": "context", "hSyncObject": "fence",
	"FenceValueCPUVirtualAddress": "page", "FenceValueGPUVirtualAddress": "gpu",
	"pSharedNtHandle": "nt", "hNtHandle": "nt", "AdapterLuid": "luid",
	"hAllocation": "allocation", "hResource": "resource", "hKeyedMutex": "mutex",
	"hHwQueue": "queue", "hHwQueueProgressFence": "progress", "hPagingQueue": "paging",
	"HwQueueProgressFenceCPUVirtualAddress": "page", "HwQueueProgressFenceGPUVirtualAddress": "gpu",
	"VirtualAddress": "gpu", "pData": "cpu", "hSyncFile": "file",
	"hGlobalShare": "share", "hSharedHandle": "share", "SharedHandle": "share",
}

// fresh is a name that is not taken yet, for a value that a call answered as field.
func (v *vocabulary) fresh(field string) string {
	field, _, _ = strings.Cut(field[strings.LastIndexByte(field, '.')+1:], "[")
	name := shortNames[field]
	if name == "" {
		name = field
	}
	for i := 2; ; i++ {
		if _, taken := v.values[name]; !taken {
			return name
		}
		name = fmt.Sprintf("%s%d", strings.TrimRight(name, "0123456789"), i)
	}
}

// variable reports whether values shown so are written as variables.
func variable(shown string) bool {
	return shown == "handle" || shown == "address" || shown == "file"
}

// match compares an outcome with the output that a step wants. It binds variables
// that have no value yet and returns the output as the file would have it: what
// matches stays as it is written, the rest is what was seen.
func (t *Table) match(step *Step, got *Outcome, words *vocabulary, lookup vars) (text string, ok bool) {
	head, wanted := wants(step.Want)
	parts := []string{}
	ok = head == got.Head
	if got.Head != "" {
		parts = append(parts, got.Head)
	}
	for _, c := range got.Changes {
		pattern, listed := wanted[c.Name]
		delete(wanted, c.Name)
		if listed && t.fits(pattern, &c, words, lookup) {
			parts = append(parts, c.Name+"="+pattern)
			continue
		}
		ok = false
		parts = append(parts, c.Name+"="+t.show(&c, words))
	}
	return strings.Join(parts, " "), ok && len(wanted) == 0
}

// wants splits wanted output into its first word and its named values.
func wants(text string) (head string, named map[string]string) {
	named = map[string]string{}
	for i, w := range strings.Fields(text) {
		name, value, ok := strings.Cut(w, "=")
		if !ok && i == 0 {
			head = w
		} else {
			named[name] = value
		}
	}
	return head, named
}

// fits reports whether a value is what the pattern says, and binds a variable that
// has no value yet, which must not become 0.
func (t *Table) fits(pattern string, c *Change, words *vocabulary, lookup vars) bool {
	if c.Text != "" {
		return pattern == c.Text
	}
	v, err := ParseValue(pattern)
	if err != nil {
		return false
	}
	if v.Form == Variable && isName(v.Name) {
		if _, bound := words.values[v.Name]; !bound {
			words.bind(v.Name, c.Value)
			return c.Value != 0
		}
	}
	n, err := v.eval(lookup, t.sets[c.Shown])
	return err == nil && n == c.Value
}

// show writes a value, with a variable where one has it or should.
func (t *Table) show(c *Change, words *vocabulary) string {
	set := t.sets[c.Shown]
	switch {
	case c.Text != "":
		return c.Text
	case set != nil:
		return set.String(c.Value)
	case c.Value == math.MaxUint64:
		return "MAX"
	case c.Shown == "dec":
		return fmt.Sprint(c.Value)
	case variable(c.Shown) && c.Value != 0:
		name, ok := words.nameOf(c.Value)
		if !ok {
			name = words.fresh(c.Name)
			words.bind(name, c.Value)
		}
		return "$" + name
	}
	return fmt.Sprintf("%#x", c.Value)
}

// plain writes a number that belongs to no field.
func plain(n uint64) string {
	switch {
	case n == math.MaxUint64:
		return "MAX"
	case n < 1<<16:
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%#x", n)
}
