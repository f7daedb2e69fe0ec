package decode

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strings"
	"unicode"

	"github.com/dxgsync/dxgsync/abi"
)

// textFrom is the number of elements from which an array of numbers is a text.
const textFrom = 32

// packed reports whether a type is a number at any address.
func packed(t reflect.Type) bool {
	switch t {
	case reflect.TypeFor[abi.Packed16](), reflect.TypeFor[abi.Packed32](), reflect.TypeFor[abi.Packed64]():
		return true
	}
	return false
}

// format writes the bytes of a field, which are as many as its type has.
func format(t reflect.Type, name string, b []byte) string {
	switch {
	case t == reflect.TypeFor[abi.LUID]():
		return abi.LUID{LowPart: binary.LittleEndian.Uint32(b), HighPart: int32(binary.LittleEndian.Uint32(b[4:]))}.String()
	case packed(t):
		return plainNumber(name, unsigned(b), len(b))
	case t.Kind() == reflect.Array:
		return array(t, name, b)
	}
	n := unsigned(b)
	if t == reflect.TypeFor[abi.Handle]() {
		h := ExplainHandle(n)
		return h.Value + " (" + h.short() + ")"
	}
	if w := wordOf(t); w != nil {
		return flagText(w, uint32(n))
	}
	v := reflect.New(t).Elem()
	switch {
	case v.CanUint():
		v.SetUint(n)
	case v.CanInt():
		v.SetInt(signed(n, len(b)))
		if t.PkgPath() == "" {
			return fmt.Sprint(v.Int())
		}
	}
	if s, ok := v.Interface().(fmt.Stringer); ok {
		return fmt.Sprintf("%v (%s)", signedIf(v), s)
	}
	if t.PkgPath() != "" { // a flag word without rules
		return fmt.Sprintf("%#x", n)
	}
	return plainNumber(name, n, len(b))
}

func signedIf(v reflect.Value) any {
	if v.CanInt() {
		return v.Int()
	}
	return v.Uint()
}

func unsigned(b []byte) uint64 {
	var wide [8]byte
	copy(wide[:], b)
	return binary.LittleEndian.Uint64(wide[:])
}

func signed(n uint64, size int) int64 {
	shift := 64 - 8*size
	return int64(n<<shift) >> shift
}

func wordOf(t reflect.Type) *abi.Flags {
	switch t {
	case reflect.TypeFor[abi.SyncObjectFlags]():
		return &abi.SyncObjectFlagRules
	case reflect.TypeFor[abi.SignalFlags]():
		return &abi.SignalFlagRules
	case reflect.TypeFor[abi.WaitFromCpuFlags]():
		return &abi.WaitFlagRules
	case reflect.TypeFor[abi.CreateDeviceFlags]():
		return &abi.DeviceFlagRules
	case reflect.TypeFor[abi.CreateContextFlags]():
		return &abi.ContextFlagRules
	case reflect.TypeFor[abi.CreateHwQueueFlags]():
		return &abi.HwQueueFlagRules
	}
	return nil
}

func flagText(f *abi.Flags, v uint32) string {
	if v == 0 {
		return "0"
	}
	text := fmt.Sprintf("%#x (%s", v, f.Format(v))
	if !f.Known(v) {
		text += ", of which the number is reserved"
	}
	return text + ")"
}

// plainNumber writes a number that no type explains: addresses in hexadecimal, others
// in both.
func plainNumber(name string, n uint64, size int) string {
	last := name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case size == 8 && isAddress(last):
		if n == 0 {
			return "0 (none)"
		}
		return fmt.Sprintf("%#x", n)
	case size == 8 && n == math.MaxUint64:
		return "0xffffffffffffffff (the maximum)"
	case n < 10:
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d (%#x)", n, n)
}

// isAddress reports whether a 64-bit field is an address or NT handle, by its name.
func isAddress(name string) bool {
	for _, part := range []string{"Address", "CpuVa", "GpuVa", "Array", "Event"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return len(name) > 1 && strings.ContainsRune("hp", rune(name[0])) && unicode.IsUpper(rune(name[1]))
}

// array writes the elements up to the last that is not 0.
func array(t reflect.Type, name string, b []byte) string {
	elem, size, n := t.Elem(), int(t.Elem().Size()), t.Len()
	used := n
	for used > 0 && unsignedZero(b[(used-1)*size:used*size]) {
		used--
	}
	b = b[:used*size]
	switch {
	case used == 0:
		return fmt.Sprintf("all %d are 0", n)
	case elem.Kind() == reflect.Struct:
		return fmt.Sprintf("% x", b)
	case size == 1:
		return fmt.Sprintf("% x%s", b, rest(n-used))
	}
	if text, ok := characters(elem, n, b); ok {
		return text
	}
	words := make([]string, used)
	for i := range words {
		one := b[i*size : (i+1)*size]
		words[i] = fmt.Sprintf("%#x", unsigned(one))
		if elem != reflect.TypeFor[abi.Handle]() && elem.PkgPath() != "" && !packed(elem) {
			words[i] = format(elem, name, one)
		}
	}
	return "[" + strings.Join(words, " ") + "]" + rest(n-used)
}

func rest(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d more are 0)", n)
}

func unsignedZero(b []byte) bool { return strings.Trim(string(b), "\x00") == "" }

// characters reads a long array of numbers as a text, if it looks like one.
func characters(elem reflect.Type, n int, b []byte) (string, bool) {
	if n < textFrom || elem == reflect.TypeFor[abi.Handle]() || elem.Size() > 4 || elem.PkgPath() != "" && !packed(elem) {
		return "", false
	}
	var text strings.Builder
	for size := int(elem.Size()); len(b) > 0; b = b[size:] {
		r := unsigned(b[:size])
		if r == 0 {
			break
		}
		if r > unicode.MaxRune || !unicode.IsPrint(rune(r)) {
			return "", false
		}
		text.WriteRune(rune(r))
	}
	return fmt.Sprintf("%q", text.String()), true
}
