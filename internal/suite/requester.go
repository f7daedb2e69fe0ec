package suite

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/page"
)

// A requester is a process that makes requests itself, without a client library:
// it turns frames into requests and looks at what comes back. The doors differ in
// how a request gets to the kernel and where fence memory is.
type requester struct {
	*descriptors
	// send makes a request and waits for its answer.
	send func(r *abi.Request) (abi.Status, error)
	// view finds the memory of the fence that r created or opened; false: the object has
	// none.
	view func(r *abi.Request, h abi.Handle) (page.View, bool, error)

	// words finds the words of the doorbell that r made.
	words func(r *abi.Request, h abi.Handle) (bellWords, error)

	bells *page.Bells
	lines []uint32 // bell lines that are free
	waits map[string]*ticket
	pages map[uint64]page.View
	rung  map[uint64]bellWord // words of doorbells
	spans []span              // of memory that allocations have
	next  uint64              // next address to give out
}

// A span is memory of an allocation that was locked, and the address that stands for it.
type span struct {
	allocation uint64 // its handle
	address    uint64
	data       []byte
}

// A ticket is the call of a thread: what it was answered, or where the kernel will
// write it.
type ticket struct {
	line   uint32
	status abi.Status
	frame  *Frame // of the call
}

// firstAddress is where the addresses begin that stand for fence memory. They are
// not real: nothing but peek looks behind them.
const firstAddress = 0x7D00_0000_0000

// bellsPerProcess is how many threads of a process can be blocked at once.
const bellsPerProcess = 8

func newRequester() *requester {
	return &requester{descriptors: newDescriptors(), waits: map[string]*ticket{}, pages: map[uint64]page.View{}, rung: map[uint64]bellWord{}, next: firstAddress}
}

// rows are the calls that are a row of the operation table under another name; "":
// none, a client library makes them of others.
var rows = map[string]string{
	"CreateAllocation":            "",
	"CreateSynchronizationObject": "",
	"OpenResource":                "", // whose older elements the library exchanges
	"OpenResource2":               "OpenResource",
}

// opOf finds the row of the operation table for a call, nil if there is none.
func opOf(c *Call) *abi.Op {
	name := c.Name
	if other, ok := rows[name]; ok {
		name = other
	}
	return abi.OpByName("D3DKMT" + name)
}

// errOnlyLibrary says that a frame makes no sense without a library between the
// program and the request.
var errOnlyLibrary = errors.New("NULL records, bad pointers and calls made of others need the C library: say \"doors: c\"")

// request turns a frame into a request on copies of its data.
func (p *requester) request(f *Frame) (*abi.Request, error) {
	op := opOf(f.Call)
	_, known := rows[f.Call.Name]
	switch {
	case f.Null || op == nil && known:
		return nil, errOnlyLibrary
	case op == nil:
		return nil, fmt.Errorf("the operation table has no %s", f.Call.Name)
	case op.Size != f.Call.Size:
		return nil, fmt.Errorf("%s has %d bytes in the operation table, %d in the corpus", f.Call.CName, op.Size, f.Call.Size)
	}
	r := &abi.Request{Op: op, Record: slices.Clone(f.Record), Arrays: make([][]byte, len(op.Arrays))}
	for i := range op.Arrays {
		var err error
		if r.Arrays[i], err = f.array(op, i); err != nil {
			return nil, err
		}
	}
	for i := range op.Files {
		if op.Files[i].Dir == abi.Out {
			continue
		}
		if !op.Files[i].When.Holds(f.Record) {
			r.Files = append(r.Files, abi.FileNone)
			continue
		}
		r.Files = append(r.Files, p.inward(number(f.Record, &Field{Offset: int(op.Files[i].Off), Size: 8})))
	}
	return r, nil
}

// inward is the real descriptor behind a number that the scenario passes.
func (p *requester) inward(n uint64) int {
	if n == 0 {
		return abi.FileNone
	}
	fd, err := p.get(n)
	if err != nil {
		return abi.FileBad
	}
	return fd
}

