package suite

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A Value is an argument as the file has it: a number or an expression, or what a
// pointer points to.
type Value struct {
	Text  string
	Form  Form
	List  []*Value // elements of a List; operands of an Expr
	Ops   []string // between the operands of an Expr
	Name  string   // of a Name or a Variable ("x", "p1.x"); the characters of a Text; the unit of a Quantity
	Num   uint64   // of a Number or Quantity; the count of Room, Zeros, Repeat
	Elems []Arg    // members of a Record
}

// Form is what a value is.
type Form uint8

// The forms of values.
const (
	Number   Form = iota // 12, 0x40, MAX
	Name                 // Shared: stands for a number by the field's set
	Variable             // $x, $p1.x
	Expr                 // $x+0x40
	List                 // [1 2 $x]
	Struct               // {Length=0x30}
	Null                 // NULL
	Bad                  // bad: a pointer to nothing readable
	Room                 // room(3): three elements, all bytes 0
	Repeat               // repeat($x 33): 33 times the same element
	Bytes                // bytes(0x10 0xFF): these bytes
	Text                 // "X": characters of 16 bits, without an end
	Quantity             // 16ms, 59.94Hz: in nanoseconds, thousandths of a hertz
)

// maxRoom bounds room and repeat.
const maxRoom = 1 << 16

// maxDepth bounds how deep values nest.
const maxDepth = 16

// ParseValue reads one value.
func ParseValue(text string) (*Value, error) { return parseValue(text, 0) }

func parseValue(text string, depth int) (*Value, error) {
	if depth > maxDepth {
		return nil, errors.New("value nests too deep")
	}
	v := &Value{Text: text}
	switch {
	case text == "":
		return nil, errors.New("value is missing")
	case text == "NULL":
		v.Form = Null
		return v, nil
	case text == "bad":
		v.Form = Bad
		return v, nil
	case text[0] == '"':
		v.Form, v.Name = Text, strings.Trim(text, `"`)
		if len(text) != len(v.Name)+2 {
			return nil, fmt.Errorf("%s is no text between quotes", text)
		}
		return v, nil
	case text[0] == '[':
		v.Form = List
		return v, v.listOf(text, "[", "]", depth)
	case text[0] == '{':
		v.Form = Struct
		words, err := inside(text, "{", "}")
		for _, w := range words {
			a, e := parseArg(w, depth+1)
			if e != nil {
				return nil, e
			}
			v.Elems = append(v.Elems, a)
		}
		return v, err
	case strings.HasPrefix(text, "bytes("):
		v.Form = Bytes
		return v, v.listOf(text, "bytes(", ")", depth)
	case strings.HasPrefix(text, "room("):
		v.Form = Room
		words, err := inside(text, "room(", ")")
		if err == nil {
			err = v.count(words, 1)
		}
		return v, err
	case strings.HasPrefix(text, "repeat("):
		v.Form = Repeat
		words, err := inside(text, "repeat(", ")")
		if err == nil {
			err = v.count(words, 2)
		}
		if err != nil {
			return nil, err
		}
		elem, err := parseValue(words[0], depth+1)
		v.List = []*Value{elem}
		return v, err
	}
	return parseExpr(text, depth)
}

func (v *Value) listOf(text, open, end string, depth int) error {
	words, err := inside(text, open, end)
	for _, w := range words {
		e, err := parseValue(w, depth+1)
		if err != nil {
			return err
		}
		v.List = append(v.List, e)
	}
	return err
}

// count takes the last of n words as the count.
func (v *Value) count(words []string, n int) error {
	if len(words) != n {
		return fmt.Errorf("%q wants %d words", v.Text, n)
	}
	num, err := strconv.ParseUint(words[n-1], 0, 32)
	if err != nil || num > maxRoom {
		return fmt.Errorf("count %q is not a number up to %d", words[n-1], maxRoom)
	}
	v.Num = num
	return nil
}

// inside splits the text between two brackets into words.
func inside(text, open, end string) ([]string, error) {
	if !strings.HasPrefix(text, open) || !strings.HasSuffix(text, end) || len(text) < len(open)+len(end) {
		return nil, fmt.Errorf("%q lacks its closing %q", text, end)
	}
	return words(text[len(open) : len(text)-len(end)])
}

// operators, longest first.
var operators = []string{"==", "!=", ">=", "<=", ">>", "<<", "+", "-", "&", "|", "^", ">", "<"}

