package bench

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Options say what to measure.
type Options struct {
	Rounds int    // interleaved rounds; medians are taken over them
	Match  string // only metrics whose name contains it; "" for all
	Floors string // the program built from bench/floors.c; "": build it with cc
	CBench string // the C library's measurements (bench/library.c); "": leave them out
	// Progress is told what is being measured: step of steps.
	Progress func(step, steps int, name string)
}

// Results are the values of each metric, one per round.
type Results map[string][]float64

// Median returns the median of a metric; ok is false when it was not measured.
func (r Results) Median(name string) (float64, bool) { return median(r[name]) }

// Ratio returns the median over the rounds of metric/reference.
func (r Results) Ratio(metric, reference string) (float64, bool) {
	m, f := r[metric], r[reference]
	n := min(len(m), len(f))
	ratios := make([]float64, n)
	for i := range n {
		ratios[i] = m[i] / f[i]
	}
	return median(ratios)
}

func median(xs []float64) (float64, bool) {
	if len(xs) == 0 {
		return 0, false
	}
	s := slices.Sorted(slices.Values(xs))
	return s[len(s)/2], true
}

// job measures one metric once.
type job struct {
	name string
	run  func() (float64, error)
}

// Run measures everything, round by round. The error names the metric that failed.
func Run(o Options) (Results, error) {
	dir, err := os.MkdirTemp("", "dxgsync-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	jobs, err := plan(o, dir)
	if err != nil {
		return nil, err
	}
	r := Results{}
	step, steps := 0, o.Rounds*len(jobs)
	for range o.Rounds {
		for _, j := range jobs {
			step++
			if o.Progress != nil {
				o.Progress(step, steps, j.name)
			}
			x, err := j.run()
			if err != nil {
				return r, fmt.Errorf("measure %s: %w", j.name, err)
			}
			r[j.name] = append(r[j.name], x)
		}
	}
	return r, nil
}

// plan lists the jobs of a round: each metric behind the floors it is compared
// with, every one of them once.
func plan(o Options, dir string) ([]job, error) {
	floors, names, err := machineFloors(o, dir)
	if err != nil {
		return nil, err
	}
	var jobs []job
	seen := map[string]bool{}
	add := func(name string) {
		var run func() (float64, error)
		switch {
		case seen[name]:
			return
		case slices.Contains(names, name):
			run = func() (float64, error) { return floorOf(floors, name) }
		case goFloors[name] != nil:
			run = func() (float64, error) { return number(command(nil, "floor", name)) }
		case local[name] != nil:
			run = func() (float64, error) { return number(command(nil, "local", name)) }
		case pairs[name].measure != nil:
			run = func() (float64, error) { return runPair(name, filepath.Join(dir, "socket")) }
		default:
			return // a peer, which is not measured here
		}
		seen[name] = true
		jobs = append(jobs, job{name, run})
	}
	for _, t := range Targets() {
		if !strings.Contains(t.Metric, o.Match) || local[t.Metric] == nil && pairs[t.Metric].measure == nil {
			continue
		}
		add(t.Reference)
		add(t.Metric)
	}
	if o.CBench != "" {
		for _, name := range libraryMetrics {
			if strings.Contains(name, o.Match) {
				jobs = append(jobs, job{name, func() (float64, error) { return runLibrary(o.CBench, name, filepath.Join(dir, "socket")) }})
			}
		}
	}
	return jobs, nil
}

// number runs a measuring process and reads the number that it prints.
func number(c *exec.Cmd) (float64, error) {
	out, err := c.Output()
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(string(bytes.TrimSpace(out)), 64)
}

// floorOf runs the floors program for one name.
func floorOf(program, name string) (float64, error) {
	c := exec.Command(program, name)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return 0, err
	}
	f := strings.Split(strings.TrimSpace(string(out)), "\t")
	if len(f) != 3 || f[0] != name {
		return 0, fmt.Errorf("floors printed %q", out)
	}
	return strconv.ParseFloat(f[1], 64)
}

// machineFloors finds or builds the floors program and asks what it has.
func machineFloors(o Options, dir string) (program string, names []string, err error) {
	program = o.Floors
	if program == "" {
		return "", nil, fmt.Errorf("find the floors program: build it with make, or name it with --floors")
	}
	out, err := exec.Command(program).Output()
	if err != nil {
		return "", nil, fmt.Errorf("run %s: %w", program, err)
	}
	return program, strings.Fields(string(out)), nil
}

// runPair starts a daemon and the first side, both on processor 0 when the
// measurement wants that.
func runPair(name, socket string) (x float64, err error) {
	body := func() error {
		return withDaemon(socket, func() error {
			x, err = number(command(nil, "pair", name, socket))
			return err
		})
	}
	if pairs[name].same {
		return x, pinned(body)
	}
	return x, body()
}

// withDaemon runs f beside a daemon of its own.
func withDaemon(socket string, f func() error) error {
	_ = os.Remove(socket)
	d := command(nil, "daemon", socket)
	out, err := d.StdoutPipe()
	if err != nil {
		return err
	}
	if err := d.Start(); err != nil {
		return err
	}
	defer func() {
		_ = d.Process.Kill()
		_ = d.Wait()
	}()
	if _, err := out.Read(make([]byte, 16)); err != nil {
		return fmt.Errorf("start a daemon: %w", err)
	}
	return f()
}

// libraryMetrics are the C library's own figures for the rows that cross processes.
var libraryMetrics = []string{
	"L.signal_none_shared", "L.wait_satisfied", "L.signal_daemon.same.rtt",
	"L.pingpong_proc.same.rtt", "L.wait_any32_proc.same.rtt", "L.share_open.same.rtt",
}

// runLibrary runs one measurement of bench/library.c on a daemon, on processor 0.
func runLibrary(program, name, socket string) (x float64, err error) {
	return x, pinned(func() error {
		return withDaemon(socket, func() error {
			c := exec.Command(program, name)
			c.Env = append(os.Environ(), "DXGSYNC_SOCKET="+socket)
			c.Stderr = os.Stderr
			x, err = number(c)
			return err
		})
	})
}
