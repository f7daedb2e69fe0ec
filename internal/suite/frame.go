package suite

import (
	"encoding/binary"
	"fmt"
	"slices"
)

var le = binary.LittleEndian

// vars finds the value of a variable by "x" or "p1.x".
type vars = func(name string) (uint64, bool)

// A Frame is a call with its arguments. The door writes what the callee writes,
// where the callee writes it.
type Frame struct {
	Call   *Call
	Null   bool   // NULL is passed instead of the record
	Record []byte // pointer fields in it are 0
	// Data is the memory that pointers lead to: first one for each pointer field of
	// the record, then what is pointed to from in there, after the memory it is in.
	Data []Data
}

// newFrame builds the frame of a call from a step's arguments. Fields that are not
// named are 0, or have every byte as "fill" says; pointers are NULL. A count that is
// not given is the number of elements given; one that is larger than that
// lengthens the data with zeros, so that nobody reads behind it.
func newFrame(t *Table, call *Call, args []Arg, lookup vars) (*Frame, error) {
	f := &Frame{Call: call, Record: make([]byte, call.Size)}
	b := &builder{table: t, frame: f, lookup: lookup, lengths: map[*Inline]int{}}
	for _, p := range call.Pointers() {
		f.Data = append(f.Data, Data{Field: p, Name: p.Name, Path: p.Name, In: inRecord})
	}
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
		if array := call.inline(a.Name); array != nil {
			if err := b.inline(array, a.Value, given); err != nil {
				return nil, fmt.Errorf("%s: %w", a.Name, err)
			}
			continue
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
			err = b.point(field.Index, a.Value)
		} else {
			err = t.put(f.Record, field, a.Value, lookup)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Name, err)
		}
	}
	for _, array := range call.Inline {
		if n := b.lengths[array]; array.CountBy != nil && !given[array.CountBy] && n > 0 {
			putNumber(f.Record, array.CountBy, uint64(n))
		}
	}
	for _, field := range call.Pointers() {
		if err := b.counted(f.Record, field.Index, given); err != nil {
			return nil, fmt.Errorf("%s: %w", field.Name, err)
		}
	}
	f.place()
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

// put stores a scalar argument.
func (t *Table) put(record []byte, f *Field, v *Value, lookup vars) error {
	n, err := uint64(0), error(nil)
	if v.Form != Null {
		n, err = v.eval(lookup, t.sets[f.Shown])
	}
	if err != nil {
		return err
	}
	if n>>(8*f.Size) != 0 {
		return fmt.Errorf("%#x does not fit %d bits", n, 8*f.Size)
	}
	putNumber(record, f, n)
	return nil
}

func number(record []byte, f *Field) uint64 {
	switch f.Size {
	case 1:
		return uint64(record[f.Offset])
	case 2:
		return uint64(le.Uint16(record[f.Offset:]))
	case 4:
		return uint64(le.Uint32(record[f.Offset:]))
	}
	return le.Uint64(record[f.Offset:])
}

func putNumber(record []byte, f *Field, n uint64) {
	switch f.Size {
	case 1:
		record[f.Offset] = byte(n)
	case 2:
		le.PutUint16(record[f.Offset:], uint16(n))
	case 4:
		le.PutUint32(record[f.Offset:], uint32(n))
	default:
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
