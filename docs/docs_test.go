// Package docs keeps the documents true where a test can.
package docs

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

var update = flag.Bool("update", false, "rewrite the generated parts of the documents")

const (
	begin = "<!-- table: go test ./docs -update -->\n"
	end   = "<!-- end of table -->\n"
)

// The call table says of every operation what the operation table says.
func TestCallTable(t *testing.T) { checkTable(t, "calls/README.md", callTable(t)) }

func callTable(t *testing.T) string {
	pages := pagesOfCalls(t)
	var b strings.Builder
	b.WriteString("| number | call | record | answer | page |\n|---|---|---|---|---|\n")
	for _, op := range abi.Ops {
		if op.Nr >= 0xF000 {
			continue // what a client and the daemon say to each other is no call
		}
		page := ""
		if p := pages[op.Name]; p != "" {
			page = fmt.Sprintf("[%s](%s.md)", p, p)
		} else if op.Support == abi.Supported {
			t.Errorf("%s is supported and has no page in docs/calls", op.Name)
		}
		answer := op.Support.String()
		if op.Support == abi.Supported {
			answer = "**supported**"
		}
		fmt.Fprintf(&b, "| 0x%02X | %s | %s | %s | %s |\n", op.Nr, op.Name, op.Record, answer, page)
	}
	return b.String()
}

// pagesOfCalls finds the page that has a heading for a call.
func pagesOfCalls(t *testing.T) map[string]string {
	files, err := filepath.Glob("calls/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	name := regexp.MustCompile(`D3DKMT\w+`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "## ") {
				for _, call := range name.FindAllString(line, -1) {
					pages[call] = strings.TrimSuffix(filepath.Base(file), ".md")
				}
			}
		}
	}
	return pages
}

// Every link of a document to a file of the project leads somewhere.
func TestLinksLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	check := func(file string) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			target := filepath.Join(filepath.Dir(file), m[1])
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", file, m[1])
			}
		}
	}
	check("../README.md")
	err := filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			check(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
