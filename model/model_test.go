package model

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// models are the models with the configurations in which they must hold. A mutant
// runs in the configuration named first unless the list in the head of its model
// names another in brackets.
var models = []struct {
	file    string
	configs []string
}{
	{"page.pml", []string{"ONCE", "KDEATH", "ASK"}},
	{"ticket.pml", []string{""}},
	{"slot.pml", []string{""}},
	{"native.pml", []string{"", "TWO", "GPU", "SHADOW", "ALONE", "LAZY", "CROSS", "LOSS"}},
}

// together is how many searches run at once: the largest takes 0.7 GB.
const together = 2

// mutantLine is a line of the list in a model's head: a name, perhaps a
// configuration in brackets, and what it does wrong.
var mutantLine = regexp.MustCompile(`(?m)^ \*   ([A-Z_]+) +(?:\(([A-Z]+)\) )?\S`)

func TestModels(t *testing.T) {
	for _, tool := range []string{"spin", "cc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("%v: the models need spin and a C compiler; apt-get install spin gcc", err)
		}
	}
	slots := make(chan struct{}, together)
	for _, m := range models {
		text, err := os.ReadFile(m.file)
		if err != nil {
			t.Fatal(err)
		}
		for _, config := range m.configs {
			run(t, slots, m.file, config, "")
		}
		mutants := mutantLine.FindAllStringSubmatch(string(text), -1)
		if len(mutants) == 0 {
			t.Errorf("%s lists no mutants", m.file)
		}
		for _, mutant := range mutants {
			name, config := mutant[1], mutant[2]
			if config == "" {
				config = m.configs[0]
			}
			if !regexp.MustCompile(`(?m)^#if.*\b` + name + `\b`).Match(text) {
				t.Errorf("%s: mutant %s changes nothing", m.file, name)
			}
			run(t, slots, m.file, config, name)
		}
	}
}

// run searches one configuration. Without a mutant no assertion may fail; with one
// an assertion must.
func run(t *testing.T, slots chan struct{}, file, config, mutant string) {
	name := strings.Trim(strings.TrimSuffix(file, ".pml")+"/"+config+"/"+mutant, "/")
	t.Run(strings.ReplaceAll(name, "//", "/"), func(t *testing.T) {
		t.Parallel()
		slots <- struct{}{}
		defer func() { <-slots }()
		out := search(t, file, config, mutant)
		switch {
		case strings.Contains(out, "max search depth too small"), strings.Contains(out, "out of memory"):
			t.Fatalf("the search was not complete:\n%s", out)
		case mutant == "" && !strings.Contains(out, "errors: 0"):
			t.Fatalf("the protocol does not hold:\n%s", out)
		case mutant != "" && !strings.Contains(out, "assertion violated"):
			t.Fatalf("no assertion fails, so the model does not need the step:\n%s", out)
		}
	})
}

// search has spin make a verifier, compiles it, and returns what it says.
func search(t *testing.T, file, config, mutant string) string {
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	command := func(name string, args ...string) string {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil && name != "./pan" { // pan's status says what its words say
			t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
		}
		return string(out)
	}
	args := []string{"-a"}
	for _, define := range []string{config, mutant} {
		if define != "" {
			args = append(args, "-D"+define)
		}
	}
	command("spin", append(args, path)...)
	command("cc", "-O1", "-w", "-DSAFETY", "-o", "pan", "pan.c")
	return command("./pan", "-m200000")
}