// do makes the call of a frame and writes what a client library would write.
func (p *requester) do(f *Frame, bell, ticket uint32) (abi.Status, error) {
	r, err := p.request(f)
	if err != nil {
		return 0, err
	}
	r.Bell, r.Ticket = bell, ticket
	st, err := p.send(r)
	if err != nil {
		return 0, err
	}
	if !st.OK() {
		if !bytes.Equal(r.Record, f.Record) {
			return st, fmt.Errorf("the kernel wrote to the record of a call that failed with %s", st.Name())
		}
		return st, nil
	}
	return st, p.answer(f, r)
}

// answer writes a successful answer to the caller's memory.
func (p *requester) answer(f *Frame, r *abi.Request) error {
	for _, s := range r.Op.Out {
		copy(f.Record[s.Off:s.Off+s.Len], r.Record[s.Off:])
	}
	for i := range r.Op.Arrays {
		f.answer(r, i)
	}
	out := 0
	bell := f.bell()
	for i := range r.Op.Files {
		ff := &r.Op.Files[i]
		if bell != nil {
			continue // the files of a doorbell belong together
		}
		if ff.Dir == abi.In || ff.Kind == abi.FileMemory && len(r.Out) == 0 {
			continue
		}
		if out >= len(r.Out) {
			return fmt.Errorf("%s answered no descriptor", f.Call.Name)
		}
		if ff.Kind == abi.FileMemory {
			if err := p.locked(f, int(ff.Off), r.Out[out]); err != nil {
				return err
			}
			out++
			continue
		}
		n := p.add(r.Out[out].FD)
		out++ // answers of this kind are never borrowed
		if ff.Array < 0 {
			le.PutUint64(f.Record[ff.Off:], n)
		} else {
			le.PutUint64(f.Data[f.memory(r.Op, ff.Array)].Bytes, n)
		}
	}
	if bell != nil {
		if err := p.showBell(f, bell, r); err != nil {
			return err
		}
		if len(r.Out) > 0 {
			out = bellFiles
		}
	}
	if field, handle := f.page(); field != nil {
		return p.show(f, field, handle, r)
	}
	for _, file := range r.Out[out:] { // nobody takes the memory
		if !file.Borrowed {
			_ = unix.Close(file.FD)
		}
	}
	return nil
}

