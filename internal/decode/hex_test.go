package decode

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
)

// sample is what the dumps below show: a line that is not full, and zeros to repeat.
func sample() []byte {
	b := make([]byte, 72)
	copy(b, "\x80\x04\x00\x40\x00\x00\x00\x00\x05\x00\x00\x00\x83\x00\x00\x00\x07\xab\xcd\xef ab cd |x| -")
	b[71] = 0xEE
	return b
}

var dumps = map[string]string{
	"bytes":      "80 04 00 40 00 00 00 00 05 00 00 00 83 00 00 00",
	"prefixed":   "0x80, 0x4, 0x0, 0x40, 0x0,0x00,0x00,0x00, {0x05,0,0,0}; 0x83 0 0 0",
	"continuous": "8004004000000000" + "0500000083000000",
	"C string":   `"\x80\x04\x00\x40\x00\x00\x00\x00" "\x05\x00\x00\x00\x83\x00\x00\x00"`,
	"comments":   "# taken at 12:00\n\n80 04 00 40\n// the rest\n00 00 00 00\r\n05 00 00 00 83 00 00 00\n",
	"xxd":        "00000000: 8004 0040 0000 0000 0500 0000 8300 0000  ...@............\n",
	"xxd -g1":    "00000000: 80 04 00 40 00 00 00 00 05 00 00 00 83 00 00 00  ...@............\n",
	"xxd -g4":    "00000000: 80040040 00000000 05000000 83000000  ...@............\n",
	"xxd -c8":    "00000000: 8004 0040 0000 0000  ab cd ef\n00000008: 0500 0000 8300 0000  ........\n",
	"hexdump -C": "00000000  80 04 00 40 00 00 00 00  05 00 00 00 83 00 00 00  |...@....ab cd ef|\n00000010\n",
	"no text":    "00000000  80 04 00 40 00 00 00 00  05 00 00 00 83 00 00 00\n",
	"hexdump":    "0000000 0480 4000 0000 0000 0005 0000 0083 0000\n0000010\n",
	"od -tx1":    "0000000 80 04 00 40 00 00 00 00 05 00 00 00 83 00 00 00\n0000020\n",
	"od -tx1z":   "0000000 80 04 00 40 00 00 00 00  >...@....<\n0000010 05 00 00 00 83 00 00 00  >ab cd<\n0000020\n",
	"od -Ax":     "000000 80 04 00 40 00 00 00 00 05 00 00 00 83 00 00 00\n000010\n",
	"db":         "00000094`0a14f5c0  80 04 00 40 00 00 00 00-05 00 00 00 83 00 00 00  ...@............\n",
	"db 32":      "0a14f5c0  80 04 00 40 00 00 00 00-05 00 00 00 83 00 00 00  ...@............\n",
	"dw":         "00000094`0a14f5c0  0480 4000 0000 0000 0005 0000 0083 0000\n",
	"dd":         "00000094`0a14f5c0  40000480 00000000 00000005 00000083\n",
	"dq":         "00000094`0a14f5c0  00000000`40000480 00000083`00000005\n",
	"dps":        "00000094`0a14f5c0  00000000`40000480\n00000094`0a14f5c8  00000083`00000005 nt!KiSystem+0x5\n",
	"x/xb":       "0x7ffe10:\t0x80\t0x04\t0x00\t0x40\t0x00\t0x00\t0x00\t0x00\n0x7ffe18:\t0x05\t0x00\t0x00\t0x00\t0x83\t0x00\t0x00\t0x00\n",
	"x/xw":       "0x7ffe10 <rec>:\t0x40000480\t0x00000000\t0x00000005\t0x00000083\n",
	"x/xg":       "=> 0x7ffe10 <rec+16>:\t0x0000000040000480\t0x0000008300000005\n",
	"lldb":       "0x16fdff2f0: 80 04 00 40 00 00 00 00 05 00 00 00 83 00 00 00  ...@............\n",
	"one qword":  "0x0000000040000480 0x0000008300000005",
}

func TestDumps(t *testing.T) {
	for name, text := range dumps {
		got, err := ReadHex(text, Guess)
		if err != nil || !bytes.Equal(got, sample()[:16]) {
			t.Errorf("%s: % x, %v", name, got, err)
		}
	}
}

func TestRepeatedLines(t *testing.T) {
	want := append(bytes.Repeat([]byte{0}, 0x60), 1, 2)
	for name, text := range map[string]string{
		"hexdump -C": "00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n*\n00000060  01 02    |..|\n00000062\n",
		"od":         "0000000 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n0000020 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n*\n0000140 01 02\n0000142\n",
		"hexdump":    "0000000 0000 0000 0000 0000 0000 0000 0000 0000\n0000010 0000 0000 0000 0000 0000 0000 0000 0000\n*\n0000060 0201\n0000062\n",
		"xxd -a":     "00000000: 0000 0000 0000 0000 0000 0000 0000 0000  ................\n*\n00000060: 0102                                     ..\n",
	} {
		if got, err := ReadHex(text, Guess); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: % x, %v", name, got, err)
		}
	}
}

