package abi

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// The headers of c/include give every structure the layout and every constant the
// value of the tables, in C11 for 64 and 32 bits; and they are C++17.
func TestCHeadersHaveThePublicLayout(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name, bits string
		compiler   []string
	}{
		{"64.c", "64", []string{"cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-m64"}},
		{"32.c", "32", []string{"cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-m32", "-ffreestanding"}},
		{"64.cc", "64", []string{"c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-Wno-invalid-offsetof"}},
	} {
		file := filepath.Join(dir, c.name)
		if err := os.WriteFile(file, []byte(assertions(t, c.bits, strings.HasSuffix(c.name, ".cc"))), 0o600); err != nil {
			t.Fatal(err)
		}
		args := append(c.compiler[1:], "-fsyntax-only", "-I../c/include", file)
		if out, err := exec.Command(c.compiler[0], args...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, firstLines(string(out), 20))
		}
	}
}

// newer are records that the tables do not have: their members have the offsets of ours.
var newer = []struct {
	name, members string
	record        reflect.Type
}{
	{
		"D3DKMT_CREATEHWQUEUEFORUSERMODESUBMISSION",
		"hHwContext Flags hRingBuffer hRingBufferControl PrivateDriverData hHwQueue DoorbellStatusCpuVa hProgressFence ProgressFenceMapping ProgressFenceLastQueuedValueCpuVa LogBufferInfo Reserved",
		reflect.TypeFor[CreateHwQueueForUserModeSubmission](),
	},
	{
		"D3DDDI_NATIVEFENCELOGDETAIL",
		"WaitLogNumberOfEntries SignalLogNumberOfEntries WaitLogGpuBaseAddress SignalLogGpuBaseAddress Reserved",
		reflect.TypeFor[NativeFenceLogDetail](),
	},
}

// assertions is a program that only compiles if the headers agree with the tables.
func assertions(t *testing.T, bits string, plus bool) string {
	var b strings.Builder
	assert, alignof := "_Static_assert", "_Alignof"
	if plus {
		assert, alignof = "static_assert", "alignof"
	}
	b.WriteString("#include <stddef.h>\n#include <dxg/d3dkmthk.h>\n")
	for _, l := range layouts(t, bits) {
		fmt.Fprintf(&b, "%s(sizeof(%s) == %d && %s(%s) == %d, \"%s\");\n", assert, l.name, l.size, alignof, l.name, l.align, l.name)
		for _, f := range l.fields {
			if f.kind == "bitfield" || f.size == 0 {
				continue
			}
			fmt.Fprintf(&b, "%s(offsetof(%s, %s) == %d, \"%s.%s\");\n", assert, l.name, f.name, f.offset, l.name, f.name)
			fmt.Fprintf(&b, "%s(sizeof(((%s *)0)->%s) == %d, \"size of %s.%s\");\n", assert, l.name, f.name, f.size, l.name, f.name)
		}
	}
	for _, r := range newer {
		fmt.Fprintf(&b, "%s(sizeof(%s) == %d, \"%s\");\n", assert, r.name, r.record.Size(), r.name)
		names := strings.Fields(r.members)
		for i := range r.record.NumField() {
			f := r.record.Field(i)
			if f.Name == "_" {
				continue
			}
			if len(names) == 0 || !strings.EqualFold(names[0], f.Name) {
				t.Fatalf("%s: %s, want the name of %s", r.name, names, f.Name)
			}
			fmt.Fprintf(&b, "%s(offsetof(%s, %s) == %d, \"%s.%s\");\n", assert, r.name, names[0], f.Offset, r.name, names[0])
			names = names[1:]
		}
	}
	for _, r := range table(t, "constants.tsv") {
		want := r[1] + "ull"
		if strings.HasPrefix(r[1], "-") {
			want = "(unsigned long long)" + r[1]
		}
		fmt.Fprintf(&b, "%s((unsigned long long)%s == %s, \"%s\");\n", assert, r[0], want, r[0])
	}
	for _, s := range Statuses() {
		fmt.Fprintf(&b, "%s((unsigned)%s == %#xu, \"%s\");\n", assert, s.Name(), uint32(s), s.Name())
	}
	// What the tables cannot say of bits the program says when it runs; here it is
	// enough that they are there.
	fmt.Fprintf(&b, "unsigned used(void) { D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS f; f.Value = 0; f.Shared = 1; f.UnwaitCpuWaitersOnlyOnDestroy = 1; return f.Value; }\n")
	return b.String()
}

func firstLines(s string, n int) string {
	lines := strings.SplitN(s, "\n", n+1)
	return strings.Join(lines[:min(n, len(lines))], "\n")
}

// Every call that programs look up or link with is declared, and there is a type
// for pointers to it.
func TestCHeadersDeclareEveryCall(t *testing.T) {
	var b strings.Builder
	b.WriteString("#include <dxg/d3dkmthk.h>\n")
	for _, r := range table(t, "calls.tsv") {
		fmt.Fprintf(&b, "PFND3DKMT_%s p%s = D3DKMT%s;\n", strings.ToUpper(r[0]), r[0], r[0])
	}
	for name, compiler := range map[string][]string{
		"calls.c":  {"cc", "-std=c11"},
		"calls.cc": {"c++", "-std=c++17"},
	} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		args := append(compiler[1:], "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I../c/include", file)
		if out, err := exec.Command(compiler[0], args...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, firstLines(string(out), 20))
		}
	}
}
