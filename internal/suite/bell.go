package suite

import (
	"errors"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/page"
)

// bellWords are the words of a doorbell: docs/doorbells.md.
type bellWords struct{ bell, secondary, lastQueued, status *atomic.Uint64 }

// A bellWord is a word of a doorbell that has an address.
type bellWord struct {
	*atomic.Uint64
	writable bool
}

// Where the words are in the program's page, and how many files bring a doorbell.
// Source: docs/protocol-wire.md.
const (
	secondaryOffset  = 64
	lastQueuedOffset = 128
	bellFiles        = 2
)

// bell is the field with the handle of the doorbell that the call makes, nil if it makes
// none.
func (f *Frame) bell() *Field {
	switch f.Call.Name {
	case "CreateDoorbell":
		return f.Call.Field("hDoorbell")
	case "CreateHwQueueForUserModeSubmission":
		return f.Call.Field("hHwQueue")
	}
	return nil
}

// showBell answers addresses for the words of a doorbell that was made, each page with one
// of its own.
func (p *requester) showBell(f *Frame, handle *Field, r *abi.Request) error {
	w, err := p.words(r, abi.Handle(number(f.Record, handle)))
	if err != nil {
		return err
	}
	program, status := p.next, p.next+page.PageSize
	p.next += 2 * page.PageSize
	put := func(name string, address uint64, word *atomic.Uint64) {
		p.rung[address] = bellWord{word, address != status}
		if field := f.Call.Field(name); field != nil {
			putNumber(f.Record, field, address)
		}
	}
	put("DoorbellCPUVirtualAddress", program, w.bell)
	if flags := f.Call.Field("Flags"); f.Call.Name == "CreateDoorbell" && number(f.Record, flags)&uint64(abi.DoorbellRequireSecondaryCpuVA) != 0 {
		put("DoorbellSecondaryCPUVirtualAddress", program+secondaryOffset, w.secondary)
	}
	put("LastQueuedValueCPUVirtualAddress", program+lastQueuedOffset, w.lastQueued)
	put("DoorbellStatusCPUVirtualAddress", status, w.status)
	return nil
}

// mapBell maps the two pages of a doorbell and closes their files. They stay mapped as
// long as the words are known.
func mapBell(r *abi.Request) (w bellWords, keep []*page.Memory, err error) {
	if len(r.Out) < bellFiles {
		return w, nil, errors.New("a doorbell came without its two pages")
	}
	defer func() {
		for _, file := range r.Out[:bellFiles] {
			_ = unix.Close(file.FD)
		}
	}()
	for i, writable := range []bool{true, false} {
		m, err := page.Map(r.Out[i].FD, page.PageSize, writable)
		if err != nil {
			return w, nil, err
		}
		keep = append(keep, m)
	}
	w = bellWords{keep[0].Word64(0), keep[0].Word64(secondaryOffset), keep[0].Word64(lastQueuedOffset), keep[1].Word64(0)}
	return w, keep, nil
}