// locked maps the memory of an allocation and answers an address for it, the same one
// each time.
func (p *requester) locked(f *Frame, at int, file abi.OutFile) error {
	if !file.Borrowed {
		defer func() { _ = unix.Close(file.FD) }()
	}
	handle := number(f.Record, f.Call.Field("hAllocation"))
	for _, s := range p.spans {
		if s.allocation == handle {
			le.PutUint64(f.Record[at:], s.address)
			return nil
		}
	}
	var stat unix.Stat_t
	if err := unix.Fstat(file.FD, &stat); err != nil {
		return fmt.Errorf("look at the memory of an allocation: %w", err)
	}
	data, err := unix.Mmap(file.FD, 0, int(stat.Size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("map the memory of an allocation: %w", err)
	}
	p.spans = append(p.spans, span{handle, p.next, data})
	le.PutUint64(f.Record[at:], p.next)
	p.next += uint64(len(data)+page.CellSize) &^ (page.CellSize - 1)
	return nil
}

// unmap takes all memory of allocations away.
func (p *requester) unmap() {
	for _, s := range p.spans {
		_ = unix.Munmap(s.data)
	}
	p.spans = nil
}

// page is the field that is answered the address of a fence's value, and the one with
// the fence's handle; nil if there is none.
func (f *Frame) page() (address, handle *Field) {
	for _, field := range f.Call.Fields {
		switch {
		case !field.meant(f.Record):
		case strings.HasSuffix(field.Name, "FenceValueCPUVirtualAddress"):
			return field, f.Call.Field("hSyncObject")
		case field.Name == "HwQueueProgressFenceCPUVirtualAddress":
			return field, f.Call.Field("hHwQueueProgressFence")
		case field.Name == nativeValue:
			return field, cmp.Or(f.Call.Field("hSyncObject"), f.Call.Field("hProgressFence"))
		}
	}
	return nil, nil
}

// nativeValue is the field that is answered the address of a native fence's value. It is
// the same for all local objects of a process (native-fence.md §3.2).
const nativeValue = "CurrentValueCpuVa"

// show answers an address for the memory of the fence that r created or opened.
func (p *requester) show(f *Frame, field, handle *Field, r *abi.Request) error {
	v, ok, err := p.view(r, abi.Handle(number(f.Record, handle)))
	if err != nil || !ok {
		return err
	}
	if field.Name == nativeValue {
		for address, seen := range p.pages {
			if seen.Cell == v.Cell {
				putNumber(f.Record, field, address)
				return nil
			}
		}
	}
	putNumber(f.Record, field, p.next)
	p.pages[p.next] = v
	p.next += page.CellSize
	return nil
}

// Call implements Process.
func (p *requester) Call(f *Frame) (uint32, error) {
	st, err := p.do(f, 0, 0)
	return uint32(st), err
}

// Start implements Process. A wait that is registered has answered PENDING and
// ends when its line says so.
func (p *requester) Start(thread string, f *Frame) error {
	t := p.waits[thread]
	if t == nil {
		if len(p.lines) == 0 {
			return fmt.Errorf("more than %d threads", bellsPerProcess)
		}
		t = &ticket{line: p.lines[0]}
		p.lines = p.lines[1:]
		p.waits[thread] = t
	}
	p.bells.Issue(t.line)
	st, err := p.do(f, t.line, t.line)
	t.status, t.frame = st, f
	return err
}

// State implements Process.
func (p *requester) State(thread string) (State, uint32, error) {
	t := p.waits[thread]
	if t.status != abi.StatusPending {
		return Done, uint32(t.status), nil
	}
	st, ended := p.bells.Ticket(t.line)
	if !ended {
		return Asleep, 0, nil
	}
	t.status = abi.Status(st)
	if t.status == abi.StatusSuccess && acquires[t.frame.Call.Name] {
		var err error
		t.status, err = p.do(t.frame, t.line, t.line)
		return Done, uint32(t.status), err
	}
	return Done, st, nil
}

// acquires are the calls whose answer comes in two parts: their line says that they
// succeeded, the same request made once more says what they got.
var acquires = map[string]bool{"AcquireKeyedMutex": true, "AcquireKeyedMutex2": true}

// within finds the n bytes at an address in memory of allocations; nil: they are not.
func (p *requester) within(address uint64, n int) []byte {
	for _, s := range p.spans {
		if at := address - s.address; at < uint64(len(s.data)) && uint64(n) <= uint64(len(s.data))-at {
			return s.data[at:][:n]
		}
	}
	return nil
}

// Write implements Process.
func (p *requester) Write(address uint64, data []byte) (bool, error) {
	if w, ok := p.rung[address]; ok && len(data) == 8 {
		if w.writable {
			w.Store(le.Uint64(data))
		}
		return w.writable, nil
	}
	memory := p.within(address, len(data))
	copy(memory, data)
	return memory != nil, nil
}

// Peek implements Process.
func (p *requester) Peek(address uint64) (uint64, bool, error) {
	if memory := p.within(address, 8); memory != nil {
		return le.Uint64(memory), true, nil
	}
	if w, ok := p.rung[address]; ok {
		return w.Load(), true, nil
	}
	v, ok := p.pages[address]
	if !ok {
		return 0, false, fmt.Errorf("no fence is at %#x", address)
	}
	return v.Cell.Value(), true, nil
}

// Poke implements Process: there is no page to protect.
func (p *requester) Poke(uint64) (bool, error) { return false, errOnlyLibrary }
