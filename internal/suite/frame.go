package suite

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
)

var le = binary.LittleEndian

// vars finds the value of a variable by "x" or "p1.x".
type vars = func(name string) (uint64, bool)

// maxPadded is the largest count for which missing elements are made up.
const maxPadded = 8192

// newFrame builds the frame of a call from a step's arguments. Fields that are not
// named are 0, or have every byte as "fill" says; pointers are NULL. A count that is
// not given is the number of elements given; one that is larger than that
// lengthens the data with zeros, so that nobody reads behind it.
func newFrame(t *Table, call *Call, args []Arg, lookup vars) (*Frame, error) {
	f := &Frame{Call: call, Record: make([]byte, call.Size), Data: make([]Data, len(call.Pointers()))}
	given := map[*Field]bool{}
	for _, a := range args {
		switch {
		case a.Name == "" && a.Value.Form == Null && len(args) == 1:
			f.Null = true
			continue
		case a.Name == "fill":
			n, err := a.Value.eval(lookup, nil)
			if err != nil {
				return nil, err
			}
			f.fill(byte(n))
			continue
		case a.Name == "":
			return nil, fmt.Errorf("argument %q has no field name", a.Value.Text)
		}
		field := call.Field(a.Name)
		if field == nil {
			return nil, fmt.Errorf("%s has no field %s", call.Name, a.Name)
		}
		if given[field] {
			return nil, fmt.Errorf("field %s is given twice", a.Name)
		}
		given[field] = true
		var err error
		if field.Pointer != nil {
			f.Data[field.Index], err = t.data(field, a.Value, lookup)
		} else {
			err = t.put(f.Record, field, a.Value, lookup)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Name, err)
		}
	}
	for _, field := range call.Pointers() {
		f.counted(field, given)
	}
	return f, nil
}

func (f *Frame) fill(b byte) {
	for i := range f.Record {
		f.Record[i] = b
	}
	for _, p := range f.Call.Pointers() {
		clear(f.Record[p.Offset : p.Offset+8])
	}
	for _, p := range f.Call.Pointers() {
		if c := p.Pointer.CountBy; c != nil {
			clear(f.Record[c.Offset : c.Offset+c.Size])
		}
	}
}

// counted makes data and count of a pointer agree.
func (f *Frame) counted(field *Field, given map[*Field]bool) {
	p, d := field.Pointer, &f.Data[field.Index]
	n := p.Count
	if c := p.CountBy; c != nil {
		if !given[c] && d.State == Present && given[field] {
			putNumber(f.Record, c, max(number(f.Record, c), uint64(len(d.Bytes)/p.Elem)))
		}
		n = int(min(number(f.Record, c), maxRoom))
		if number(f.Record, c) > maxPadded {
			n = 0 // must be refused for its count, before anybody reads
		}
	}
	if missing := n*p.Elem - len(d.Bytes); d.State == Present && missing > 0 {
		d.Bytes = append(d.Bytes, make([]byte, missing)...)
	}
}

// put stores a scalar argument.
func (t *Table) put(record []byte, f *Field, v *Value, lookup vars) error {
	n, err := uint64(0), error(nil)
	if v.Form != Null {
		n, err = v.eval(lookup, t.sets[f.Shown])
	}
	if err != nil {
		return err
	}
	if f.Size == 4 && n>>32 != 0 {
		return fmt.Errorf("%#x does not fit 32 bits", n)
	}
	putNumber(record, f, n)
	return nil
}

// data builds what a pointer points to.
func (t *Table) data(f *Field, v *Value, lookup vars) (Data, error) {
	p := f.Pointer
	switch v.Form {
	case Null:
		return Data{}, nil
	case Bad:
		return Data{State: BadPointer}, nil
	case Room:
		return Data{Present, make([]byte, int(v.Num)*p.Elem)}, nil
	case Repeat:
		one, err := t.element(f, v.List[0], lookup)
		return Data{Present, bytes.Repeat(one, int(v.Num))}, err
	case List, Bytes:
		d := Data{State: Present, Bytes: []byte{}}
		for _, e := range v.List {
			var one []byte
			n, err := uint64(0), error(nil)
			if v.Form == Bytes {
				if n, err = e.eval(lookup, nil); n > 0xFF {
					err = fmt.Errorf("%q is no byte", e.Text)
				}
				one = []byte{byte(n)}
			} else {
				one, err = t.element(f, e, lookup)
			}
			if err != nil {
				return d, err
			}
			d.Bytes = append(d.Bytes, one...)
		}
		return d, nil
	}
	return Data{}, fmt.Errorf("%q is nothing that a pointer can point to", v.Text)
}

