package wait

import (
	"runtime"
	"testing"
)

// passes counts how many waits go by before one spins again, up to most.
func passes(p *spinner, most int) int {
	for n := range most {
		if p.begin() {
			return n
		}
	}
	return most
}

// Failures in a row make spinning rare, and rarer up to a limit; one success makes it
// usual again.
func TestSpinner(t *testing.T) {
	p := &spinner{}
	if runtime.NumCPU() == 1 {
		if p.begin() {
			t.Error("spins, and there is nobody to wait for")
		}
		return
	}
	for failed := range spinTrust {
		if n := passes(p, 1); n != 0 {
			t.Fatalf("does not spin after %d failures", failed)
		}
		if p.begin() {
			t.Fatal("two spin at once")
		}
		p.end(false)
	}
	for _, want := range []int{spinPassed, 2 * spinPassed, 4 * spinPassed, 4 * spinPassed} {
		if n := passes(p, 8*spinPassed); n != want {
			t.Errorf("%d waits go by, want %d", n, want)
		}
		p.end(false)
	}
	p.found() // by the first looks
	for range 2 {
		if n := passes(p, 1); n != 0 {
			t.Error("does not spin after a success")
		}
		p.end(true)
	}
}
