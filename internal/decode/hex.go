package decode

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Groups says how groups of more than two digits are meant.
type Groups string

// The ways to read groups.
const (
	Guess   Groups = "guess"   // by the look of the dump; an error where that says nothing
	Memory  Groups = "memory"  // bytes in the order of their addresses, as xxd shows them
	Numbers Groups = "numbers" // little-endian numbers, as dd, dq and x/xw show them
)

// MaxDump bounds the bytes of a dump; the largest record has some thousand.
const MaxDump = 64 << 10

// ReadHex reads a hex dump: bytes with or without blanks or 0x, C arrays and strings,
// what xxd, hexdump -C, od, WinDbg's db, dw, dd, dq, gdb's x and lldb print, with
// addresses and text columns. A line "*" repeats the one above. Lines of comment begin
// with # or //. The error names the line and what to do.
func ReadHex(text string, groups Groups) ([]byte, error) {
	switch groups {
	case Guess, Memory, Numbers:
	default:
		return nil, fmt.Errorf("%q is no way to read groups; use %s, %s or %s", groups, Guess, Memory, Numbers)
	}
	r := hexReader{groups: groups}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if err := r.line(strings.TrimRight(line, " \t\r\n")); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if len(r.out) > MaxDump {
			return nil, fmt.Errorf("line %d: more than %d bytes; give only the record", n, MaxDump)
		}
	}
	switch {
	case r.repeat:
		return nil, errors.New("the line * at the end repeats for nobody knows how long; let an address follow, or write the bytes out")
	case r.ambiguous > 1:
		return nil, errors.New("groups of more than two digits without addresses may be bytes or numbers: say --groups memory (bytes in order) or --groups numbers (little-endian)")
	case len(r.out) == 0:
		return nil, errors.New("there are no bytes; give a hex dump, like \"05 00 00 00\" or a copy of what xxd or the debugger's db shows")
	}
	return r.out, nil
}

type hexReader struct {
	groups Groups
	out    []byte
	// ambiguous counts groups that could be bytes or numbers alike.
	ambiguous int
	last      []byte // of the line above
	at        string // its address, "" for none
	repeat    bool   // a * waits for the next address
	// base is that of the addresses: 0 while hexadecimal and octal fit alike.
	base int
}

var (
	colonAddress = regexp.MustCompile("^\\s*(?:=>\\s*)?(?:0x)?([0-9a-fA-F`]+)(?:\\s*<[^>]*>)?:(?:\\s+|$)")
	wideAddress  = regexp.MustCompile("^\\s*([0-9a-fA-F]{8}`[0-9a-fA-F]{8}|[0-9a-fA-F]{8}|[0-9a-fA-F]{16})(?: {2,}|\\t)")
	oddAddress   = regexp.MustCompile(`^\s*([0-9a-fA-F]{7}|00[0-9a-fA-F]{4})\s+`)
	loneAddress  = regexp.MustCompile(`^\s*([0-9a-fA-F]{6,16})$`)
	group        = regexp.MustCompile("^(?:(0x)([0-9a-fA-F]+)|([0-9a-fA-F]+)|([0-9a-fA-F]{8})`([0-9a-fA-F]{8}))$")
	dashes       = regexp.MustCompile(`([0-9a-fA-F]{2})-([0-9a-fA-F]{2})`)
	blanks       = strings.NewReplacer(`\x`, " ", `"`, " ", "{", " ", "}", " ", ",", " ", ";", " ")
)

func (r *hexReader) line(line string) error {
	trimmed := strings.TrimSpace(line)
	switch {
	case trimmed == "" || trimmed[0] == '#' || strings.HasPrefix(trimmed, "//"):
		return nil
	case trimmed == "*":
		if len(r.last) == 0 || r.at == "" {
			return errors.New("* repeats a line with an address, and there is none above")
		}
		r.repeat = true
		return nil
	}
	address, numbers, data, tail := split(line, r.at != "")
	if address == "" && r.repeat {
		return errors.New("a line with an address must follow *, to tell for how long it repeats")
	}
	if address != "" && r.at != "" {
		if err := r.follow(address); err != nil {
			return err
		}
	}
	start := len(r.out)
	for _, word := range data {
		ok, err := r.group(word, address != "", numbers)
		if err != nil {
			return err
		}
		if !ok {
			if tail {
				break // the text column
			}
			return fmt.Errorf("%q is no hexadecimal number; take it out, or begin the line with # if it is a comment", word)
		}
	}
	if len(r.out) > start {
		r.last, r.at = r.out[start:len(r.out):len(r.out)], address
	}
	return nil
}