// element builds one element. Elements of raw bytes are 32-bit words.
func (t *Table) element(f *Field, v *Value, lookup vars) ([]byte, error) {
	p := f.Pointer
	if p.Record != nil {
		if v.Form != Struct {
			return nil, fmt.Errorf("%q is no {MEMBER=VALUE …}", v.Text)
		}
		b := make([]byte, p.Elem)
		for _, a := range v.Elems {
			m := p.Record.Field(a.Name)
			if m == nil {
				return nil, fmt.Errorf("%s has no member %q", p.Record.CName, a.Name)
			}
			if err := t.put(b, m, a.Value, lookup); err != nil {
				return nil, fmt.Errorf("%s: %w", a.Name, err)
			}
		}
		return b, nil
	}
	size := p.Elem
	if p.Bytes {
		size = 4
	}
	n, err := v.eval(lookup, t.sets[f.Shown])
	if err != nil {
		return nil, err
	}
	if size == 4 && n>>32 != 0 {
		return nil, fmt.Errorf("%#x does not fit 32 bits", n)
	}
	return le.AppendUint64(nil, n)[:size], nil
}

func number(record []byte, f *Field) uint64 {
	if f.Size == 4 {
		return uint64(le.Uint32(record[f.Offset:]))
	}
	return le.Uint64(record[f.Offset:])
}

func putNumber(record []byte, f *Field, n uint64) {
	if f.Size == 4 {
		le.PutUint32(record[f.Offset:], uint32(n))
	} else {
		le.PutUint64(record[f.Offset:], n)
	}
}

// Clone copies a frame, to compare with later.
func (f *Frame) Clone() *Frame {
	c := &Frame{Call: f.Call, Null: f.Null, Record: slices.Clone(f.Record), Data: slices.Clone(f.Data)}
	for i := range c.Data {
		c.Data[i].Bytes = slices.Clone(c.Data[i].Bytes)
	}
	return c
}

// A Change is a place that a call wrote another value to.
type Change struct {
	Name  string
	Value uint64
	Shown string
}

// maxWords is how many changed words of raw data are written one by one.
const maxWords = 8

// Changes lists what differs between two states of a frame, in the order of the
// record's fields: named fields first, then bytes that belong to no field.
func (f *Frame) Changes(before *Frame) []Change {
	all := changes("", &f.Call.Record, f.Record, before.Record)
	for _, field := range f.Call.Pointers() {
		p, now, old := field.Pointer, f.Data[field.Index].Bytes, before.Data[field.Index].Bytes
		if p.Bytes {
			all = append(all, words32(field, now, old)...)
			continue
		}
		for i := 0; (i+1)*p.Elem <= len(old); i++ {
			name := field.Name
			if p.Count != 1 {
				name = fmt.Sprintf("%s[%d]", field.Name, i)
			}
			a, b := now[i*p.Elem:(i+1)*p.Elem], old[i*p.Elem:(i+1)*p.Elem]
			if p.Record != nil {
				all = append(all, changes(name+".", p.Record, a, b)...)
			} else if !bytes.Equal(a, b) {
				all = append(all, Change{name, number(a, &Field{Size: p.Elem}), field.Shown})
			}
		}
	}
	return all
}

func changes(prefix string, r *Record, now, old []byte) []Change {
	var all []Change
	covered := make([]bool, r.Size)
	for _, f := range r.Fields {
		for i := range f.Size {
			covered[f.Offset+i] = true
		}
		if number(now, f) != number(old, f) {
			all = append(all, Change{prefix + f.Name, number(now, f), f.Shown})
		}
	}
	for i := range r.Size {
		if !covered[i] && now[i] != old[i] {
			all = append(all, Change{fmt.Sprintf("%s@0x%02X", prefix, i), uint64(now[i]), "hex"})
		}
	}
	return all
}

// words32 lists changed 32-bit words of raw data, or only that many have changed.
func words32(f *Field, now, old []byte) []Change {
	var all []Change
	for at := 0; at < len(old); at += 4 {
		end := min(at+4, len(old))
		if !bytes.Equal(now[at:end], old[at:end]) {
			var word [8]byte
			copy(word[:], now[at:end])
			all = append(all, Change{fmt.Sprintf("%s[%d]", f.Name, at/4), le.Uint64(word[:]), f.Shown})
		}
	}
	if len(all) > maxWords {
		return []Change{{f.Name, uint64(len(old)), "written"}}
	}
	return all
}
