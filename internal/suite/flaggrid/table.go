package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// versions are those that some kind or flag begins or ends with, and some between.
var versions = []string{"1.1", "1.2", "1.3", "2.0", "2.1", "2.2", "2.6", "2.9", "3.0", "3.1", "3.2"}

// A kind is a kind of object with what becomes of each bit.
type kind struct {
	name string
	// before is what holds at versions without the kind, none what does without flags.
	before, none row
	bits         [32]row
}

// What makes an object of a kind. Native fences have calls of their own, which the table
// has as kinds.
const (
	byKind       = "CreateSynchronizationObject2"
	createNative = "CREATE_NATIVE_FENCE"
	openNative   = "OPEN_NATIVE_FENCE"
)

func (k *kind) call() string {
	switch k.name {
	case createNative:
		return "CreateNativeFence"
	case openNative:
		return "OpenNativeFenceFromNtHandle"
	}
	return byKind
}

// A row is a line of the table. first and last are indices of versions; a row that is
// never accepted begins behind the last.
type row struct {
	first, last     int
	needs, excludes uint32
	alone           string
	rules           []string
	source          string
}

// readTable reads conformance/flags.tsv. The error names the line.
func readTable(text string) ([]*kind, error) {
	var kinds []*kind
	seen := map[string]bool{}
	for i, line := range strings.Split(text, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		words := strings.Split(line, "\t")
		if len(words) != 9 {
			return nil, fmt.Errorf("line %d: %d columns, not 9", i+1, len(words))
		}
		if len(kinds) == 0 || kinds[len(kinds)-1].name != words[0] {
			kinds = append(kinds, &kind{name: words[0]})
		}
		if err := kinds[len(kinds)-1].add(words, seen); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	for _, k := range kinds {
		for bit := range 32 {
			if !seen[k.name+strconv.Itoa(bit)] {
				return nil, fmt.Errorf("%s: nothing is said of bit %d", k.name, bit)
			}
		}
		if !seen[k.name+"none"] {
			return nil, fmt.Errorf("%s: nothing is said of no flags", k.name)
		}
	}
	return kinds, nil
}

func (k *kind) add(words []string, seen map[string]bool) error {
	r := row{first: len(versions), last: len(versions) - 1, alone: words[6], source: words[8]}
	var err error
	if words[2] != "-" {
		if r.first = slices.Index(versions, words[2]); r.first < 0 {
			return fmt.Errorf("%q is no version", words[2])
		}
	}
	if words[3] != "-" {
		if r.last = slices.Index(versions, words[3]); r.last < 0 {
			return fmt.Errorf("%q is no version", words[3])
		}
	}
	if r.needs, err = bitList(words[4]); err != nil {
		return err
	}
	if r.excludes, err = bitList(words[5]); err != nil {
		return err
	}
	if words[7] != "-" {
		r.rules = strings.Split(words[7], "; ")
	}
	switch words[1] {
	case "before":
		k.before = r
		return k.once("before", seen)
	case "none":
		k.none = r
		return k.once("none", seen)
	}
	from, to, isRange := strings.Cut(words[1], "-")
	if !isRange {
		to = from
	}
	low, err := strconv.Atoi(from)
	high, err2 := strconv.Atoi(to)
	if err != nil || err2 != nil || low < 0 || high > 31 || low > high {
		return fmt.Errorf("%q is neither a bit, bits, none nor before", words[1])
	}
	for bit := low; bit <= high; bit++ {
		if err := k.once(strconv.Itoa(bit), seen); err != nil {
			return err
		}
		k.bits[bit] = r
	}
	return nil
}

func (k *kind) once(what string, seen map[string]bool) error {
	if seen[k.name+what] {
		return fmt.Errorf("%s: %s has two lines", k.name, what)
	}
	seen[k.name+what] = true
	return nil
}

func bitList(text string) (uint32, error) {
	var v uint32
	if text == "-" {
		return 0, nil
	}
	for _, word := range strings.Split(text, ",") {
		bit, err := strconv.ParseUint(word, 10, 5)
		if err != nil {
			return 0, fmt.Errorf("%q is no bit", word)
		}
		v |= 1 << bit
	}
	return v, nil
}

func (r *row) at(version int) bool { return version >= r.first && version <= r.last }

// accepts reports whether flags are accepted at a version.
func (k *kind) accepts(flags uint32, version int) bool {
	if !k.none.at(version) {
		return false
	}
	for bit := range k.bits {
		if r := &k.bits[bit]; flags&(1<<bit) != 0 && (!r.at(version) || flags&r.needs != r.needs || flags&r.excludes != 0) {
			return false
		}
	}
	return true
}

// words are what a scenario creates with: no flag, each alone, and what programs use
// or rules are about.
func words() []uint32 {
	all := []uint32{0}
	for bit := range 32 {
		all = append(all, 1<<bit)
	}
	return append(all, 0x3, 0x5, 0x7, 0x30, 0x81, 0x83, 0x88, 0x483)
}

// levels are the versions that a scenario is made for: the first, every one that
// differs from the one before it, and the newest.
func (k *kind) levels() []int {
	var some []int
	for v := range versions {
		differs := slices.ContainsFunc(words(), func(w uint32) bool { return v > 0 && k.accepts(w, v) != k.accepts(w, v-1) })
		if v == 0 || differs || v == len(versions)-1 {
			some = append(some, v)
		}
	}
	return some
}
