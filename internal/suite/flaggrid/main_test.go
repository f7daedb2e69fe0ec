package main

import (
	"math/bits"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

const corpus = "../../../conformance"

func load(t *testing.T) []*kind {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(corpus, "flags.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	kinds, err := readTable(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return kinds
}

func TestScenariosAreUpToDate(t *testing.T) {
	files, err := generate(corpus)
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range files {
		if old, err := os.ReadFile(path); err != nil || string(old) != text {
			t.Errorf("%s is stale: go generate ./internal/suite/flaggrid (%v)", path, err)
		}
	}
	there, err := filepath.Glob(filepath.Join(corpus, "flags", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range there {
		if files[path] == "" {
			t.Errorf("%s comes from no line of flags.tsv", path)
		}
	}
}

// The column "alone" was written by hand beside the others, and agrees with them.
func TestAloneAgreesWithTheRest(t *testing.T) {
	for _, k := range load(t) {
		check := func(what string, r *row, flags uint32) {
			version := min(r.first, len(versions)-1)
			want := "STATUS_INVALID_PARAMETER"
			if k.accepts(flags, version) {
				want = "STATUS_SUCCESS"
			}
			if r.alone != want {
				t.Errorf("%s, %s: alone is %s, the rest says %s", k.name, what, r.alone, want)
			}
		}
		check("none", &k.none, 0)
		for bit := range k.bits {
			check(list([]int{bit}, false), &k.bits[bit], 1<<bit)
		}
	}
}

// The table by hand and the rules of package abi were written apart from each other,
// and agree about every three bits.
func TestTableAgreesWithTheRules(t *testing.T) {
	numbers := map[string]abi.WDDM{"1.1": 1105}
	for _, k := range load(t) {
		var typ abi.SyncObjectType
		for _, e := range abi.Enums {
			for _, v := range e.Values {
				if e.Name == "D3DDDI_SYNCHRONIZATIONOBJECT_TYPE" && strings.TrimPrefix(v.Name, "SYNCHRONIZATION_") == k.name {
					typ = abi.SyncObjectType(v.Value)
				}
			}
		}
		if k.call() != byKind {
			typ = abi.NativeFence
		}
		if typ == 0 {
			t.Fatalf("%s is no kind", k.name)
		}
		for i, name := range versions {
			w := numbers[name]
			if w == 0 {
				w = abi.WDDM(name[0]-'0')*1000 + abi.WDDM(name[2]-'0')*100
			}
			for flags := range uint32(1 << 13) {
				if bits.OnesCount32(flags) > 3 {
					continue
				}
				flags = flags&0xFFF | flags>>12<<31
				check := abi.CheckCreateFlags
				if k.call() != byKind {
					check = checkNative[k.name]
				}
				if got := check(typ, abi.SyncObjectFlags(flags), w); got.OK() != k.accepts(flags, i) {
					t.Errorf("%s at WDDM %s with %#x: the rules say %s", k.name, name, flags, got.Name())
				}
			}
		}
	}
}

// checkNative is what the calls of native fences check, where they are supported.
var checkNative = map[string]func(abi.SyncObjectType, abi.SyncObjectFlags, abi.WDDM) abi.Status{
	createNative: func(typ abi.SyncObjectType, flags abi.SyncObjectFlags, w abi.WDDM) abi.Status {
		if _, ok := abi.SyncObjectFlagRules.Check(uint32(flags), typ, w); !ok {
			return abi.StatusInvalidParameter
		}
		return supported(typ, w)
	},
	openNative: func(typ abi.SyncObjectType, flags abi.SyncObjectFlags, w abi.WDDM) abi.Status {
		if st := abi.CheckOpenFlags(typ, flags, w); !st.OK() {
			return st
		}
		return supported(typ, w)
	},
}

func supported(typ abi.SyncObjectType, w abi.WDDM) abi.Status {
	if w < typ.First() {
		return abi.StatusNotSupported
	}
	return abi.StatusSuccess
}

// Every scenario shows something that the one before it does not.
func TestLevels(t *testing.T) {
	want := map[string]string{
		"MUTEX": "1.1 1.2 1.3 3.2", "SEMAPHORE": "1.1 1.2 1.3 3.2", "FENCE": "1.1 1.2 1.3 3.2",
		"CPU_NOTIFICATION": "1.1 3.0 3.2", "MONITORED_FENCE": "1.1 2.0 3.1 3.2",
		"PERIODIC_MONITORED_FENCE": "1.1 2.2 3.2", "NATIVE_FENCE": "1.1 3.2",
		createNative: "1.1 3.2", openNative: "1.1 3.2",
	}
	for _, k := range load(t) {
		var names []string
		for _, v := range k.levels() {
			names = append(names, versions[v])
		}
		if got := strings.Join(names, " "); got != want[k.name] {
			t.Errorf("%s: %s, want %s", k.name, got, want[k.name])
		}
		delete(want, k.name)
	}
	if len(want) > 0 {
		t.Errorf("the table says nothing of %v", want)
	}
}

func TestTablesThatAreWrong(t *testing.T) {
	whole := "K\tnone\t1.1\t-\t-\t-\tSTATUS_SUCCESS\t-\tchoice\nK\t0-31\t-\t-\t-\t-\tSTATUS_INVALID_PARAMETER\t-\tchoice\n"
	if _, err := readTable(whole); err != nil {
		t.Fatal(err)
	}
	for want, text := range map[string]string{
		"line 1: 2 columns, not 9":                               "K\tnone\n",
		`line 1: "4.0" is no version`:                            strings.Replace(whole, "1.1", "4.0", 1),
		`line 2: "0-32" is neither a bit, bits, none nor before`: strings.Replace(whole, "0-31", "0-32", 1),
		"line 3: K: 0 has two lines":                             whole + strings.Replace(whole[strings.Index(whole, "\n")+1:], "0-31", "0", 1),
		"line 3: K: none has two lines":                          whole + whole[:strings.Index(whole, "\n")],
		"K: nothing is said of bit 31":                           strings.Replace(whole, "0-31", "0-30", 1),
		"K: nothing is said of no flags":                         whole[strings.Index(whole, "\n")+1:],
		`line 2: "32" is no bit`:                                 strings.Replace(whole, "0-31\t-\t-\t-", "0-31\t-\t-\t32", 1),
	} {
		if _, err := readTable(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
