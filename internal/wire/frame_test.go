package wire

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/dxgsync/dxgsync/abi"
)

// TestTable holds what the codec needs of the operation table.
func TestTable(t *testing.T) {
	if unsafe.Sizeof(abi.Grant{}) != GrantSize {
		t.Errorf("a grant has %d bytes, on the wire %d", unsafe.Sizeof(abi.Grant{}), GrantSize)
	}
	for i := range abi.Ops {
		op := &abi.Ops[i]
		if (len(op.Arrays) > 0 || op.Support == abi.Supported && len(op.Out) > 0 && op.Size > 16) && op.Size%8 != 0 {
			t.Errorf("%s: what follows a record of %d bytes is not 8-aligned", op.Name, op.Size)
		}
		in, out := 0, 0
		for _, f := range op.Files {
			if f.Dir == abi.Out {
				out++
			} else {
				in++
			}
		}
		if in > MaxFiles || out+1 > MaxFiles {
			t.Errorf("%s: %d descriptors in, %d out and a grant's; %d travel", op.Name, in, out, MaxFiles)
		}
		for _, s := range op.Out {
			if int(s.Off)+int(s.Len) > op.Size {
				t.Errorf("%s: answered span %d+%d is outside the record of %d bytes", op.Name, s.Off, s.Len, op.Size)
			}
		}
		request, reply := HeaderSize+op.Size, HeaderSize+op.Size+GrantSize
		for _, a := range op.Arrays {
			if a.Max == 0 || a.Elem == 0 || a.Fixed > a.Max || a.Fixed == 0 && int(a.Count)+4 > op.Size {
				t.Errorf("%s: array %+v cannot travel", op.Name, a)
			}
			n := arraySize(int(a.Max * a.Elem))
			if goesIn(a.Dir) {
				request += n
			}
			if goesOut(a.Dir) {
				reply += n
			}
		}
		if op.Support == abi.Supported && (request > MaxFrame || reply > MaxFrame) {
			t.Errorf("%s: the largest request has %d bytes, the largest reply %d; a frame %d", op.Name, request, reply, MaxFrame)
		}
	}
}

// TestRequestRoundTrip: what one end encodes the other decodes, for every operation.
func TestRequestRoundTrip(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	room, frame := newRoom(), make([]byte, MaxFrame)
	var got abi.Request
	for i := range abi.Ops {
		for range 50 {
			want := sample(rnd, &abi.Ops[i], numbers())
			n, files, st := EncodeRequest(frame, nil, want)
			if !st.OK() {
				t.Fatalf("%s: encode: %v", want.Op.Name, st)
			}
			copy(room, frame[:n])
			nr, st, err := DecodeRequest(room, n, files, &got)
			if err != nil || !st.OK() || nr != want.Op.Nr {
				t.Fatalf("%s: decode: number %#x, %v, %v", want.Op.Name, nr, st, err)
			}
			if got.Op != want.Op || got.Bell != want.Bell || got.Ticket != want.Ticket || !bytes.Equal(got.Record, want.Record) || !slices.Equal(got.Files, want.Files) {
				t.Fatalf("%s: got %+v, want %+v", want.Op.Name, got, want)
			}
			for j, data := range want.Arrays {
				in := goesIn(want.Op.Arrays[j].Dir)
				if lengthOf(got.Arrays[j]) != lengthOf(data) || in && !bytes.Equal(got.Arrays[j], data) || !in && !zero(got.Arrays[j]) {
					t.Fatalf("%s: array %d: got %v, want %v", want.Op.Name, j, got.Arrays[j], data)
				}
			}
		}
	}
}

func zero(b []byte) bool { return !slices.ContainsFunc(b, func(c byte) bool { return c != 0 }) }

