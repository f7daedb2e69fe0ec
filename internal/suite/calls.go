package suite

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"sync"

	"github.com/dxgsync/dxgsync/conformance"
)

// A Table holds the calls, records and names that scenarios are written with.
// It is read from conformance/calls.txt and knows nothing of package abi, so that a
// mistake there shows as a failing scenario.
type Table struct {
	Calls   []*Call
	calls   map[string]*Call
	records map[string]*Record
	sets    map[string]*Set
}

// A Call is one function, without its D3DKMT prefix, and its argument record.
type Call struct {
	Name string
	Record
}

// A Record is a structure of the public headers, as 64-bit Linux lays it out.
type Record struct {
	CName  string // as the headers spell it
	Size   int    // bytes
	Fields []*Field
	// Inline are the arrays that lie in the record itself. Each of their elements is a
	// field, NAME[0] and so on, which only its array can be given by.
	Inline []*Inline
}

// An Inline is an array in a record.
type Inline struct {
	Name    string
	Fields  []*Field // its elements
	CountBy *Field   // the field that counts them, nil: there are always all

	countName string
}

// A Field is a member of a record.
type Field struct {
	Name    string
	Offset  int
	Size    int    // bytes: 1, 2, 4 or 8
	Shown   string // hex, dec, handle, address, file, record or the name of a set
	CMember string // as C reaches it, "Info.Flags.Value"
	Pointer *Pointer
	Index   int // of the pointer among the record's pointers
	// If, in a union: the field that says which member is meant, and its value for
	// this one. nil: always meant.
	If    *Field
	Value uint64
}

// meant reports whether a member of a union is the one that is meant in a record.
func (f *Field) meant(record []byte) bool { return f.If == nil || number(record, f.If) == f.Value }

// A Pointer says what a pointer field points to.
type Pointer struct {
	Elem    int     // bytes of an element
	Bytes   bool    // raw bytes
	Record  *Record // of records, else nil
	CountBy *Field  // the field that counts the elements, nil:
	Count   int     // always so many; 0: as many as there are

	countName string
}