// parseExpr reads operands with operators between them, evaluated from the left.
func parseExpr(text string, depth int) (*Value, error) {
	v := &Value{Text: text, Form: Expr}
	rest := text
	for {
		end := len(rest)
		if strings.HasPrefix(rest, "(") {
			if end = closing(rest); end < 0 {
				return nil, fmt.Errorf("%q lacks its closing %q", rest, ")")
			}
			inner, err := parseExpr(rest[1:end-1], depth+1)
			if err != nil || depth >= maxDepth {
				return nil, errors.Join(err, fmt.Errorf("in %q", text))
			}
			v.List = append(v.List, inner)
		} else {
			if i := strings.IndexAny(rest, "=!><+-&|^"); i >= 0 {
				end = i
			}
			o, err := parseOperand(rest[:end])
			if err != nil {
				return nil, err
			}
			v.List = append(v.List, o)
		}
		rest = rest[end:]
		if rest == "" {
			break
		}
		op := ""
		for _, o := range operators {
			if strings.HasPrefix(rest, o) {
				op = o
				break
			}
		}
		if op == "" {
			return nil, fmt.Errorf("no operator at %q", rest)
		}
		v.Ops = append(v.Ops, op)
		rest = rest[len(op):]
	}
	if len(v.List) == 1 && v.List[0].Form != Expr {
		v.List[0].Text = text
		return v.List[0], nil
	}
	return v, nil
}

// closing is the index behind the bracket that closes the first one, -1 if none.
func closing(text string) int {
	depth := 0
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

func parseOperand(text string) (*Value, error) {
	v := &Value{Text: text}
	switch {
	case text == "MAX":
		v.Num = math.MaxUint64
		return v, nil
	case text == "":
		return nil, errors.New("operand is missing")
	case text[0] == '$':
		v.Form, v.Name = Variable, text[1:]
		if process, name, ok := strings.Cut(v.Name, "."); ok && (!isName(process) || !isName(name)) || !ok && !isName(v.Name) {
			return nil, fmt.Errorf("%q is no variable", text)
		}
		return v, nil
	case text[0] >= '0' && text[0] <= '9':
		n, err := strconv.ParseUint(text, 0, 64)
		if err != nil && v.quantity(text) {
			return v, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%q is no 64-bit number", text)
		}
		v.Num = n
		return v, nil
	case isName(text):
		v.Form, v.Name = Name, text
		return v, nil
	}
	return nil, fmt.Errorf("%q is no number, name or variable", text)
}

// units are the units of quantities with their size, as a power of ten.
var units = map[string]int{"ns": 0, "us": 3, "ms": 6, "s": 9, "Hz": 3}

// quantity reads digits, perhaps with decimals, and a unit. It must come out whole.
func (v *Value) quantity(text string) bool {
	at := strings.IndexFunc(text, func(c rune) bool { return c != '.' && (c < '0' || c > '9') })
	if at < 0 {
		return false
	}
	power, ok := units[text[at:]]
	whole, decimals, _ := strings.Cut(text[:at], ".")
	if !ok || len(decimals) > power {
		return false
	}
	n, err := strconv.ParseUint(whole+decimals+strings.Repeat("0", power-len(decimals)), 10, 63)
	v.Form, v.Num, v.Name = Quantity, n, text[at:]
	return err == nil
}

// isName reports whether text is a letter with letters, digits, '_' or '-' behind it.
func isName(text string) bool {
	for i, c := range text {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return text != ""
}

// isMember reports whether text is a name, or names with dots between them, as those
// of members of members are.
func isMember(text string) bool {
	for name := range strings.SplitSeq(text, ".") {
		if !isName(name) {
			return false
		}
	}
	return true
}

// eval computes a number. vars finds variables; set may be nil.
func (v *Value) eval(vars func(name string) (uint64, bool), set *Set) (uint64, error) {
	switch v.Form {
	case Number:
		return v.Num, nil
	case Variable:
		if n, ok := vars(v.Name); ok {
			return n, nil
		}
		return 0, fmt.Errorf("$%s has no value yet", v.Name)
	case Name:
		if set != nil {
			if n, ok := set.Value(v.Name); ok {
				return n, nil
			}
		}
		return 0, fmt.Errorf("name %s is not known here", v.Name)
	case Expr:
		acc, err := v.List[0].eval(vars, set)
		for i, op := range v.Ops {
			n, e := v.List[i+1].eval(vars, set)
			if err = errors.Join(err, e); err == nil {
				acc = apply(op, acc, n)
			}
		}
		return acc, err
	}
	return 0, fmt.Errorf("%q is no number", v.Text)
}

func apply(op string, a, b uint64) uint64 {
	truth := func(t bool) uint64 {
		if t {
			return 1
		}
		return 0
	}
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "&":
		return a & b
	case "|":
		return a | b
	case "^":
		return a ^ b
	case ">>":
		return a >> b
	case "<<":
		return a << b
	case "==":
		return truth(a == b)
	case "!=":
		return truth(a != b)
	case ">":
		return truth(a > b)
	case "<":
		return truth(a < b)
	case ">=":
		return truth(a >= b)
	}
	return truth(a <= b)
}
