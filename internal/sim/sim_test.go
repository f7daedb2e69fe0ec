package sim

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dxgsync/dxgsync/internal/adapter"
)

func number(t *testing.T, name string, otherwise uint64) uint64 {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

func profiles(t *testing.T) []*adapter.Profile {
	list, err := Profiles()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Random programs: the kernel does what the model does.
func TestAgainstModel(t *testing.T) {
	list := profiles(t)
	steps := int(number(t, "DXGSYNC_SIM_STEPS", 60))
	first, n := uint64(1), number(t, "DXGSYNC_SIM_PROGRAMS", programs)
	if seed := number(t, "DXGSYNC_SIM_SEED", 0); seed != 0 {
		first, n = seed, 1
	}
	for seed := first; seed < first+n; seed++ {
		p := New(seed, steps)
		if p.Run(list).Err() == "" {
			continue
		}
		w := p.Shrink(list).Run(list)
		t.Fatalf("DXGSYNC_SIM_SEED=%d: %s\n%s", seed, w.Err(), w)
	}
}

// The same program twice does the same in the same order.
func TestSameTwice(t *testing.T) {
	list := profiles(t)
	for seed := range uint64(programs / 20) {
		p := New(seed, 60)
		if a, b := p.Trace(list), p.Trace(list); !slices.Equal(a, b) {
			t.Fatalf("seed %d:\n%s\n\nand\n%s", seed, strings.Join(a, "\n"), strings.Join(b, "\n"))
		}
	}
}
