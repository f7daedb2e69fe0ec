package abi

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Every bit-field of the headers is where the tables have it: a program sets each
// one to all ones in a zeroed structure and prints the storage unit around it.
func TestCBitFieldsAreWhereTheyBelong(t *testing.T) {
	var program strings.Builder
	program.WriteString(`#include <stdio.h>
#include <string.h>
#include <dxg/d3dkmthk.h>
#define PRINT(S, F, OFF, LEN) { \
	S s; unsigned long long unit = 0; \
	memset(&s, 0, sizeof s); \
	s.F = ~(s.F & 0); \
	memcpy(&unit, (char *)&s + OFF, LEN); \
	printf("%llx\n", unit); }
int main(void) {
`)
	var names []string
	var want []uint64
	for _, l := range layouts(t, "64") {
		for _, f := range l.fields {
			if f.kind != "bitfield" || strings.HasSuffix(f.name, ".Reserved") {
				continue // a flag word inside a record; newer headers reserve fewer of its bits
			}
			fmt.Fprintf(&program, "\tPRINT(%s, %s, %d, %d)\n", l.name, f.name, f.offset, f.size)
			names = append(names, l.name+"."+f.name)
			want = append(want, (^uint64(0)>>(64-f.width))<<f.bit)
		}
	}
	program.WriteString("}\n")
	if len(names) == 0 {
		t.Fatal("the tables have no bit-fields")
	}
	out := runC(t, program.String())
	lines := bufio.NewScanner(bytes.NewReader(out))
	for i, name := range names {
		var got uint64
		if !lines.Scan() {
			t.Fatalf("the program ended before %s", name)
		}
		if _, err := fmt.Sscanf(lines.Text(), "%x", &got); err != nil || got != want[i] {
			t.Errorf("%s: bits %s, want %x", name, lines.Text(), want[i])
		}
	}
}

// runC compiles and runs a C program and returns what it prints.
func runC(t *testing.T, program string) []byte {
	t.Helper()
	dir := t.TempDir()
	source, binary := filepath.Join(dir, "p.c"), filepath.Join(dir, "p")
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	compile := exec.Command("cc", "-std=c11", "-Wno-overflow", "-I../c/include", "-o", binary, source)
	if out, err := compile.CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, firstLines(string(out), 20))
	}
	out, err := exec.Command(binary).Output()
	if err != nil {
		t.Fatal(err)
	}
	return out
}