func TestGroupsMayBeSaid(t *testing.T) {
	const text = "40000480 00000001"
	for groups, want := range map[Groups]string{Memory: "4000048000000001", Numbers: "8004004001000000"} {
		if got, err := ReadHex(text, groups); err != nil || hex.EncodeToString(got) != want {
			t.Errorf("%s: %x, %v", groups, got, err)
		}
	}
	for text, want := range map[string]string{"00000000: 40000480": "80040040", "00000000: 8004 0040": "04804000"} { // xxd -e
		if got, err := ReadHex(text, Numbers); err != nil || hex.EncodeToString(got) != want {
			t.Errorf("%s: %x, %v", text, got, err)
		}
	}
}

func TestDumpsThatAreNone(t *testing.T) {
	for _, c := range []struct {
		text   string
		groups Groups
		want   string
	}{
		{"", Guess, "there are no bytes; give a hex dump"},
		{"# nothing\n", Guess, "there are no bytes"},
		{"05 00 0g", Guess, `line 1: "0g" is no hexadecimal number; take it out`},
		{"05\n00 123", Guess, `line 2: "123" has half a byte; write two digits for each byte`},
		{"40000480 00000001", Guess, "say --groups memory (bytes in order) or --groups numbers"},
		{"01 02", "big", `"big" is no way to read groups; use guess, memory or numbers`},
		{"0a14f5c0  ???????? ????????", Guess, "line 1: the debugger could not read ???????? there"},
		{"*", Guess, "line 1: * repeats a line with an address, and there is none above"},
		{"00000000: 0000\n*\n", Guess, "the line * at the end repeats for nobody knows how long"},
		{"00000000: 0000\n*\n01 02", Guess, "line 3: a line with an address must follow *"},
		{"00000000: 0000\n*\n00000003: 00", Guess, "line 3: address 00000003 does not tell how often"},
		{"00000000: 0000\n*\nffffffff: 00", Guess, "line 3: address ffffffff does not tell how often"},
		{"00000000: 0000\n00000010: 00", Guess, "line 2: address 00000010 does not follow the line above, 00000000 and 2 bytes"},
		{"0000000 00000000 00000000 00000000 00000000\n*\n0000720\n", Guess, "line 3: address 0000720 may be octal or hexadecimal"},
		{"0x112233", Guess, `line 1: "0x112233" is no number of 16, 32 or 64 bits`},
		{strings.Repeat("00", MaxDump+1), Guess, "line 1: more than 65536 bytes; give only the record"},
	} {
		if got, err := ReadHex(c.text, c.groups); err == nil || !strings.HasPrefix(err.Error(), c.want) && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: %x, %v; want %s", c.text, got, err, c.want)
		}
	}
}

// write shows bytes as a tool would, in lines of sixteen.
func write(style int, b []byte) string {
	var s strings.Builder
	for at := 0; at < len(b); at += 16 {
		line := b[at:min(at+16, len(b))]
		switch style {
		case 0: // xxd -g1
			fmt.Fprintf(&s, "%08x: %-47s  %s\n", at, fmt.Sprintf("% x", line), strings.Map(visible, string(line)))
		case 1: // hexdump -C
			first, second := line[:min(8, len(line))], line[min(8, len(line)):]
			fmt.Fprintf(&s, "%08x  %-23s  %-23s  |%s|\n", at, fmt.Sprintf("% x", first), fmt.Sprintf("% x", second), strings.Map(visible, string(line)))
		case 2: // dd
			fmt.Fprintf(&s, "00000001`%08x ", at)
			for i := 0; i+4 <= len(line); i += 4 {
				fmt.Fprintf(&s, " %08x", binary.LittleEndian.Uint32(line[i:]))
			}
			s.WriteByte('\n')
		case 3: // plain
			fmt.Fprintf(&s, "%x\n", line)
		}
	}
	return s.String()
}

func visible(r rune) rune {
	if r < ' ' || r > '~' {
		return '.'
	}
	return r
}

func TestStylesShowTheSameBytes(t *testing.T) {
	for style := range 4 {
		text := write(style, sample())
		if style == 3 {
			text = strings.ReplaceAll(text, "\n", "")
		}
		if got, err := ReadHex(text, Guess); err != nil || !bytes.Equal(got, sample()) {
			t.Errorf("style %d: % x, %v\n%s", style, got, err, text)
		}
	}
}

// Whatever the text, there is an error or a bounded number of bytes; and bytes that a
// tool shows come back.
func FuzzReadHex(f *testing.F) {
	for _, text := range dumps {
		f.Add(text, "guess")
	}
	f.Add("0000000 0000 0000\n*\n0000060 0201\n0000062\n", "memory")
	f.Add("40000480 00000001", "numbers")
	f.Fuzz(func(t *testing.T, text, groups string) {
		b, err := ReadHex(text, Groups(groups))
		if (err == nil) != (len(b) > 0) || len(b) > MaxDump {
			t.Fatalf("%d bytes, %v", len(b), err)
		}
		raw := []byte(text[:min(len(text), 300)])
		if len(raw) == 0 {
			return
		}
		if got, err := ReadHex(write(1, raw), Guess); err != nil || !bytes.Equal(got, raw) {
			t.Fatalf("% x became % x, %v", raw, got, err)
		}
		if whole := raw[:len(raw)&^3]; len(whole) > 0 {
			if got, err := ReadHex(write(2, whole), Guess); err != nil || !bytes.Equal(got, whole) {
				t.Fatalf("% x became % x, %v", whole, got, err)
			}
		}
	})
}
