package explore

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Two threads that add 1 in two steps: the sum can be 2 and 1, and every order is met.
func TestEveryOrder(t *testing.T) {
	sums := map[int]int{}
	stats, err := All(func(r *Run) {
		sum := 0
		for _, name := range []string{"a", "b"} {
			r.Go(name, func() {
				r.Yield("read")
				v := sum
				r.Yield("write", v)
				sum = v + 1
			})
		}
		r.Shared(func() string { return fmt.Sprint(sum) })
		r.End(func() error { sums[sum]++; return nil })
	})
	if err != nil || sums[1] == 0 || sums[2] == 0 || stats.Runs < 6 {
		t.Errorf("%v, sums %v, %+v", err, sums, stats)
	}
}

// Without merging there are as many orders as there are ways to merge the steps.
func TestCountOfOrders(t *testing.T) {
	runs := 0
	stats, err := All(func(r *Run) {
		var order []string
		r.Shared(func() string { return strings.Join(order, "") }) // so every order is a state of its own
		for _, name := range []string{"a", "b", "c"} {
			r.Go(name, func() {
				order = append(order, name)
				r.Yield("middle")
				order = append(order, name)
			})
		}
		r.End(func() error { runs++; return nil })
	})
	if want := 90; err != nil || stats.Runs != want || runs != want { // 6! / 2!2!2!
		t.Errorf("%v, %d runs, %d to the end, want %d", err, stats.Runs, runs, want)
	}
}

func TestLockerExcludes(t *testing.T) {
	_, err := All(func(r *Run) {
		l, inside := r.Locker("door", always), 0
		r.Check(func() error {
			if inside > 1 {
				return errors.New("two are inside")
			}
			return nil
		})
		for _, name := range []string{"a", "b"} {
			r.Go(name, func() {
				l.Lock()
				inside++
				r.Yield("inside")
				inside--
				l.Unlock()
			})
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// What is wrong in one order of many is found, and the order is told.
func TestFindings(t *testing.T) {
	for want, program := range map[string]func(r *Run){
		"3 was chosen": func(r *Run) {
			r.Go("a", func() {
				if r.Choose("which", 4) == 3 {
					r.Fail(errors.New("3 was chosen"))
				}
			})
		},
		"nobody can go on": func(r *Run) {
			a, b := r.Locker("a", always), r.Locker("b", always)
			r.Go("one", func() { a.Lock(); b.Lock() })
			r.Go("two", func() { b.Lock(); a.Lock() })
		},
		"it does not end": func(r *Run) {
			r.Go("a", func() {
				for range mostSteps + 1 {
					r.Forget()
					r.Yield("again")
				}
			})
		},
		"too early": func(r *Run) {
			set := false
			r.Go("a", func() { set = true })
			r.Go("b", func() {
				if !set {
					r.Fail(errors.New("too early"))
				}
			})
		},
	} {
		if _, err := All(program); err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), "in this order:\n\t") {
			t.Errorf("found %v, want %q", err, want)
		}
	}
}

// A program that does not depend on its choices alone cannot be explored.
func TestProgramThatDoesNotRepeatItself(t *testing.T) {
	runs := 0
	_, err := All(func(r *Run) {
		runs++
		n := runs
		r.Go("a", func() { r.Yield("one", n); r.Yield("two", n) })
		r.Go("b", func() { r.Yield("one", n) })
	})
	if err == nil || !strings.HasPrefix(err.Error(), "the program does not repeat itself") {
		t.Error(err)
	}
}

func always() bool { return true }
