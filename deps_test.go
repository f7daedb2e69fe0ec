package dxgsync_test

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/dxgsync/dxgsync"

// picture says who may import whom. A package may import the packages named behind
// its colon, each of which stands above it, and the standard library. A name with a
// dot in its first part is a module outside of this one. "." is package dxgsync.
//
// The core, down to the line that ends it, needs the standard library and x/sys
// only, so that it can be read in one sitting.
const picture = `
# words: what everything is said in
abi:
abi/internal/*:     abi
cmdbuf:
internal/page:      golang.org/x/sys

# parts: each knows the words, none knows another's business
internal/wait:      abi internal/page
internal/object:    abi
internal/syncobj:   abi internal/page internal/wait
internal/adapter:   abi
internal/display:   abi
ddi:                abi
internal/vidsch:    abi ddi
internal/vidmm:     abi ddi
internal/softgpu:   abi cmdbuf ddi internal/adapter internal/display
internal/decode:    abi cmdbuf

# whole: where the parts meet, and the machine below them
internal/kernel:    abi ddi internal/page internal/wait internal/object internal/syncobj internal/vidmm internal/vidsch internal/adapter internal/softgpu
internal/host:      abi internal/page internal/object internal/kernel golang.org/x/sys

# doors: how callers come in
internal/wire:      abi golang.org/x/sys
internal/server:    abi internal/kernel internal/host internal/wire golang.org/x/sys
internal/client:    abi internal/page internal/wire golang.org/x/sys
.:                  abi cmdbuf internal/page internal/wait internal/object internal/adapter internal/vidsch internal/kernel internal/host internal/wire internal/client golang.org/x/sys
= the core ends here

# proof: what shows that it works
conformance:
model:
internal/explore:
internal/torture:
internal/sim:       abi ddi internal/page internal/object internal/adapter internal/kernel
internal/suite:     abi cmdbuf conformance internal/page internal/adapter internal/softgpu internal/kernel internal/host internal/server internal/client golang.org/x/sys
internal/suite/*:   internal/suite
internal/bench:     abi cmdbuf ddi . internal/adapter internal/softgpu internal/kernel internal/host internal/server golang.org/x/sys

# the command, and programs that show how to use all this
cmd/dxgsync:        abi cmdbuf internal/adapter internal/decode internal/kernel internal/vidsch internal/wire internal/server internal/suite internal/bench golang.org/x/sys github.com/spf13/cobra github.com/coreos/go-systemd/v22
examples/driver:    abi ddi
examples/*:         abi . golang.org/x/sys
examples:
docs:
c/test:
`

// An edge list, by package.
type rule struct {
	name    string
	allowed []string
	core    bool
}

func readPicture(t *testing.T) []rule {
	var rules []rule
	core := true
	for line := range strings.Lines(picture) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
			continue
		case line[0] == '=':
			core = false
			continue
		}
		name, rest, ok := strings.Cut(line, ":")
		if !ok {
			t.Fatalf("picture: no colon in %q", line)
		}
		rules = append(rules, rule{name, strings.Fields(rest), core})
	}
	return rules
}

// outside reports whether a name stands for another module.
func outside(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return name != "." && strings.Contains(first, ".")
}

func TestPictureGoesOneWay(t *testing.T) {
	var above []string
	for _, r := range readPicture(t) {
		for _, a := range r.allowed {
			switch {
			case outside(a) && r.core && a != "golang.org/x/sys":
				t.Errorf("%s: the core may not import %s", r.name, a)
			case !outside(a) && !slices.Contains(above, a):
				t.Errorf("%s may import %s, which does not stand above it", r.name, a)
			}
		}
		if slices.Contains(above, r.name) {
			t.Errorf("%s stands in the picture twice", r.name)
		}
		above = append(above, r.name)
	}
}

func TestImportsAreInThePicture(t *testing.T) {
	rules := readPicture(t)
	seen := map[string]bool{}
	for name, imports := range realImports(t) {
		r := ruleFor(rules, name)
		if r == nil {
			t.Errorf("package %s is not in the picture in deps_test.go", name)
			continue
		}
		seen[r.name] = true
		for _, i := range imports {
			if !allows(r, i) {
				t.Errorf("%s imports %s: the picture in deps_test.go does not allow it", name, i)
			}
		}
	}
	for _, r := range rules {
		if !seen[r.name] {
			t.Errorf("the picture has %s, which is not there", r.name)
		}
	}
}

// ruleFor finds the line for a package; "dir/*" stands for everything below dir.
func ruleFor(rules []rule, name string) *rule {
	for i, r := range rules {
		if dir, ok := strings.CutSuffix(r.name, "*"); r.name == name || ok && strings.HasPrefix(name, dir) {
			return &rules[i]
		}
	}
	return nil
}

func allows(r *rule, path string) bool {
	return slices.ContainsFunc(r.allowed, func(a string) bool {
		return a == path || outside(a) && strings.HasPrefix(path, a+"/")
	})
}

// realImports lists the packages of this module with what they import, the standard
// library left out.
func realImports(t *testing.T) map[string][]string {
	t.Helper()
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	all := map[string][]string{}
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		imports := []string{}
		for _, i := range words[1:] {
			if name := shortName(i); !standard(name, i) {
				imports = append(imports, name)
			}
		}
		all[shortName(words[0])] = imports
	}
	return all
}

func shortName(path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}

// standard reports whether an import is of the standard library: nothing of this
// module, and no dot in its first part.
func standard(name, path string) bool { return name == path && !outside(name) }
