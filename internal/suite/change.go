package suite

import (
	"bytes"
	"fmt"
)

// A Change is a place that a call wrote another value to.
type Change struct {
	Name  string
	Value uint64
	Shown string
	// Text is how the value is written if not as Shown says: "written", or the memory
	// that an answered pointer points into.
	Text string
}

// maxWords is how many changed words of raw data are written one by one.
const maxWords = 8

// Changes lists what differs between two states of a frame, in the order of the
// record's fields: named fields first, then bytes that belong to no field. Then
// comes the memory that is pointed to.
func (f *Frame) Changes(before *Frame) []Change {
	all := f.changes("", &f.Call.Record, f.Record, before.Record)
	for i := range f.Data {
		d, now, old := &f.Data[i], f.Data[i].Bytes, before.Data[i].Bytes
		p := d.Field.Pointer
		if p.Bytes {
			all = append(all, words32(d, now, old)...)
			continue
		}
		for i := 0; (i+1)*p.Elem <= len(old); i++ {
			a, b := now[i*p.Elem:(i+1)*p.Elem], old[i*p.Elem:(i+1)*p.Elem]
			if p.Record != nil {
				all = append(all, f.changes(d.element(i)+".", p.Record, a, b)...)
			} else if !bytes.Equal(a, b) {
				all = append(all, Change{Name: d.element(i), Value: number(a, &Field{Size: p.Elem}), Shown: d.Field.Shown})
			}
		}
	}
	return all
}

// changes lists the changed fields of a record. Where fields overlap, the first one
// that is meant in the record as it was tells.
func (f *Frame) changes(prefix string, r *Record, now, old []byte) []Change {
	var all []Change
	covered := make([]bool, r.Size)
	for _, field := range r.Fields {
		if covered[field.Offset] || !field.meant(old) {
			continue
		}
		for i := range field.Size {
			covered[field.Offset+i] = true
		}
		if number(now, field) != number(old, field) {
			all = append(all, f.change(prefix+field.Name, field, number(now, field)))
		}
	}
	for i := range r.Size {
		if !covered[i] && now[i] != old[i] {
			all = append(all, Change{Name: fmt.Sprintf("%s@0x%02X", prefix, i), Value: uint64(now[i]), Shown: "hex"})
		}
	}
	return all
}

func (f *Frame) change(name string, field *Field, value uint64) Change {
	c := Change{Name: name, Value: value, Shown: field.Shown}
	if field.Pointer == nil {
		return c
	}
	c.Shown = "address"
	if d, offset := f.where(value); d != nil {
		c.Text = fmt.Sprintf("%s+%#x", d.Name, offset)
	}
	return c
}

// words32 lists changed 32-bit words of raw data, or only that many have changed.
func words32(d *Data, now, old []byte) []Change {
	var all []Change
	for at := 0; at < len(old); at += 4 {
		end := min(at+4, len(old))
		if !bytes.Equal(now[at:end], old[at:end]) {
			var word [8]byte
			copy(word[:], now[at:end])
			all = append(all, Change{Name: fmt.Sprintf("%s[%d]", d.Name, at/4), Value: le.Uint64(word[:]), Shown: d.Field.Shown})
		}
	}
	if len(all) > maxWords {
		return []Change{{Name: d.Name, Text: "written"}}
	}
	return all
}