// TestReplyRoundTrip: the caller gets the record's answered spans, the outward
// arrays, the grant and the descriptors; everything else stays as it was, and all
// of it when the call failed.
func TestReplyRoundTrip(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	room, frame := newRoom(), make([]byte, MaxFrame)
	var served abi.Request
	for i := range abi.Ops {
		for round := range 50 {
			st := []abi.Status{abi.StatusSuccess, abi.StatusPending, abi.StatusNoMemory}[round%3]
			asked := sample(rnd, &abi.Ops[i], numbers())
			before := clone(asked)
			n, files, _ := EncodeRequest(room, nil, asked)
			if _, dst, err := DecodeRequest(room, n, files, &served); err != nil || !dst.OK() {
				t.Fatalf("%s: decode: %v %v", asked.Op.Name, dst, err)
			}
			scribble(rnd, &served)
			var sent []int
			if st.OK() {
				served.Out = append(served.Out, abi.OutFile{FD: 7, Borrowed: true})
				served.Grant = abi.Grant{Kind: abi.GrantSlab, Rights: 3, Slots: 6, Writable: 1, Slab: 5, Offset: 640, Size: 65536, HasFile: 1}
				sent = []int{7}
			}
			n = EncodeReply(frame, asked.Op.Nr, st, &served)
			got, err := DecodeReply(frame[:n], sent, asked)
			if err != nil || got != st {
				t.Fatalf("%s: reply: %v %v, want %v", asked.Op.Name, got, err, st)
			}
			if !st.OK() {
				same(t, asked, before)
				continue
			}
			checkAnswer(t, asked, before, &served)
		}
	}
}

// scribble writes over everything that an operation could write.
func scribble(rnd *rand.Rand, r *abi.Request) {
	for _, b := range append([][]byte{r.Record}, r.Arrays...) {
		for i := range b {
			b[i] = byte(rnd.Uint32())
		}
	}
}

func clone(r *abi.Request) *abi.Request {
	c := *r
	c.Record = bytes.Clone(r.Record)
	c.Arrays = nil
	for _, a := range r.Arrays {
		c.Arrays = append(c.Arrays, bytes.Clone(a))
	}
	return &c
}

func same(t *testing.T, got, want *abi.Request) {
	t.Helper()
	if !bytes.Equal(got.Record, want.Record) || !slices.EqualFunc(got.Arrays, want.Arrays, bytes.Equal) || len(got.Out) != len(want.Out) || got.Grant != want.Grant {
		t.Fatalf("%s: a failed call wrote: %+v, was %+v", got.Op.Name, got, want)
	}
}

func checkAnswer(t *testing.T, got, before, served *abi.Request) {
	t.Helper()
	want := bytes.Clone(before.Record)
	for _, s := range got.Op.Out {
		copy(want[s.Off:s.Off+s.Len], served.Record[s.Off:])
	}
	if !bytes.Equal(got.Record, want) {
		t.Fatalf("%s: record %x, want %x", got.Op.Name, got.Record, want)
	}
	for i := range got.Arrays {
		want := before.Arrays[i]
		if goesOut(got.Op.Arrays[i].Dir) {
			want = served.Arrays[i]
		}
		if !bytes.Equal(got.Arrays[i], want) {
			t.Fatalf("%s: array %d: %x, want %x", got.Op.Name, i, got.Arrays[i], want)
		}
	}
	if got.Grant != served.Grant || len(got.Out) != 1 || got.Out[0] != (abi.OutFile{FD: 7}) {
		t.Fatalf("%s: grant %+v, descriptors %v", got.Op.Name, got.Grant, got.Out)
	}
}

// wait is a valid frame of a wait for two fences with an event.
func wait(t *testing.T) (frame []byte, files []int) {
	t.Helper()
	op := abi.OpByNr(0x3A)
	r := &abi.Request{Op: op, Record: make([]byte, op.Size), Arrays: [][]byte{make([]byte, 8), make([]byte, 16)}, Files: []int{9}}
	le.PutUint32(r.Record[op.Arrays[0].Count:], 2)
	frame = make([]byte, MaxFrame)
	n, files, st := EncodeRequest(frame, nil, r)
	if !st.OK() {
		t.Fatal(st)
	}
	return frame[:n], files
}

