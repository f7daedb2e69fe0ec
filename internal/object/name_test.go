package object

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/dxgsync/dxgsync/abi"
)

// wide is a string in UTF-16LE.
func wide(s string) []byte { return units(utf16.Encode([]rune(s))...) }

func units(us ...uint16) []byte {
	b := []byte{}
	for _, u := range us {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return b
}

func mustName(t testing.TB, s string) Name {
	t.Helper()
	n, st := ParseName(wide(s))
	if st != 0 {
		t.Fatalf("ParseName(%q): %v", s, st)
	}
	return n
}

// Which names are refused, and how. Source: sharing.md §5, OQ-21, OQ-60.
func TestNameStatus(t *testing.T) {
	const (
		invalid  = abi.StatusObjectNameInvalid
		syntax   = abi.StatusObjectPathSyntaxBad
		notFound = abi.StatusObjectPathNotFound
	)
	long := func(n int) string { // a name of n units
		const dir = `\BaseNamedObjects\`
		return dir + strings.Repeat("x", n-len(dir))
	}
	for _, c := range []struct {
		name string
		st   abi.Status
	}{
		{`\BaseNamedObjects\x`, 0},
		{`\basenamedOBJECTS\x`, 0},
		{`\BaseNamedObjects\Global\x`, 0},
		{`\BaseNamedObjects\Local\x`, 0},
		{`\BaseNamedObjects\Global\Local\GLOBAL\x`, 0},
		{`\BaseNamedObjects\Globalx`, 0},
		{`\BaseNamedObjects\a/b`, 0},
		{`\BaseNamedObjects\ `, 0},
		{`\Sessions\0\BaseNamedObjects\x`, 0},
		{`\sessions\1\basenamedobjects\Local\x`, 0},
		{`\Sessions\2147483647\BaseNamedObjects\x`, 0},
		{long(MaxNameUnits), 0},
		{`\BaseNamedObjects`, 0}, // a directory: for Namespace to refuse
		{`\Sessions`, 0},
		{`\Sessions\7`, 0},
		{`\Sessions\7\BaseNamedObjects`, 0},
		{`\BaseNamedObjects\Global`, 0},

		{``, invalid},
		{long(MaxNameUnits + 1), invalid},
		{`x`, syntax},
		{`BaseNamedObjects\x`, syntax},
		{`Global\x`, syntax},
		{`x\`, syntax},

		{`\`, invalid},
		{`\\`, invalid},
		{`\\BaseNamedObjects\x`, invalid},
		{`\BaseNamedObjects\`, invalid},
		{`\BaseNamedObjects\\x`, invalid},
		{`\BaseNamedObjects\x\`, invalid},
		{`\BaseNamedObjects\Global\`, invalid},
		{"\\BaseNamedObjects\\x\x00", invalid},
		{"\\BaseNamedObjects\\\x00x", invalid},
		{`\Nowhere\`, invalid},

		{`\x`, notFound},
		{`\Global\x`, notFound},
		{`\Nowhere\x`, notFound},
		{`\BaseNamedObject\x`, notFound},
		{`\BaseNamedObjects2\x`, notFound},
		{`\BaseNamedObjects\x\y`, notFound},
		{`\BaseNamedObjects\Global\x\y`, notFound},
		{`\BaseNamedObjects\x\Global\y`, notFound},
		{`\Sessions\x`, notFound},
		{`\Sessions\x\BaseNamedObjects\y`, notFound},
		{`\Sessions\01\BaseNamedObjects\x`, notFound},
		{`\Sessions\00\BaseNamedObjects\x`, notFound},
		{`\Sessions\-1\BaseNamedObjects\x`, notFound},
		{`\Sessions\2147483648\BaseNamedObjects\x`, notFound},
		{`\Sessions\99999999999999999999999999\BaseNamedObjects\x`, notFound},
		{`\Sessions\１\BaseNamedObjects\x`, notFound}, // a digit, but not one of ours
		{`\Sessions\1\Elsewhere\x`, notFound},
		{`\Sessions\1\x`, notFound},
		{`\Sessions\BaseNamedObjects\x`, notFound},
	} {
		n, st := ParseName(wide(c.name))
		if st != c.st {
			t.Errorf("ParseName(%.60q) = %v, want %v", c.name, st, c.st)
		}
		if st == 0 && n.String() != c.name || n.Named() != (st == 0) {
			t.Errorf("ParseName(%.60q): named %v, spelt %.60q", c.name, n.Named(), n)
		}
	}
	for _, odd := range [][]byte{{0}, {'\\', 0, 'x'}, wide(`\BaseNamedObjects\x`)[1:], make([]byte, 2*MaxNameUnits+3)} {
		if _, st := ParseName(odd); st != abi.StatusInvalidParameter {
			t.Errorf("ParseName of %d bytes: %v", len(odd), st)
		}
	}
}

// Which names are one. Source: sharing.md §5, OQ-21, OQ-60.
func TestNamePlaces(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{`\BaseNamedObjects\Frame`, `\BASENAMEDOBJECTS\fRAME`, true},
		{`\BaseNamedObjects\x`, `\BaseNamedObjects\Global\x`, true},
		{`\BaseNamedObjects\x`, `\BaseNamedObjects\Local\x`, true},
		{`\BaseNamedObjects\x`, `\Sessions\4\BaseNamedObjects\Global\x`, true},
		{`\BaseNamedObjects\x`, `\Sessions\4\BaseNamedObjects\Local\Global\x`, true},
		{`\Sessions\4\BaseNamedObjects\x`, `\SESSIONS\4\BaseNamedObjects\LOCAL\X`, true},
		{`\BaseNamedObjects\x`, `\Sessions\4\BaseNamedObjects\x`, false},
		{`\BaseNamedObjects\x`, `\Sessions\0\BaseNamedObjects\x`, false},
		{`\BaseNamedObjects\x`, `\Sessions\4\BaseNamedObjects\Local\x`, false},
		{`\Sessions\4\BaseNamedObjects\x`, `\Sessions\5\BaseNamedObjects\x`, false},
		{`\Sessions\4\BaseNamedObjects\x`, `\Sessions\44\BaseNamedObjects\x`, false},
		{`\BaseNamedObjects\x`, `\BaseNamedObjects\y`, false},
		{`\BaseNamedObjects\x`, `\BaseNamedObjects\x `, false},
		{`\BaseNamedObjects\äöÿж`, `\BaseNamedObjects\ÄÖŸЖ`, true},
		{`\BaseNamedObjects\ß`, `\BaseNamedObjects\SS`, false},        // one to one only
		{`\BaseNamedObjects\i`, `\BaseNamedObjects\İ`, false},         // no locale
		{"\\BaseNamedObjects\\a\u0308", `\BaseNamedObjects\ä`, false}, // no normalisation
		{`\BaseNamedObjects\𐐨`, `\BaseNamedObjects\𐐀`, false},         // beyond U+FFFF
	} {
		if same := mustName(t, c.a).place == mustName(t, c.b).place; same != c.same {
			t.Errorf("%s and %s: same = %v", c.a, c.b, same)
		}
	}
	for name, want := range map[string]bool{
		`\BaseNamedObjects\x`: true, `\Sessions\1\BaseNamedObjects\Global\x`: true,
		`\Sessions\1\BaseNamedObjects\x`: false, `\Sessions\1\BaseNamedObjects\Local\x`: false,
	} {
		if got := mustName(t, name).Global(); got != want {
			t.Errorf("%s: Global = %v", name, got)
		}
	}
	if (Name{}).Named() || (Name{}).Global() {
		t.Error("the zero name is a name")
	}
}

// Any unit but NUL and backslash may stand in a name, unpaired surrogates too, and
// comes back as it was.
func TestNameUnits(t *testing.T) {
	prefix := wide(`\BaseNamedObjects\`)
	for u := range 1 << 16 {
		b := append(prefix[:len(prefix):len(prefix)], units(uint16(u))...)
		n, st := ParseName(b)
		switch {
		case u == 0 || u == '\\':
			if st != abi.StatusObjectNameInvalid {
				t.Fatalf("unit %#x: %v", u, st)
			}
		case st != 0 || string(n.UTF16()) != string(b):
			t.Fatalf("unit %#x: %v, %x", u, st, n.UTF16())
		case u>>11 == 0x1B && n.place.base != string(units(uint16(u))):
			t.Fatalf("surrogate %#x was folded", u)
		case upper(upper(uint16(u))) != upper(uint16(u)):
			t.Fatalf("unit %#x: upper case has an upper case", u)
		}
	}
}

// FuzzName: any bytes are refused with one of the five statuses, or are a name that
// parses again to itself and lies in one place however its case is written.
func FuzzName(f *testing.F) {
	for _, s := range []string{
		`\BaseNamedObjects\x`, `\Sessions\12\BaseNamedObjects\Local\Frame`, `\BaseNamedObjects\Global\`, `\Sessions`, `x`,
		`\Sessions\99999999999\BaseNamedObjects\y`, `\BaseNamedObjects\é𐐨`,
	} {
		f.Add(wide(s))
	}
	f.Add([]byte{'\\'})
	f.Fuzz(func(t *testing.T, b []byte) {
		n, st := ParseName(b)
		if st != 0 {
			switch st {
			case abi.StatusInvalidParameter, abi.StatusObjectNameInvalid, abi.StatusObjectPathSyntaxBad, abi.StatusObjectPathNotFound:
			default:
				t.Fatalf("%x: %v", b, st)
			}
			if n != (Name{}) {
				t.Fatalf("%x: refused, and yet %v", b, n)
			}
			return
		}
		if string(n.UTF16()) != string(b) {
			t.Fatalf("%x is spelt %x", b, n.UTF16())
		}
		folded := []byte{}
		for i := 0; i < len(b); i += 2 {
			folded = binary.LittleEndian.AppendUint16(folded, upper(binary.LittleEndian.Uint16(b[i:])))
		}
		if m, st := ParseName(folded); st != 0 || m.place != n.place {
			t.Fatalf("%x: %v, another place in upper case", b, st)
		}
		if strings.Contains(n.String(), "\x00") {
			t.Fatalf("%x: a NUL", b)
		}
	})
}