// Field finds a field by its name, nil if there is none.
func (r *Record) Field(name string) *Field {
	for _, f := range r.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// Pointers returns the pointer fields in record order.
func (r *Record) Pointers() []*Field {
	var all []*Field
	for _, f := range r.Fields {
		if f.Pointer != nil {
			all = append(all, f)
		}
	}
	return all
}

// inline finds an array in the record by its name, nil if there is none.
func (r *Record) inline(name string) *Inline {
	for _, a := range r.Inline {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// Call finds a call by its name without prefix, nil if there is none.
func (t *Table) Call(name string) *Call { return t.calls[name] }

// Set finds a set of names, nil if there is none.
func (t *Table) Set(name string) *Set { return t.sets[name] }

// A Set is a set of names for values, or for bits when Bits is set.
type Set struct {
	Bits   bool
	Names  []string
	Values []uint64
}

// Value finds the value of a name.
func (s *Set) Value(name string) (uint64, bool) {
	for i, n := range s.Names {
		if n == name {
			return s.Values[i], true
		}
	}
	return 0, false
}

// String writes v with the set's names, or as a number where it has none.
func (s *Set) String(v uint64) string {
	if !s.Bits {
		for i, w := range s.Values {
			if w == v {
				return s.Names[i]
			}
		}
		return fmt.Sprintf("%#x", v)
	}
	var parts []string
	rest := v
	for i, bit := range s.Values {
		if v&bit == bit {
			parts = append(parts, s.Names[i])
			rest &^= bit
		}
	}
	if rest != 0 || len(parts) == 0 {
		parts = append(parts, fmt.Sprintf("%#x", rest))
	}
	return strings.Join(parts, "|")
}

// DefaultTable is the table of the embedded corpus.
var DefaultTable = sync.OnceValue(func() *Table {
	text, err := fs.ReadFile(conformance.Files, conformance.Calls)
	if err == nil {
		var t *Table
		if t, err = ParseTable(string(text)); err == nil {
			return t
		}
	}
	panic(fmt.Sprintf("suite: %s: %v", conformance.Calls, err)) // our own file, checked by tests
})

// ParseTable reads a table of calls. The error names the line.
func ParseTable(text string) (*Table, error) {
	t := &Table{calls: map[string]*Call{}, records: map[string]*Record{}, sets: map[string]*Set{}}
	var rec *Record
	var set *Set
	for i, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || words[0][0] == '#' {
			continue
		}
		var err error
		switch {
		case line[0] != ' ':
			rec, set, err = t.open(words)
		case rec != nil:
			err = t.field(rec, words)
		case set != nil:
			err = set.add(words)
		default:
			err = fmt.Errorf("indented line belongs to nothing")
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	for _, c := range t.Calls {
		if err := c.counts(); err != nil {
			return nil, fmt.Errorf("call %s: %w", c.Name, err)
		}
	}
	for _, r := range t.records {
		if err := r.counts(); err != nil {
			return nil, fmt.Errorf("record %s: %w", r.CName, err)
		}
	}
	return t, nil
}

// counts checks that every counted pointer has found its count.
func (r *Record) counts() error {
	for _, f := range r.Pointers() {
		if p := f.Pointer; p.countName != "" && p.CountBy == nil {
			return fmt.Errorf("%s has no count", f.Name)
		}
	}
	for _, a := range r.Inline {
		if a.countName != "" && a.CountBy == nil {
			return fmt.Errorf("%s has no count", a.Name)
		}
	}
	return nil
}

func (t *Table) open(words []string) (*Record, *Set, error) {
	switch {
	case words[0] == "names" && len(words) == 2, words[0] == "flags" && len(words) == 2:
		s := &Set{Bits: words[0] == "flags"}
		t.sets[words[1]] = s
		return nil, s, nil
	case words[0] == "record" && len(words) == 3, words[0] == "call" && len(words) == 4:
		size, err := strconv.ParseInt(words[len(words)-1], 0, 32)
		if err != nil || size <= 0 {
			return nil, nil, fmt.Errorf("size %q is no number of bytes", words[len(words)-1])
		}
		if words[0] == "record" {
			r := &Record{CName: words[1], Size: int(size)}
			t.records[words[1]] = r
			return r, nil, nil
		}
		c := &Call{Name: words[1], Record: Record{CName: words[2], Size: int(size)}}
		t.Calls = append(t.Calls, c)
		t.calls[c.Name] = c
		return &c.Record, nil, nil
	}
	return nil, nil, fmt.Errorf("%q begins nothing known", words[0])
}

func (s *Set) add(words []string) error {
	if len(words) != 2 {
		return fmt.Errorf("want NAME VALUE")
	}
	v, err := strconv.ParseUint(words[1], 0, 64)
	if err != nil {
		return fmt.Errorf("value %q is no number", words[1])
	}
	s.Names, s.Values = append(s.Names, words[0]), append(s.Values, v)
	return nil
}

// field reads "name offset type [pointee] shown member [if FIELD=VALUE]". A pointer
// may be counted by a field before or after it.
func (t *Table) field(rec *Record, words []string) error {
	var condition string
	if n := len(words); n > 2 && words[n-2] == "if" {
		words, condition = words[:n-2], words[n-1]
	}
	pointer := len(words) == 6 && words[2] == "ptr"
	inline := len(words) == 6 && words[2] != "ptr"
	if len(words) != 5 && !pointer && !inline {
		return fmt.Errorf("want NAME OFFSET TYPE SHOWN MEMBER")
	}
	if !isMember(words[0]) || rec.Field(words[0]) != nil || rec.inline(words[0]) != nil {
		return fmt.Errorf("%q is no name, or taken", words[0])
	}
	if inline {
		return t.inline(rec, words)
	}
	off, err := strconv.ParseInt(words[1], 0, 32)
	if err != nil || off < 0 {
		return fmt.Errorf("offset %q is no number", words[1])
	}
	f := &Field{Name: words[0], Offset: int(off), Size: 8, Shown: words[len(words)-2], CMember: words[len(words)-1]}
	switch {
	case pointer:
		f.Index = len(rec.Pointers())
		if f.Pointer, err = t.pointee(rec, words[3]); err != nil {
			return err
		}
	case words[2] == "u16":
		f.Size = 2
	case words[2] == "u32":
		f.Size = 4
	case words[2] != "u64":
		return fmt.Errorf("type %q is not u16, u32, u64 or ptr", words[2])
	}
	if f.Offset+f.Size > rec.Size {
		return fmt.Errorf("%s ends behind the record", f.Name)
	}
	switch f.Shown {
	case "hex", "dec", "handle", "address", "file", "record":
	default:
		if t.sets[f.Shown] == nil {
			return fmt.Errorf("names %q are not defined above", f.Shown)
		}
	}
	if condition != "" {
		if err := t.condition(rec, f, condition); err != nil {
			return err
		}
	}
	rec.Fields = append(rec.Fields, f)
	for _, p := range rec.Pointers() {
		if p.Pointer.countName == f.Name {
			p.Pointer.CountBy = f
		}
	}
	for _, a := range rec.Inline {
		if a.countName == f.Name {
			a.CountBy = f
		}
	}
	return nil
}

// maxInline bounds the elements of an array in a record.
const maxInline = 256

// inline reads "name offset NUMBER u32[COUNT] shown member" or "name offset NUMBER u8
// shown member", an array in the record.
func (t *Table) inline(rec *Record, words []string) error {
	n, err := strconv.ParseUint(words[2], 0, 16)
	if err != nil || n == 0 || n > maxInline {
		return fmt.Errorf("%q is no number of elements", words[2])
	}
	off, err := strconv.ParseInt(words[1], 0, 32)
	if err != nil {
		return fmt.Errorf("offset %q is no number", words[1])
	}
	kind, count, _ := strings.Cut(strings.TrimSuffix(words[3], "]"), "[")
	size, ok := map[string]int{"u8": 1, "u32": 4}[kind]
	if !ok || (kind == "u32") != (count != "") {
		return fmt.Errorf("elements %q are neither u32[COUNT] nor u8", words[3])
	}
	a := &Inline{Name: words[0], countName: count, CountBy: rec.Field(count)}
	for i := range n {
		index := fmt.Sprintf("[%d]", i)
		f := &Field{Name: words[0] + index, Offset: int(off) + size*int(i), Size: size, Shown: words[4], CMember: words[5] + index}
		if off < 0 || f.Offset+f.Size > rec.Size {
			return fmt.Errorf("%s ends behind the record", f.Name)
		}
		a.Fields = append(a.Fields, f)
	}
	if words[4] != "handle" && words[4] != "dec" && words[4] != "hex" {
		return fmt.Errorf("%s is shown neither as handle nor as dec nor as hex", words[0])
	}
	rec.Fields = append(rec.Fields, a.Fields...)
	rec.Inline = append(rec.Inline, a)
	return nil
}

// condition reads "FIELD=VALUE" with a name of the field's set.
func (t *Table) condition(rec *Record, f *Field, text string) error {
	name, value, _ := strings.Cut(text, "=")
	f.If = rec.Field(name)
	if f.If == nil {
		return fmt.Errorf("field %q is not defined above", name)
	}
	set, ok := t.sets[f.If.Shown], false
	if set != nil {
		f.Value, ok = set.Value(value)
	}
	if !ok {
		return fmt.Errorf("%s has no value %q", name, value)
	}
	return nil
}

func (t *Table) pointee(rec *Record, text string) (*Pointer, error) {
	elem, count, ok := strings.Cut(strings.TrimSuffix(text, "]"), "[")
	if !ok {
		return nil, fmt.Errorf("pointee %q is not ELEMENT[COUNT]", text)
	}
	p := &Pointer{}
	switch elem {
	case "u32":
		p.Elem = 4
	case "u64":
		p.Elem = 8
	case "bytes":
		p.Elem, p.Bytes = 1, true
	default:
		if p.Record = t.records[elem]; p.Record == nil {
			return nil, fmt.Errorf("record %q is not defined above", elem)
		}
		p.Elem = p.Record.Size
	}
	if n, err := strconv.Atoi(count); err == nil {
		p.Count = n
	} else if count != "" {
		p.countName, p.CountBy = count, rec.Field(count)
	}
	return p, nil
}