// TestRefusals: every way to break the form closes, every way to break a rule is a status.
func TestRefusals(t *testing.T) {
	put16 := func(at int, v uint16) func([]byte) []byte {
		return func(f []byte) []byte { le.PutUint16(f[at:], v); return f }
	}
	put32 := func(at int, v uint32) func([]byte) []byte {
		return func(f []byte) []byte { le.PutUint32(f[at:], v); return f }
	}
	const arrays = HeaderSize + 40 // where the arrays of the wait begin
	for _, c := range []struct {
		name  string
		spoil func([]byte) []byte
		files []int
		want  abi.Status
		err   error
	}{
		{"as it is", func(f []byte) []byte { return f }, []int{9}, abi.StatusSuccess, nil},
		{"empty", func(f []byte) []byte { return f[:0] }, nil, 0, ErrMalformed},
		{"half a header", func(f []byte) []byte { return f[:HeaderSize-1] }, nil, 0, ErrMalformed},
		{"another version", put16(2, 2), []int{9}, 0, ErrMalformed},
		{"a byte missing", func(f []byte) []byte { return f[:len(f)-1] }, []int{9}, 0, ErrMalformed},
		{"a byte more", func(f []byte) []byte { return append(f, 0) }, []int{9}, 0, ErrMalformed},
		{"sizes that wrap", func(f []byte) []byte { le.PutUint32(f[4:], 0xFFFFFFF0); le.PutUint32(f[8:], 0x60); return f }, []int{9}, 0, ErrMalformed},
		{"array longer than the frame", put32(arrays, 64), []int{9}, 0, ErrMalformed},
		{"array of 2^32-2 bytes", put32(arrays, 0xFFFFFFFE), []int{9}, 0, ErrMalformed},
		{"reserved word of an array", put32(arrays+4, 1), []int{9}, 0, ErrMalformed},
		{"NULL array with data behind it", put32(arrays, NullArray), []int{9}, 0, ErrMalformed},
		{"descriptor announced, none came", func(f []byte) []byte { return f }, nil, 0, ErrMalformed},
		{"descriptor came, none announced", put32(12, 0), []int{9}, 0, ErrMalformed},
		{"two came, one announced", func(f []byte) []byte { return f }, []int{9, 10}, 0, ErrMalformed},
		{"descriptor bits 3", put32(12, 3), []int{9}, 0, ErrMalformed},
		{"bits of a field that is not there", put32(12, 1|1<<2), []int{9, 10}, 0, ErrMalformed},
		{"bad descriptor", put32(12, 2), nil, abi.StatusSuccess, nil},
		{"unknown operation", put16(0, 0x7FFF), []int{9}, abi.StatusNotSupported, nil},
		{"record of another call", put16(0, 0x01), []int{9}, abi.StatusInvalidParameter, nil},
		{"count too small", put32(HeaderSize+4, 1), []int{9}, abi.StatusInvalidParameter, nil},
		{"count too large", put32(HeaderSize+4, 3), []int{9}, abi.StatusInvalidParameter, nil},
		{"count that wraps", put32(HeaderSize+4, 0x40000002), []int{9}, abi.StatusInvalidParameter, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			frame, _ := wait(t)
			frame = c.spoil(frame)
			room := newRoom()
			copy(room, frame)
			var r abi.Request
			_, st, err := DecodeRequest(room, len(frame), c.files, &r)
			if !errors.Is(err, c.err) || err == nil && st != c.want {
				t.Errorf("got %v, %v; want %v, %v", st, err, c.want, c.err)
			}
		})
	}
}

