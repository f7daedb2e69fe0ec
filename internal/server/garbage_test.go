package server

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/page"
	"github.com/dxgsync/dxgsync/internal/wire"
)

// A vandal fills requests with numbers that mean something, and some that do not.
type vandal struct {
	random  *rand.Rand
	handles []abi.Handle
	code    uint64
	bells   []*page.Memory // pages of doorbells that it may write
	files   []int          // NT handles, and what is none
	good    []nativeStep
}

// keepBell maps the page of a doorbell.
func (v *vandal) keepBell(t testing.TB, r *abi.Request) {
	m, err := page.Map(r.Out[0].FD, page.PageSize, true)
	if err != nil {
		t.Fatal(err)
	}
	v.bells = append(v.bells, m)
}

// ring writes something into doorbells, mostly what can be.
func (v *vandal) ring() {
	for _, m := range v.bells {
		switch v.random.IntN(8) {
		case 0:
			m.Word64(0).Add(v.random.Uint64N(3))
		case 1:
			m.Word64(128).Store(v.random.Uint64())
		case 2:
			if v.random.IntN(20) == 0 {
				m.Word64(0).Store(v.random.Uint64())
			}
		}
	}
}

// word is a handle of some kind, a small number, or an extreme one.
func (v *vandal) word() uint32 {
	switch v.random.IntN(8) {
	case 0:
		return []uint32{1<<32 - 1, 1 << 31, 1<<31 - 1, 65536, 65, 64, 33, 4097}[v.random.IntN(8)]
	case 1:
		return v.random.Uint32()
	case 2:
		return uint32(v.code >> (32 * v.random.IntN(2)))
	case 3, 4:
		return v.random.Uint32N(4)
	}
	return uint32(v.handles[v.random.IntN(len(v.handles))])
}

func (v *vandal) fill(b []byte) {
	for ; len(b) >= 4; b = b[4:] {
		binary.LittleEndian.PutUint32(b, v.word())
	}
}

// request makes one. Arrays are as long as their counts say, mostly.
func (v *vandal) request(op *abi.Op, bell uint32) *abi.Request {
	r := request(op)
	v.fill(r.Record)
	r.Bell, r.Ticket = bell, bell
	for i := range r.Files {
		if v.random.IntN(8) != 0 {
			r.Files[i] = v.files[v.random.IntN(len(v.files))]
		}
	}
	for i, a := range op.Arrays {
		n := a.Fixed
		if a.From == abi.FromRecord && n == 0 {
			if v.random.IntN(4) != 0 { // else the count is whatever it is
				binary.LittleEndian.PutUint32(r.Record[a.Count:], v.random.Uint32N(4))
			}
			n = binary.LittleEndian.Uint32(r.Record[a.Count:])
		}
		if n > a.Max || uint64(n)*uint64(a.Elem) > 60000 || v.random.IntN(16) == 0 {
			continue
		}
		r.Arrays[i] = make([]byte, n*a.Elem)
		v.fill(r.Arrays[i])
	}
	return r
}

// collect gets the vandal a set of everything, and NT handles.
func (v *vandal) collect(c *client, st *Daemon, line uint32) {
	g, n := makeGPUSet(c.openAdapter(), c.mustDo), new(nativeSet)
	paged(st)
	steps := nativeSteps(g, n, line)
	v.good = steps
	c.play(steps[:len(steps)-2], func(r *abi.Request) {
		if makesBell(r.Op) {
			v.keepBell(c.t, r)
		}
	})
	v.handles, v.code = append(g.handles(), n.handles()...), g.code
	v.drop()
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		c.t.Fatal(err)
	}
	v.files = []int{event}
	for _, h := range []abi.Handle{n.fence, n.fence, g.shared} {
		fd, st := c.share("", nil, object.GenericAll, h)
		if !st.OK() {
			c.t.Fatal(st)
		}
		v.files = append(v.files, fd)
	}
}

// drop lets go of the descriptors.
func (v *vandal) drop() {
	wire.CloseAll(v.files)
	v.files = nil
}

