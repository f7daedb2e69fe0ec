package suite

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf16"
)

// Data is memory that a pointer leads to.
type Data struct {
	State DataState
	Bytes []byte // of Present; pointers in it are addresses of other Data
	Field *Field // the pointer: a field of the call's record, or a member of a record
	Name  string // as scenarios write it: "pObjectAttributes.ObjectName"
	Path  string // as drivers write it: "pObjectAttributes@16"
	In    int    // where the pointer is: index of other Data, or inRecord
	// Offset is where the pointer is in that other memory, in bytes.
	Offset int
	// Address stands for the place of the memory, which is known to the door alone.
	Address uint64
}

// inRecord is Data.In of what the record itself points to.
const inRecord = -1

// none is no index.
const none = -1

// DataState says which pointer it is.
type DataState uint8

// The states of a pointer.
const (
	NullPointer DataState = iota
	BadPointer            // points to nothing readable or writable
	Present
)

// What one frame may hold. A count above maxPadded must be refused before anybody
// reads, so elements for it are not made up.
const (
	maxPadded = 8192
	maxBlocks = 2048
	maxMemory = 16 << 20
)

// Addresses in frames. Each piece of memory has a range of its own.
const (
	badAddress   = 0x5400_0000_0000
	blockAddress = 0x5500_0000_0000
	blockSize    = 1 << 25
)

// place gives memory its address and writes it where it is pointed to from memory.
func (f *Frame) place() {
	for i := range f.Data {
		d := &f.Data[i]
		switch d.State {
		case Present:
			d.Address = blockAddress + uint64(i)*blockSize
		case BadPointer:
			d.Address = badAddress
		}
		if d.In != inRecord {
			le.PutUint64(f.Data[d.In].Bytes[d.Offset:], d.Address)
		}
	}
}

// where finds the memory that an address is in, and how far.
func (f *Frame) where(address uint64) (d *Data, offset uint64) {
	for i := range f.Data {
		d := &f.Data[i]
		if d.State == Present && address-d.Address < blockSize {
			return d, address - d.Address
		}
	}
	return nil, 0
}

// at finds the memory that the pointer at an offset in other memory leads to: its
// index in Data, or none, for NULL.
func (f *Frame) at(in, offset int) int {
	for i := range f.Data {
		d := &f.Data[i]
		if in == inRecord && d.In == in && d.State != NullPointer && d.Field.Offset == offset ||
			in != inRecord && d.In == in && d.Offset == offset {
			return i
		}
	}
	return none
}

// path finds memory by its path, nil if there is none.
func (f *Frame) path(path string) *Data {
	for i := range f.Data {
		if f.Data[i].Path == path {
			return &f.Data[i]
		}
	}
	return nil
}

// A builder makes the memory of a frame.
type builder struct {
	table  *Table
	frame  *Frame
	lookup vars
	size   int
	// lengths are how many elements of the arrays in the record were given.
	lengths map[*Inline]int
}

// inline fills an array that lies in the record.
func (b *builder) inline(a *Inline, v *Value, given map[*Field]bool) error {
	elements := []*Value{v}
	if v.Form == List {
		elements = v.List
	}
	n := 0
	for _, e := range elements {
		times := 1
		if e.Form == Repeat {
			times, e = int(e.Num), e.List[0]
		}
		for range times {
			if n == len(a.Fields) {
				return fmt.Errorf("more than %d elements", n)
			}
			if given[a.Fields[n]] {
				return errors.New("is given twice")
			}
			given[a.Fields[n]] = true
			if err := b.table.put(b.frame.Record, a.Fields[n], e, b.lookup); err != nil {
				return err
			}
			n++
		}
	}
	b.lengths[a] = n
	return nil
}

// grow lengthens a piece of memory by n zeros and returns them.
func (b *builder) grow(i, n int) ([]byte, error) {
	if b.size += n; b.size > maxMemory {
		return nil, fmt.Errorf("arguments of more than %d bytes", maxMemory)
	}
	d := &b.frame.Data[i]
	at := len(d.Bytes)
	d.Bytes = append(d.Bytes, make([]byte, n)...)
	return d.Bytes[at:], nil
}

func (b *builder) append(i int, data []byte) error {
	room, err := b.grow(i, len(data))
	copy(room, data)
	return err
}

// point makes a piece of memory what a value says.
func (b *builder) point(i int, v *Value) error {
	d := &b.frame.Data[i]
	p := d.Field.Pointer
	switch v.Form {
	case Null:
		return nil
	case Bad:
		d.State = BadPointer
		return nil
	}
	d.State, d.Bytes = Present, []byte{}
	switch v.Form {
	case Room:
		_, err := b.grow(i, int(v.Num)*p.Elem)
		return err
	case Repeat:
		return b.repeat(i, v)
	case List:
		for _, e := range v.List {
			if err := b.element(i, e); err != nil {
				return err
			}
		}
		return nil
	case Bytes:
		return b.bytes(i, v)
	case Struct:
		if p.Record != nil && p.Count == 1 {
			return b.element(i, v)
		}
	case Text:
		if p.Bytes {
			return b.append(i, characters(v.Name))
		}
		if p.Record != nil && p.Count == 1 {
			return b.element(i, v)
		}
	}
	return fmt.Errorf("%q is nothing that a pointer can point to", v.Text)
}

