package host

import (
	"errors"
	"math"
	"os"
	"testing"
	"time"
)

func TestAlarm(t *testing.T) {
	a, err := NewAlarm()
	if err != nil {
		t.Fatal(err)
	}
	rung := make(chan error)
	go func() {
		for {
			err := a.Wait()
			rung <- err
			if err != nil {
				return
			}
		}
	}()
	quiet := func(what string) {
		t.Helper()
		select {
		case err := <-rung:
			t.Fatalf("%s: it went off: %v", what, err)
		default:
		}
	}
	quiet("not set")
	for _, d := range []time.Duration{0, -1, math.MinInt64, 1, time.Millisecond} {
		begin := time.Now()
		a.Set(d)
		if err := <-rung; err != nil {
			t.Fatalf("Set(%v): %v", d, err)
		}
		if took := time.Since(begin); took < d {
			t.Errorf("Set(%v): it went off after %v", d, took)
		}
	}
	// The newest counts; a cleared one is silent.
	a.Set(math.MaxInt64)
	a.Set(time.Hour)
	a.Set(0)
	if err := <-rung; err != nil {
		t.Fatal(err)
	}
	quiet("went off once")
	a.Set(time.Hour)
	a.Clear()
	quiet("cleared")
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-rung; !errors.Is(err, os.ErrClosed) {
		t.Errorf("a wait of a closed alarm: %v", err)
	}
	a.Set(0) // harmless
	a.Clear()
	if err := a.Wait(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a closed alarm: %v", err)
	}
}
