package vidsch

// A Remnant is something of the kernel's that command buffers of a device may still use.
type Remnant any

// An epoch is the command buffers that were queued on a device between two moments, and
// the remnants that they and all before them may use: those came at its end. Waits and
// signals use no addresses.
type epoch struct {
	packets int // buffers that are not complete
	kept    []Remnant
}

// Epochs are in order. The first has packets, or is the only one. All but the last have
// remnants.
type epochs []*epoch

// begin counts a packet.
func (s *epochs) begin() *epoch {
	if n := len(*s); n == 0 || len((*s)[n-1].kept) > 0 {
		*s = append(*s, new(epoch))
	}
	e := (*s)[len(*s)-1]
	e.packets++
	return e
}

// end takes a packet back, and reports whether unused has something.
func (s *epochs) end(e *epoch) bool {
	e.packets--
	first := (*s)[0]
	return first.packets == 0 && len(first.kept) > 0
}

// unused takes what no packet uses any more.
func (s *epochs) unused() (list []Remnant) {
	for len(*s) > 0 && (*s)[0].packets == 0 && len((*s)[0].kept) > 0 {
		list = append(list, (*s)[0].kept...)
		*s = (*s)[1:]
	}
	return list
}

// Keeps reports whether Keep would: whether the device has command buffers.
func (d *Device) Keeps() bool {
	n := len(d.epochs)
	return n > 1 || n == 1 && (d.epochs[0].packets > 0 || len(d.epochs[0].kept) > 0)
}

// Keep has Owner.Unused told of r when all command buffers that the device has now are
// complete or dropped. False: it has none, and Unused is not called.
func (d *Device) Keep(r Remnant) bool {
	if !d.Keeps() {
		return false
	}
	e := d.epochs[len(d.epochs)-1]
	e.kept = append(e.kept, r)
	return true
}
