package suite

import (
	"slices"

	"github.com/dxgsync/dxgsync/abi"
)

// What a client library does with pointers, for doors that have none: it follows
// them, and puts answers where they belong.

// memory finds the memory of an array that the record points to, none for NULL.
func (f *Frame) memory(op *abi.Op, array int) int {
	if !op.Arrays[array].When.Holds(f.Record) {
		return none
	}
	return f.at(inRecord, int(op.Arrays[array].Pointer))
}

// array copies what travels as an array; nil for NULL.
func (f *Frame) array(op *abi.Op, array int) ([]byte, error) {
	a := &op.Arrays[array]
	if a.From != abi.FromRecord {
		outer := f.memory(op, a.Of)
		if outer == none {
			return nil, nil
		}
		return f.reach(a, outer)
	}
	i := f.memory(op, array)
	if i == none {
		return nil, nil
	}
	d := &f.Data[i]
	switch {
	case d.State == BadPointer:
		return nil, errOnlyLibrary
	case a.Fixed != 0:
		data := make([]byte, a.Fixed*a.Elem)
		copy(data, d.Bytes)
		return data, nil
	}
	n := int(min(number(f.Record, &Field{Offset: int(a.Count), Size: 4}), maxRoom)) * int(a.Elem)
	return append([]byte{}, d.Bytes[:min(n, len(d.Bytes))]...), nil
}

// Offsets in OBJECT_ATTRIBUTES and UNICODE_STRING.
const (
	attributesName     = 0x10
	attributesSecurity = 0x20
	stringBuffer       = 0x08
)

// reach copies an array that is reached through other memory.
func (f *Frame) reach(a *abi.Array, outer int) ([]byte, error) {
	switch a.From {
	case abi.FromAttributes:
		text := f.at(outer, attributesName)
		switch {
		case text == none:
			return nil, nil
		case f.Data[text].State == BadPointer:
			return nil, errOnlyLibrary
		}
		return f.buffer(text, stringBuffer, int(le.Uint16(f.Data[text].Bytes)))
	case abi.FromSecurity:
		i := f.at(outer, attributesSecurity)
		if i == none {
			return nil, nil
		}
		return f.buffer(outer, attributesSecurity, len(f.Data[i].Bytes))
	}
	all := []byte{}
	d := &f.Data[outer]
	for at := 0; at+d.Field.Pointer.Elem <= len(d.Bytes); at += d.Field.Pointer.Elem {
		one, err := f.buffer(outer, at+int(a.Pointer), int(le.Uint32(d.Bytes[at+int(a.Count):])))
		if err != nil {
			return nil, err
		}
		all = append(all, one...)
	}
	return all, nil
}

// buffer copies n bytes behind a pointer in memory.
func (f *Frame) buffer(in, offset, n int) ([]byte, error) {
	i := f.at(in, offset)
	switch {
	case i != none && f.Data[i].State == BadPointer, n > 0 && i == none, n > 0 && n > len(f.Data[i].Bytes):
		return nil, errOnlyLibrary
	case n == 0:
		return []byte{}, nil
	}
	return slices.Clone(f.Data[i].Bytes[:n]), nil
}

// answer writes an array of a successful answer to the caller's memory. Pointers in
// it that the kernel does not answer stay the caller's; those that it does are offsets.
func (f *Frame) answer(r *abi.Request, array int) {
	a := &r.Op.Arrays[array]
	i := f.memory(r.Op, array)
	if a.From != abi.FromRecord || a.Dir == abi.In || i == none {
		return
	}
	d, data := &f.Data[i], slices.Clone(r.Arrays[array])
	if p := d.Field.Pointer; p.Record != nil {
		for at := 0; at+p.Elem <= min(len(data), len(d.Bytes)); at += p.Elem {
			f.mend(r.Op, a, p.Record, data[at:], d.Bytes[at:])
		}
	}
	copy(d.Bytes, data)
}

// mend makes the pointers of an answered element the caller's.
func (f *Frame) mend(op *abi.Op, a *abi.Array, r *Record, now, was []byte) {
	for _, m := range r.Pointers() {
		if a.PointsInto == 0 || m.Offset != int(a.PointsAt) {
			putNumber(now, m, number(was, m))
		} else if target := f.memory(op, a.PointsInto-1); target != none {
			putNumber(now, m, number(now, m)+f.Data[target].Address)
		}
	}
}
