package adapter

import (
	"bytes"
	"encoding/binary"
	"testing"
	"unicode/utf16"

	"github.com/dxgsync/dxgsync/abi"
)

const filler = 0xA5

// ask sends a payload of n bytes, filled except for the words at the given offsets.
func ask(p *Profile, typ uint32, n int, words map[int]uint32) (abi.Status, payload) {
	b := payload(bytes.Repeat([]byte{filler}, n))
	for off, v := range words {
		if off+4 <= n {
			b.put32(off, v)
		}
	}
	return p.Query(typ, b), b
}

func neutral(t *testing.T) *Profile {
	t.Helper()
	p, err := Load("neutral")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The sizes are those of the kernel's form, written here a second time on purpose.
var sizes = map[uint32]int{
	1: 524, 3: 24, 4: 16, 6: 12, 8: 2080, 11: 4, 13: 4, 15: 4, 17: 12, 18: 8, 22: 4, 24: 4, 25: 78, 30: 4, 31: 28, 34: 12,
	48: 552, 49: 8, 52: 16, 53: 12, 54: 2080, 55: 4, 56: 4, 57: 4, 58: 12, 59: 4, 60: 80, 65: 8192, 66: 8192, 70: 4, 75: 4, 76: 4, 77: 4, 80: 4,
}

// inputs are the words a caller fills in.
var inputs = map[uint32]map[int]uint32{1: {0: 3}, 25: {0: 1}, 31: {0: 0}, 34: {0: 0}, 48: {0: 2, 4: 1, 528: 0, 532: 0}}

func TestQuerySizes(t *testing.T) {
	p := neutral(t)
	for typ := range uint32(100) {
		size, answered := sizes[typ]
		if !answered {
			for _, n := range []int{0, 4, 16384} {
				if st, b := ask(p, typ, n, nil); st != abi.StatusInvalidParameter || !filled(b) {
					t.Errorf("type %d with %d bytes: %v, or bytes changed", typ, n, st)
				}
			}
			continue
		}
		if st := p.Query(typ, nil); st != abi.StatusInvalidParameter {
			t.Errorf("type %d, NULL: %v", typ, st)
		}
		if st, _ := ask(p, typ, 0, nil); st != abi.StatusInvalidParameter {
			t.Errorf("type %d, empty: %v", typ, st)
		}
		before := payload(bytes.Repeat([]byte{filler}, size-1))
		for off, v := range inputs[typ] {
			before.put32(off, v)
		}
		if st, b := ask(p, typ, size-1, inputs[typ]); st != abi.StatusInvalidParameter || !bytes.Equal(b, before) {
			t.Errorf("type %d, one byte too small: %v, or bytes changed", typ, st)
		}
		if st, _ := ask(p, typ, size, inputs[typ]); st != abi.StatusSuccess {
			t.Errorf("type %d, exact size: %v", typ, st)
		}
		st, b := ask(p, typ, size+8, inputs[typ])
		if st != abi.StatusSuccess || !filled(b[size:]) {
			t.Errorf("type %d, larger: %v, or bytes behind the answer changed", typ, st)
		}
	}
}

func filled(b []byte) bool {
	for _, c := range b {
		if c != filler {
			return false
		}
	}
	return true
}

func TestQueryWords(t *testing.T) {
	p := neutral(t)
	tests := []struct {
		typ  uint32
		want uint32
	}{
		{11, 0},
		{13, 3200},
		{15, 3},
		{22, 0x38},
		{24, 0x3F},
		{30, 1},
		{55, 0},
		{56, 3200},
		{57, 3},
		{59, 0x38},
		{70, 0xF},
		{75, 0x6},
		{76, 2},
		{77, 0xE},
		{80, 1},
	}
	for _, tt := range tests {
		if _, b := ask(p, tt.typ, 4, nil); b.get32(0) != tt.want {
			t.Errorf("type %d answers %#x, want %#x", tt.typ, b.get32(0), tt.want)
		}
	}
	p.HwScheduling = Feature{Support: SupportExperimental}
	p.Caps = 0
	if _, b := ask(p, 70, 4, nil); b.get32(0) != 1 {
		t.Errorf("supported but off: WDDM_2_7_CAPS %#x", b.get32(0))
	}
	if _, b := ask(p, 75, 4, nil); b.get32(0) != 1 {
		t.Errorf("experimental and off: WDDM_2_9_CAPS %#x", b.get32(0))
	}
	if _, b := ask(p, 80, 4, nil); b.get32(0) != 0 {
		t.Errorf("without native fences: WDDM_3_1_CAPS %#x", b.get32(0))
	}
}

func TestQueryRecords(t *testing.T) {
	p := neutral(t)
	_, b := ask(p, 3, 24, nil)
	for i, want := range []uint64{8192 << 20, 0, 16384 << 20} {
		if got := binary.LittleEndian.Uint64(b[8*i:]); got != want {
			t.Errorf("segment size %d = %d, want %d", i, got, want)
		}
	}
	if _, b := ask(p, 6, 12, nil); b.get32(0) != 1 || b.get32(4) != 0 || b.get32(8) != 0 {
		t.Errorf("address % x", b)
	}
	if _, b := ask(p, 17, 12, nil); b.get32(0) != 200 || b.get32(4) != 300 || b.get32(8) != 0x1D7 {
		t.Errorf("WDDM_1_2_CAPS % x", b)
	}
	if _, b := ask(p, 18, 8, nil); b.get32(4) != 32<<16 || b.get32(0) != 1 {
		t.Errorf("driver version % x", b)
	}
	if _, b := ask(p, 34, 12, inputs[34]); b.get32(4) != 7 || b.get32(8) != 48 {
		t.Errorf("GPU MMU % x", b)
	}
	_, b = ask(p, 31, 28, inputs[31])
	for i, want := range []uint32{0, 0xd36c, 1, 0xd36c, 1, 1, 5} {
		if b.get32(4*i) != want {
			t.Errorf("device ids word %d = %#x, want %#x", i, b.get32(4*i), want)
		}
	}
}

func TestQueryTexts(t *testing.T) {
	p := neutral(t)
	p.Strings.Adapter = "Product 😀"
	tests := []struct {
		typ        uint32
		off, chars int
		want       string
	}{
		{1, 4, 260, "libdxgsync_umd.so"},
		{8, 0, 260, "Product 😀"},
		{54, 520, 260, "dxgsync 1"},
		{54, 1040, 260, "Virtual DAC"},
		{54, 1560, 260, "dxgsync Virtual Render Device"},
		{60, 0, 40, "{6d2a6b1e-8f0f-4c5c-9d0a-0d36c0000001}"},
		{65, 0, 4096, "dxgsync Virtual Render Device"},
		{66, 0, 4096, "dxgsync Virtual Render Device"},
	}
	for _, tt := range tests {
		_, b := ask(p, tt.typ, sizes[tt.typ], inputs[tt.typ])
		want := utf16.Encode([]rune(tt.want))
		for i := range tt.chars {
			var w uint16
			if i < len(want) {
				w = want[i]
			}
			if got := binary.LittleEndian.Uint16(b[tt.off+2*i:]); got != w {
				t.Errorf("type %d at %d: character %d is %#x, want %#x of %q", tt.typ, tt.off, i, got, w, tt.want)
				break
			}
		}
	}
	p.Strings.Adapter = ""
	if _, b := ask(p, 54, 2080, nil); b.getText(0, 260) != p.Description {
		t.Errorf("without a product name: %q", b.getText(0, 260))
	}
}

func TestQueryUMDName(t *testing.T) {
	p := neutral(t)
	p.UMD = []string{"a", "", "c"}
	for version, want := range map[uint32]abi.Status{
		0: abi.StatusSuccess, 1: abi.StatusInvalidParameter, 2: abi.StatusSuccess, 3: abi.StatusInvalidParameter,
		4: abi.StatusInvalidParameter, 0xFFFFFFFF: abi.StatusInvalidParameter,
	} {
		st, b := ask(p, 1, 524, map[int]uint32{0: version})
		if st != want {
			t.Errorf("version %d: %v, want %v", version, st, want)
		}
		if st != abi.StatusSuccess && !filled(b[4:]) {
			t.Errorf("version %d: refused and written", version)
		}
	}
}

func TestQueryUMDriverPrivate(t *testing.T) {
	p := neutral(t)
	if st, _ := ask(p, 0, 65536, nil); st != abi.StatusInvalidParameter {
		t.Errorf("without bytes: %v", st)
	}
	p.UMDPrivate = Bytes{1, 2, 3, 4, 5}
	if st, b := ask(p, 0, 4, nil); st != abi.StatusInvalidParameter || !filled(b) {
		t.Errorf("one byte too small: %v % x", st, b)
	}
	if st, b := ask(p, 0, 6, nil); st != abi.StatusSuccess || !bytes.Equal(b, []byte{1, 2, 3, 4, 5, filler}) {
		t.Errorf("larger: %v % x", st, b)
	}
}

func TestQueryNodeMetadata(t *testing.T) {
	p := neutral(t)
	for i, n := range p.Nodes {
		st, b := ask(p, 25, 78, map[int]uint32{0: uint32(i)})
		if st != abi.StatusSuccess || b.get32(0) != uint32(i) || b.get32(4) != uint32(n.Engine) || b.getText(8, 32) != n.FriendlyName ||
			b.get32(72) != 2<<16|9 || b[76] != 1 || b[77] != 1 {
			t.Errorf("node %d: %v % x", i, st, b)
		}
	}
	for _, word := range []uint32{3, 1 << 16, 0xFFFFFFFF} {
		if st, b := ask(p, 25, 78, map[int]uint32{0: word}); st != abi.StatusInvalidParameter || !filled(b[4:]) {
			t.Errorf("node and adapter %#x: %v", word, st)
		}
	}
	p.PhysicalAdapters = 2
	p.Caps &^= IoMmuSupported
	if st, b := ask(p, 25, 78, map[int]uint32{0: 1<<16 | 2}); st != abi.StatusSuccess || b[77] != 0 {
		t.Errorf("second physical adapter: %v % x", st, b)
	}
}

func TestQueryPhysicalIndex(t *testing.T) {
	p := neutral(t)
	for _, typ := range []uint32{31, 34} {
		for _, index := range []uint32{1, 0x80000000, 0xFFFFFFFF} {
			if st, b := ask(p, typ, sizes[typ], map[int]uint32{0: index}); st != abi.StatusInvalidParameter || !filled(b[4:]) {
				t.Errorf("type %d, physical adapter %#x: %v", typ, index, st)
			}
		}
	}
}