// TestEncodeRefusals: a request that breaks a rule never leaves.
func TestEncodeRefusals(t *testing.T) {
	op := abi.OpByNr(0x3A)
	for _, c := range []struct {
		name string
		edit func(*abi.Request)
	}{
		{"short record", func(r *abi.Request) { r.Record = r.Record[:op.Size-1] }},
		{"array missing", func(r *abi.Request) { r.Arrays = r.Arrays[:1] }},
		{"array too long", func(r *abi.Request) { r.Arrays[0] = make([]byte, 12) }},
		{"count above the largest", func(r *abi.Request) {
			n := op.Arrays[0].Max + 1
			le.PutUint32(r.Record[op.Arrays[0].Count:], n)
			r.Arrays = [][]byte{make([]byte, n*4), make([]byte, n*8)}
		}},
		{"descriptor field missing", func(r *abi.Request) { r.Files = nil }},
		{"descriptor field too many", func(r *abi.Request) { r.Files = []int{abi.FileNone, abi.FileNone} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := &abi.Request{Op: op, Record: make([]byte, op.Size), Arrays: [][]byte{make([]byte, 8), make([]byte, 16)}, Files: []int{abi.FileNone}}
			le.PutUint32(r.Record[op.Arrays[0].Count:], 2)
			c.edit(r)
			if _, _, st := EncodeRequest(make([]byte, MaxFrame), nil, r); st != abi.StatusInvalidParameter {
				t.Errorf("got %v", st)
			}
		})
	}
}

// TestReplyRefusals: a reply that does not answer the request is no reply.
func TestReplyRefusals(t *testing.T) {
	op := abi.OpByNr(0x14)
	ask := func() *abi.Request {
		r := &abi.Request{Op: op, Record: make([]byte, op.Size), Arrays: [][]byte{make([]byte, 40)}}
		le.PutUint32(r.Record, 2)
		return r
	}
	frame := make([]byte, MaxFrame)
	good := frame[:EncodeReply(frame, op.Nr, abi.StatusSuccess, ask())]
	failed := make([]byte, MaxFrame)
	failed = failed[:EncodeReply(failed, op.Nr, abi.StatusNoMemory, ask())]
	for _, c := range []struct {
		name  string
		frame []byte
		files []int
	}{
		{"short", good[:10], nil},
		{"of another call", edit(good, 4, 0x15), nil},
		{"cut", good[:len(good)-1], nil},
		{"descriptors not announced", good, []int{5}},
		{"descriptors that did not come", edit(good, 6, 1), nil},
		{"array of another length", edit(good, HeaderSize+op.Size, 20), nil},
		{"NULL array", edit(good, HeaderSize+op.Size, 0xFF), nil},
		{"a failure with a record", edit(edit(good, 0, 0x17), 3, 0xC0), nil},
		{"a failure with a descriptor", edit(failed, 6, 1), []int{5}},
		{"half a grant", edit(append(bytes.Clone(good), make([]byte, 8)...), 16, 8), nil},
		{"reserved word", edit(good, 20, 1), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := ask()
			if _, err := DecodeReply(c.frame, c.files, r); !errors.Is(err, ErrMalformed) {
				t.Errorf("got %v", err)
			}
			same(t, r, ask())
		})
	}
	if st, err := DecodeReply(good, nil, ask()); err != nil || !st.OK() {
		t.Errorf("the reply itself: %v %v", st, err)
	}
}

func edit(b []byte, at int, v byte) []byte {
	b = bytes.Clone(b)
	b[at] = v
	return b
}

// TestNoAllocation: neither end allocates for a request once its slices have grown.
func TestNoAllocation(t *testing.T) {
	room, reply := newRoom(), make([]byte, MaxFrame)
	frame, files := wait(t)
	var r abi.Request
	if n := testing.AllocsPerRun(100, func() {
		copy(room, frame)
		if _, st, err := DecodeRequest(room, len(frame), files, &r); err != nil || !st.OK() {
			t.Fatal(st, err)
		}
		EncodeReply(reply, r.Op.Nr, abi.StatusSuccess, &r)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