func makesBell(op *abi.Op) bool {
	return op.Nr == abi.OpCreateDoorbell.Nr || op.Nr == abi.OpCreateHwQueueForUserModeSubmission.Nr
}

// near is a good request, if there is one, or r; mostly with something in it that is not.
func (v *vandal) near(op *abi.Op, r *abi.Request) *abi.Request {
	for _, s := range v.good {
		good := s.make()
		if good.Op != op || v.random.IntN(2) == 0 { // another may be, too
			continue
		}
		copy(good.Files, r.Files)
		for range v.random.IntN(3) {
			v.fill(good.Record[v.random.IntN(len(good.Record)/4)*4:][:4])
		}
		return good
	}
	return r
}

// learn keeps what an answer may have brought.
func (v *vandal) learn(r *abi.Request) {
	for _, s := range r.Op.Out {
		if s.Len == 4 && len(v.handles) < 64 {
			v.handles = append(v.handles, abi.Handle(binary.LittleEndian.Uint32(r.Record[s.Off:])))
		}
	}
}

// TestGarbage: peers who call everything with handles of the wrong kind, counts and
// addresses that cannot be, on devices with work in flight, and end in the middle of it,
// are answered, hurt no other, and leave nothing behind.
func TestGarbage(t *testing.T) {
	const peers, calls = 30, 400
	st := newStack(t)
	good := dial(t, st.Server, 200)
	answers, done, bells := map[abi.Status]int{}, map[uint16]int{}, 0
	for seed := range uint64(peers) {
		c, err := connect(t, st.Server)
		if err != nil {
			t.Fatal(err)
		}
		_, hello := c.hello(byte(seed + 1))
		v := &vandal{random: rand.New(rand.NewPCG(seed, 1))}
		for i := range calls {
			if i%100 == 0 { // devices do not live long
				v.collect(c, st, hello.FirstBell+uint32(i/100))
			}
			op := &abi.Ops[v.random.IntN(len(abi.Ops))]
			if op.Support != abi.Supported || op.Nr == abi.OpProvokeFault.Nr || op.Nr == abi.OpHello.Nr {
				continue
			}
			r := v.request(op, 0)
			if v.random.IntN(2) == 0 { // chance alone would make few of them
				r = v.near(op, r)
			}
			record := bytes.Clone(r.Record)
			st, err := c.do(r)
			if err != nil {
				t.Fatalf("seed %d: %s: %v", seed, op.Name, err)
			}
			if st.OK() && makesBell(op) {
				v.keepBell(t, r)
			}
			v.ring()
			closeFiles(r)
			if !st.OK() && !bytes.Equal(record, r.Record) {
				t.Errorf("seed %d: %s answers %v and %x for %x", seed, op.Name, st, r.Record, record)
			}
			if answers[st]++; st.OK() {
				done[op.Nr]++
				v.learn(r)
			}
		}
		v.drop()
		bells += len(v.bells)
		for _, m := range v.bells {
			m.Unmap()
		}
		if seed%2 == 0 {
			c.link.Close()
		}
		if st, err := good.do(request(abi.OpGrantBells)); err != nil || st != abi.StatusInvalidParameter {
			t.Fatalf("seed %d: the other peer: %v, %v", seed, st, err)
		}
	}
	if bells == 0 {
		t.Error("nobody had a doorbell")
	}
	for _, s := range nativeSteps(&gpuSet{}, &nativeSet{}, 0) {
		if op := s.make().Op; done[op.Nr] == 0 && !s.late {
			t.Errorf("nobody's %s was good", op.Name)
		}
	}
	if answers[abi.StatusSuccess] < peers || answers[abi.StatusInvalidParameter] < peers {
		t.Errorf("these calls show little: %v", answers)
	}
	st.Server.Close()
	if s := st.Kernel.Snapshot(); len(s.Processes)+len(s.Objects)+len(s.Waits)+s.Globals != 0 {
		t.Errorf("left behind: %+v", s)
	}
	st.Host.Stop()
}
