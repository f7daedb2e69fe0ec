// Package examples runs the example programs as a user would: under dxgsync run.
package examples

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// built returns a program that make builds.
func built(t *testing.T, path ...string) string {
	t.Helper()
	p, err := filepath.Abs(filepath.Join(append([]string{"..", "build"}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(p); err != nil {
		t.Fatalf("%v: run make examples first", err)
	}
	return p
}

// Either program plays either role against the other, and every frame arrives.
func TestFramesInEveryPairing(t *testing.T) {
	run := built(t, "bin", "dxgsync")
	programs := map[string]string{"c": built(t, "examples", "frames"), "go": built(t, "examples", "frames-go")}
	const frames = 300
	for p, producer := range programs {
		for c, consumer := range programs {
			t.Run(p+" to "+c, func(t *testing.T) {
				var out, errs bytes.Buffer
				cmd := exec.Command(run, "run", "--", producer, "producer", "--frames", fmt.Sprint(frames), "--", consumer)
				cmd.Stdout, cmd.Stderr = &out, &errs
				if err := cmd.Run(); err != nil {
					t.Fatalf("%v\n%s%s", err, errs.String(), out.String())
				}
				for _, want := range []string{"producer start 0 frames=300 lang=" + p, "consumer start 0 lang=" + c, "producer drained 300", "consumer exit 300", "producer exit 300"} {
					if !strings.Contains(out.String(), want) {
						t.Errorf("the log has no %q", want)
					}
				}
				for _, role := range []string{"producer wrote ", "consumer read "} {
					if n := strings.Count(out.String(), role); n != frames {
						t.Errorf("the log has %d lines %q, want %d", n, role, frames)
					}
				}
			})
		}
	}
}

// A pipeline over two processes gets every frame through, also when the second hangs: it
// loses its device at that frame, and the first one's device goes on.
func TestGPUFrames(t *testing.T) {
	run, program := built(t, "bin", "dxgsync"), built(t, "examples", "gpu-frames")
	const frames = 8
	for _, hang := range []int{0, 1, 5, frames} {
		t.Run(fmt.Sprint("hang ", hang), func(t *testing.T) {
			var out, errs bytes.Buffer
			cmd := exec.Command(run, "run", "--tdr", "TdrDelay=1ms", "--", program, "--frames", fmt.Sprint(frames), "--hang", fmt.Sprint(hang))
			cmd.Stdout, cmd.Stderr = &out, &errs
			if err := cmd.Run(); err != nil {
				t.Fatalf("%v\n%s%s", err, errs.String(), out.String())
			}
			want := map[string]int{
				"upload start 0 node=copy\n": 1, "render start 0 node=compute\n": 1, "render lost": 0, "render again": 0,
				fmt.Sprintf("render exit %d device=ACTIVE\n", frames): 1, fmt.Sprintf("upload exit %d device=ACTIVE\n", frames): 1,
			}
			for n := 1; n <= frames; n++ {
				want[fmt.Sprintf("upload copied %d\n", n)], want[fmt.Sprintf("render rendered %d\n", n)] = 1, 1
			}
			if hang > 0 {
				want["render lost"], want["render again"] = 1, 1
				want[fmt.Sprintf("render lost %d device=HUNG\n", hang)], want[fmt.Sprintf("render again %d\n", hang)] = 1, 1
			}
			for text, times := range want {
				if n := strings.Count(out.String(), text); n != times {
					t.Errorf("%d times %q, want %d\n%s", n, text, times, out.String())
				}
			}
		})
	}
}

// The three stages of one process get every frame through.
func TestPipeline(t *testing.T) {
	const frames = 20
	out, err := exec.Command(built(t, "examples", "pipeline"), "--frames", fmt.Sprint(frames)).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, stage := range []string{"uploaded", "computed", "shown"} {
		if n := strings.Count(string(out), "us  "+stage+" "); n != frames {
			t.Errorf("%d times %s, want %d\n%s", n, stage, frames, out)
		}
	}
}

// Engines of two processes take turns, all of them in order; the demo shows when.
func TestNative(t *testing.T) {
	for _, turns := range []int{1, 2, 25} {
		out, err := exec.Command(built(t, "bin", "dxgsync"), "run", "--", built(t, "examples", "native"), "--turns", fmt.Sprint(turns)).CombinedOutput()
		if err != nil {
			t.Fatalf("%d turns: %v\n%s", turns, err, out)
		}
		var events []string
		for line := range strings.Lines(string(out)) {
			if _, event, ok := strings.Cut(strings.TrimSpace(line), " "); ok && strings.Contains(event, " turn ") {
				events = append(events, event)
			}
		}
		for n := 1; n <= turns; n++ {
			want := fmt.Sprintf("%s turn %d", []string{"second", "first"}[n%2], n)
			if len(events) != turns || events[n-1] != want {
				t.Fatalf("the turns are %q, want %q as number %d", events, want, n)
			}
		}
		for _, who := range []string{"first", "second"} {
			if want := fmt.Sprintf(" %s exit %d\n", who, turns+1); !strings.Contains(string(out), want) {
				t.Errorf("the log has no %q\n%s", want, out)
			}
		}
	}
}

// Every buffer is executed, whichever way it was submitted.
func TestDoorbell(t *testing.T) {
	out, err := exec.Command(built(t, "bin", "dxgsync"), "run", "--", built(t, "examples", "doorbell"), "--buffers", "300").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"a new doorbell: DISCONNECTED_RETRY\n", "300 buffers by a call: ", "300 buffers by the doorbell: "} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// The same in C: each turn is seen once, in order.
func TestNativeInC(t *testing.T) {
	out, err := exec.Command(built(t, "bin", "dxgsync"), "run", "--", built(t, "examples", "native-c")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for n := 1; n <= 8; n++ {
		if want := fmt.Sprintf("engine %d  turn %d", n%2, n); len(lines) != 8 || !strings.HasSuffix(lines[n-1], want) {
			t.Fatalf("no line %d %q in\n%s", n, want, out)
		}
	}
}

// The doorbell in C, also where the driver must be told of each ring.
func TestDoorbellInC(t *testing.T) {
	told := filepath.Join(t.TempDir(), "told.json")
	if err := os.WriteFile(told, []byte(`{"base": "neutral", "name": "told", "doorbells": {"notify": true}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for adapter, notices := range map[string]bool{"neutral": false, told: true} {
		out, err := exec.Command(built(t, "bin", "dxgsync"), "run", "--adapter", adapter, "--", built(t, "examples", "doorbell-c")).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if !strings.Contains(string(out), "2000 buffers by the doorbell: ") || strings.Contains(string(out), "told the driver 0 times") == notices {
			t.Errorf("%s: %s", filepath.Base(adapter), out)
		}
	}
}

// A program under run is told when its own exit status is not 0, by that status.
func TestExitStatusPassesThrough(t *testing.T) {
	err := exec.Command(built(t, "bin", "dxgsync"), "run", "--", built(t, "examples", "frames"), "nonsense").Run()
	if exit, ok := err.(*exec.ExitError); !ok || exit.ExitCode() != 2 {
		t.Errorf("exit status of a wrong command line: %v, want 2", err)
	}
}

// The clients that the interface is for get to their first waits, each with what it
// insists on; NEO has an answer of its driver's, whose length alone it knows.
func TestClients(t *testing.T) {
	private := filepath.Join(t.TempDir(), "neo.json")
	profile := `{"base": "intel", "name": "neo", "umd_private": "` + strings.Repeat("00", 2000) + `"}`
	if err := os.WriteFile(private, []byte(profile), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, adapters := range map[string][]string{
		"amd": {"amd", "neutral"}, "rocm": {"amd", "neutral"}, "neo": {private}, "mesa": {"amd", "intel", "nvidia", "neutral"},
	} {
		for _, adapter := range adapters {
			t.Run(name+" on "+strings.TrimSuffix(filepath.Base(adapter), ".json"), func(t *testing.T) {
				cmd := exec.CommandContext(t.Context(), built(t, "bin", "dxgsync"), "run", "--adapter", adapter, "--", built(t, "examples", "clients", name))
				cmd.Env = append(os.Environ(), "DXGSYNC_BACKSTOP=off") // it would hide a lost wake
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}