// split takes a line apart. numbers: groups are numbers by the look of the line. tail:
// what is no number ends the data. after: the line above had an address.
func split(line string, after bool) (address string, numbers bool, data []string, tail bool) {
	rest := line
	if m := colonAddress.FindStringSubmatch(line); m != nil {
		address, rest = m[1], line[len(m[0]):]
	} else if m := wideAddress.FindStringSubmatch(line); m != nil {
		address, rest, numbers = m[1], line[len(m[0]):], true
	} else if m := oddAddress.FindStringSubmatch(line); m != nil {
		address, rest, numbers = m[1], line[len(m[0]):], true
	} else if m := loneAddress.FindStringSubmatch(line); m != nil && after {
		return m[1], false, nil, false // how hexdump ends
	}
	if address == "" {
		return "", false, strings.Fields(dashes.ReplaceAllString(dashes.ReplaceAllString(blanks.Replace(line), "$1 $2"), "$1 $2")), false
	}
	rest = dashes.ReplaceAllString(dashes.ReplaceAllString(rest, "$1 $2"), "$1 $2")
	for _, mark := range []string{" |", "  >"} { // hexdump -C, od -tx1z
		if i := strings.Index(rest, mark); i >= 0 {
			return address, numbers, strings.Fields(rest[:i]), true
		}
	}
	rest = strings.TrimLeft(rest, " \t")
	head, text, _ := strings.Cut(rest, "  ")
	data = strings.Fields(head)
	// Some leave a wide gap in the middle of sixteen bytes.
	if more := strings.Fields(text); len(data) == 8 && len(more) <= 8 && allBytes(data) && allBytes(more) {
		data = append(data, more...)
	}
	return address, numbers, data, true
}

func allBytes(words []string) bool {
	for _, w := range words {
		if len(w) != 2 || !group.MatchString(w) {
			return false
		}
	}
	return true
}

// follow checks that an address follows the line above, and repeats that line where a
// * stands between them. od counts in octal, with seven digits as hexdump; which it is
// shows at the second line.
func (r *hexReader) follow(address string) error {
	fits := map[int]int64{} // by base, how often the line above repeats
	for _, base := range []int{16, 8} {
		if r.base != 0 && r.base != base || base == 8 && (len(address) != 7 || len(r.at) != 7) {
			continue
		}
		above, err := strconv.ParseUint(strings.ReplaceAll(r.at, "`", ""), base, 64)
		here, err2 := strconv.ParseUint(strings.ReplaceAll(address, "`", ""), base, 64)
		gap := here - above - uint64(len(r.last))
		if err == nil && err2 == nil && gap <= MaxDump && gap%uint64(len(r.last)) == 0 && (r.repeat || gap == 0) {
			fits[base] = int64(gap) / int64(len(r.last))
		}
	}
	switch {
	case len(fits) == 0 && r.repeat:
		return fmt.Errorf("address %s does not tell how often the line above * repeats; write the bytes out", address)
	case len(fits) == 0:
		return fmt.Errorf("address %s does not follow the line above, %s and %d bytes: lines are missing or mixed up", address, r.at, len(r.last))
	case len(fits) == 2 && fits[8] != fits[16]:
		return fmt.Errorf("address %s may be octal or hexadecimal, so the * above may be short or long; use od -v, hexdump -v or xxd", address)
	}
	for base, n := range fits {
		if len(fits) == 1 {
			r.base = base
		}
		if r.repeat {
			for range n {
				r.out = append(r.out, r.last...)
			}
		}
		r.repeat = false
	}
	return nil
}

// group reads one group. It is false for what is none.
func (r *hexReader) group(word string, addressed, numbers bool) (ok bool, err error) {
	if strings.Trim(word, "?`") == "" {
		return false, fmt.Errorf("the debugger could not read %s there; dump the record where its memory is present", word)
	}
	m := group.FindStringSubmatch(word)
	if m == nil {
		return false, nil
	}
	digits, prefixed := m[3], false
	switch {
	case m[1] != "":
		digits, prefixed = m[2], true
	case m[4] != "":
		digits, prefixed = m[4]+m[5], true
	}
	if len(digits) == 1 || prefixed && len(digits)%2 == 1 {
		digits = "0" + digits
	}
	if len(digits)%2 == 1 {
		return false, fmt.Errorf("%q has half a byte; write two digits for each byte", word)
	}
	b := make([]byte, len(digits)/2)
	for i := range b {
		n, _ := strconv.ParseUint(digits[2*i:2*i+2], 16, 8) // the pattern has seen to it
		b[i] = byte(n)
	}
	if len(b) > 1 && r.reversed(len(b), addressed, numbers || prefixed) {
		if len(b) != 2 && len(b) != 4 && len(b) != 8 {
			return false, fmt.Errorf("%q is no number of 16, 32 or 64 bits; if these are bytes in order, say --groups memory", word)
		}
		for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
	r.out = append(r.out, b...)
	return true, nil
}

// reversed reports whether a group of several bytes is a little-endian number.
func (r *hexReader) reversed(size int, addressed, numbers bool) bool {
	switch {
	case r.groups != Guess:
		return r.groups == Numbers
	case numbers:
		return true
	case !addressed && (size == 2 || size == 4 || size == 8):
		r.ambiguous++
	}
	return false
}