func (b *builder) repeat(i int, v *Value) error {
	if b.frame.Data[i].Field.Pointer.Record != nil {
		for range v.Num { // each may point to memory of its own
			if err := b.element(i, v.List[0]); err != nil {
				return err
			}
		}
		return nil
	}
	one, err := b.scalar(i, v.List[0])
	if err != nil {
		return err
	}
	return b.append(i, bytes.Repeat(one, int(v.Num)))
}

func (b *builder) bytes(i int, v *Value) error {
	for _, e := range v.List {
		n, err := e.eval(b.lookup, nil)
		if n > 0xFF {
			err = fmt.Errorf("%q is no byte", e.Text)
		}
		if err == nil {
			err = b.append(i, []byte{byte(n)})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// characters are a text in UTF-16.
func characters(text string) []byte {
	var all []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		all = le.AppendUint16(all, unit)
	}
	return all
}

// element appends one element to a piece of memory.
func (b *builder) element(i int, v *Value) error {
	if b.frame.Data[i].Field.Pointer.Record != nil {
		return b.record(i, v)
	}
	switch {
	case v.Form == Repeat:
		return b.repeat(i, v)
	case v.Form == Text && b.frame.Data[i].Field.Pointer.Bytes:
		return b.append(i, characters(v.Name))
	}
	one, err := b.scalar(i, v)
	if err != nil {
		return err
	}
	return b.append(i, one)
}

// scalar makes an element that is a number. Elements of raw bytes are 32-bit words.
func (b *builder) scalar(i int, v *Value) ([]byte, error) {
	f := b.frame.Data[i].Field
	size := f.Pointer.Elem
	if f.Pointer.Bytes {
		size = 4
	}
	n, err := v.eval(b.lookup, b.table.sets[f.Shown])
	if err != nil {
		return nil, err
	}
	if n>>(8*size) != 0 {
		return nil, fmt.Errorf("%#x does not fit %d bits", n, 8*size)
	}
	return le.AppendUint64(nil, n)[:size], nil
}

// record appends a record, with what it points to. A text stands for the record that
// holds it, UNICODE_STRING.
func (b *builder) record(i int, v *Value) error {
	r := b.frame.Data[i].Field.Pointer.Record
	members := v.Elems
	switch {
	case v.Form == Text && r.Field("Buffer") != nil:
		members = []Arg{{Name: "Buffer", Value: v}}
	case v.Form != Struct:
		return fmt.Errorf("%q is no {MEMBER=VALUE …}", v.Text)
	}
	at := len(b.frame.Data[i].Bytes)
	if _, err := b.grow(i, r.Size); err != nil {
		return err
	}
	given := map[*Field]bool{}
	for _, a := range members {
		m := r.Field(a.Name)
		if m == nil {
			return fmt.Errorf("%s has no member %q", r.CName, a.Name)
		}
		if given[m] {
			return fmt.Errorf("member %s is given twice", a.Name)
		}
		given[m] = true
		if err := b.member(i, at, m, a.Value); err != nil {
			return fmt.Errorf("%s: %w", a.Name, err)
		}
	}
	element := b.frame.Data[i].Bytes[at:]
	for n := range b.frame.Data {
		if d := &b.frame.Data[n]; d.In == i && d.Offset >= at {
			if err := b.counted(element, n, given); err != nil {
				return err
			}
		}
	}
	if most := r.Field("MaximumLength"); most != nil && !given[most] {
		putNumber(element, most, number(element, r.Field("Length")))
	}
	return nil
}

func (b *builder) member(i, at int, m *Field, v *Value) error {
	if m.Pointer == nil {
		return b.table.put(b.frame.Data[i].Bytes[at:], m, v, b.lookup)
	}
	if v.Form == Null {
		return nil
	}
	if len(b.frame.Data) == maxBlocks {
		return errors.New("too many pointers")
	}
	outer, offset := &b.frame.Data[i], at+m.Offset
	b.frame.Data = append(b.frame.Data, Data{
		Field: m, In: i, Offset: offset,
		Name: outer.element(at/outer.Field.Pointer.Elem) + "." + m.Name,
		Path: fmt.Sprintf("%s@%d", outer.Path, offset),
	})
	return b.point(len(b.frame.Data)-1, v)
}

// element is the name of element i.
func (d *Data) element(i int) string {
	if d.Field.Pointer.Count == 1 {
		return d.Name
	}
	return fmt.Sprintf("%s[%d]", d.Name, i)
}

// counted makes a piece of memory and its count, in the record with the pointer,
// agree.
func (b *builder) counted(record []byte, i int, given map[*Field]bool) error {
	d := &b.frame.Data[i]
	p := d.Field.Pointer
	n := p.Count
	if c := p.CountBy; c != nil {
		if !given[c] && d.State == Present {
			putNumber(record, c, max(number(record, c), uint64(len(d.Bytes)/p.Elem)))
		}
		n = int(min(number(record, c), maxRoom))
		if c.Size > 2 && number(record, c) > maxPadded {
			n = 0
		}
	}
	if missing := n*p.Elem - len(d.Bytes); d.State == Present && missing > 0 {
		_, err := b.grow(i, missing)
		return err
	}
	return nil
}
