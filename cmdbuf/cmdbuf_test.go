package cmdbuf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// every has each command, as testdata/softgpu.c writes them.
func every() *Buffer {
	return New().Nop().Write64(0x1122334455667788, 0x8877665544332211).Write32(0x1000, 0xFFFFFFFE).
		Copy(0x2000, 0x3000, 1<<33).Fill(0x4000, 0xDEADBEEF, 5).Delay(1_000_000, 0).Delay(7, NotPreemptible).
		Signal(0x5000, any64).Signal32(0x5004, 9).Wait(0x5000, 3, 0x40000001).SignalNative(0x5000, 4, 0x6000, 0x40000001).
		Fault(FaultDMA, 0).Fault(FaultRead, 0x6000).Fault(FaultWrite, 0x7000).Hang()
}

func TestEveryCommand(t *testing.T) {
	want := []string{
		"0x8 NOP",
		"0x10 WRITE64 va=0x1122334455667788 value=9833440827789222417",
		"0x28 WRITE32 va=0x1000 value=4294967294",
		"0x40 COPY dst=0x2000 src=0x3000 bytes=8589934592",
		"0x60 FILL dst=0x4000 pattern=0xdeadbeef bytes=5",
		"0x80 DELAY ns=1000000 flags=0",
		"0x98 DELAY ns=7 flags=not-preemptible",
		"0xb0 SIGNAL va=0x5000 value=18446744073709551615",
		"0xc8 SIGNAL32 va=0x5004 value=9",
		"0xe0 WAIT va=0x5000 value=3 fence=0x40000001",
		"0x100 SIGNAL_NATIVE va=0x5000 value=4 monitored=0x6000 fence=0x40000001",
		"0x128 FAULT kind=dma address=0x0",
		"0x140 FAULT kind=read address=0x6000",
		"0x158 FAULT kind=write address=0x7000",
		"0x170 HANG",
	}
	lines, err := Decode(every().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	met := map[Opcode]bool{}
	again := New()
	for _, l := range lines {
		got = append(got, fmt.Sprintf("%#x %v", l.Offset, l.Command))
		met[l.Command.Opcode()] = true
		again.Add(l.Command)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !bytes.Equal(again.Bytes(), every().Bytes()) {
		t.Error("what was decoded is encoded otherwise")
	}
	for _, op := range Opcodes() {
		if !met[op] {
			t.Errorf("%v is not in this test", op)
		}
	}
}

// The words of the page of the format.
func TestWorkedExample(t *testing.T) {
	want := "44584742 01000000 " +
		"05000000 20000000 0000010000000000 efbeadde00000000 4000000000000000 " +
		"07000000 18000000 0010000000000000 0100000000000000"
	if got := fmt.Sprintf("%x", New().Fill(0x10000, 0xdeadbeef, 64).Signal(0x1000, 1).Bytes()); got != strings.ReplaceAll(want, " ", "") {
		t.Errorf("got %s", got)
	}
}

func TestWhatIsRefused(t *testing.T) {
	put := func(b []byte, at int, v uint32) []byte {
		b = slices.Clone(b)
		binary.LittleEndian.PutUint32(b[at:], v)
		return b
	}
	one := New().Nop().Write32(0, 1).Bytes() // the second command begins at 0x10
	for _, c := range []struct {
		name string
		b    []byte
		want string // of the error
		n    int    // commands before it
	}{
		{"nothing", nil, ErrForeign.Error(), 0},
		{"half a header", one[:7], ErrForeign.Error(), 0},
		{"another magic", put(one, 0, 0x11223344), ErrForeign.Error(), 0},
		{"zeros", make([]byte, 64), ErrForeign.Error(), 0},
		{"version 0", put(one, 4, 0), "at 0x0: unknown version 0", 0},
		{"version 2", put(one, 4, 2), "at 0x0: unknown version 2", 0},
		{"only a header", one[:8], "", 0},
		{"opcode 0", put(one, 16, 0), "at 0x10: unknown opcode 0", 1},
		{"opcode 13", put(one, 16, 13), "at 0x10: unknown opcode 13", 1},
		{"the last opcode", put(one, 16, 1<<32-1), "at 0x10: unknown opcode 4294967295", 1},
		{"size 0", put(one, 20, 0), "at 0x10: WRITE32 has the size 0 instead of 24", 1},
		{"short size", put(one, 20, 16), "at 0x10: WRITE32 has the size 16 instead of 24", 1},
		{"size beyond all", put(one, 20, 1<<32-8), "at 0x10: WRITE32 has the size 4294967288 instead of 24", 1},
		{"upper half of a value", put(one, 36, 1), "at 0x10: WRITE32: value is 0x100000001, at most 0xffffffff is allowed", 1},
		{"end in a head", one[:20], "at 0x10: a command crosses the end of the buffer", 1},
		{"end in a field", one[:39], "at 0x10: WRITE32 crosses the end of the buffer", 1},
		{"unknown flag", New().Delay(1, 2).Bytes(), "at 0x8: DELAY: flags is 0x2, at most 0x1 is allowed", 0},
		{"unknown kind", New().Fault(3, 1).Bytes(), "at 0x8: FAULT: kind is 0x3, at most 0x2 is allowed", 0},
		{"to the last address", New().Fill(any64-7, 0, 8).Bytes(), "", 1},
		{"beyond it", New().Fill(any64-7, 0, 9).Bytes(), "at 0x8: FILL: 9 bytes from 0xfffffffffffffff8 on go beyond the last address", 0},
		{"copy from beyond", New().Copy(0, any64, 2).Bytes(), "at 0x8: COPY: 2 bytes from 0xffffffffffffffff on go beyond the last address", 0},
		{"copy to beyond", New().Copy(1, 0, any64).Copy(2, 0, any64).Bytes(), "at 0x28: COPY: 18446744073709551615 bytes from 0x2 on go beyond the last address", 1},
		{"nothing at the last address", New().Copy(any64, any64, 0).Bytes(), "", 1},
	} {
		lines, err := Decode(c.b)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want || len(lines) != c.n {
			t.Errorf("%s: %d commands, %q; want %d, %q", c.name, len(lines), got, c.n, c.want)
		}
	}
}

func TestOpcodes(t *testing.T) {
	if Opcode(0).String() != "opcode 0" || Opcode(0).Size() != 0 || Opcode(99).String() != "opcode 99" || Opcode(1<<32-1).Size() != 0 {
		t.Error("an unknown opcode is known")
	}
	if OpCopy.Size() != 32 || OpNop.Size() != 8 || len(Opcodes()) != 12 {
		t.Errorf("COPY has %d bytes, NOP %d, and there are %v", OpCopy.Size(), OpNop.Size(), Opcodes())
	}
	if FaultKind(7).String() != "7" || (Delay{1, 9}).String() != "DELAY ns=1 flags=9" {
		t.Error("values without a name are no numbers")
	}
}

// The C encoder writes the same bytes, as C11 and as C++17.
func TestCEncoder(t *testing.T) {
	for _, c := range compilers {
		if got := runC(t, c, "testdata/softgpu.c"); !bytes.Equal(got, every().Bytes()) {
			t.Errorf("%s wrote\n%x\nwant\n%x", c[0], got, every().Bytes())
		}
	}
}

var compilers = [][]string{
	{"cc", "-std=c11", "-x", "c"},
	{"c++", "-std=c++17", "-x", "c++"},
}

// runC compiles a program and returns what it writes.
func runC(t *testing.T, compiler []string, source string) []byte {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	args := append(compiler[1:len(compiler):len(compiler)], "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-I../c/include", "-o", program, source)
	if out, err := exec.Command(compiler[0], args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler[0], err, out)
	}
	got, err := exec.Command(program).Output()
	if err != nil {
		t.Fatalf("%s: %v", compiler[0], err)
	}
	return got
}

// Whatever the bytes are, reading ends, and what was read is what stands there.
func FuzzDecode(f *testing.F) {
	f.Add(every().Bytes())
	f.Add(New().Bytes())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		lines, err := Decode(b)
		again := New()
		for _, l := range lines {
			if l.Offset != again.Len() {
				t.Fatalf("a command at %#x instead of %#x", l.Offset, again.Len())
			}
			if again.Add(l.Command); l.Command.String() == "" {
				t.Fatal("a command without text")
			}
		}
		var bad *Error
		switch {
		case err == nil && !bytes.Equal(again.Bytes(), b):
			t.Fatalf("%x was read as %x", b, again.Bytes())
		case errors.As(err, &bad) && bad.Offset != 0 && (bad.Offset != again.Len() || !bytes.HasPrefix(b, again.Bytes())):
			t.Fatalf("%v, but the commands before it end at %#x", err, again.Len())
		}
		if r, err := NewReader(b); err == nil {
			for range lines {
				if _, err := r.Next(); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := r.Next(); (err == io.EOF) != r.Done() {
				t.Fatalf("at the end: %v", err)
			}
		}
	})
}
