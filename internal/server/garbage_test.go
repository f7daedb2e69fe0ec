package server

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/page"
)

// A vandal fills requests with numbers that mean something, and some that do not.
type vandal struct {
	random  *rand.Rand
	handles []abi.Handle
	code    uint64
	bells   []*page.Memory // pages of doorbells that it may write
}

// keepBell maps the page of a doorbell.
func (v *vandal) keepBell(t *testing.T, r *abi.Request) {
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
	answers, bells := map[abi.Status]int{}, 0
	for seed := range uint64(peers) {
		c := dial(t, st.Server, byte(seed+1))
		v := &vandal{random: rand.New(rand.NewPCG(seed, 1))}
		var g *gpuSet
		for i := range calls {
			if i%100 == 0 { // devices do not live long
				g = makeGPUSet(c.openAdapter(), c.mustDo)
				v.handles, v.code = g.handles(), g.code
			}
			op := &abi.Ops[v.random.IntN(len(abi.Ops))]
			if op.Support != abi.Supported || op.Nr == abi.OpProvokeFault.Nr || slices.ContainsFunc(op.Files, func(f abi.FileField) bool { return f.Dir&abi.In != 0 }) {
				continue
			}
			r := v.request(op, 0)
			if op.Nr == opOf("D3DKMTCreateDoorbell").Nr && v.random.IntN(2) == 0 { // chance would not make one
				rec := abi.View[abi.CreateDoorbell](r.Record)
				*rec = abi.CreateDoorbell{HHwQueue: g.user, HRingBuffer: g.allocation, Flags: abi.DoorbellResizeRingBufferOperation}
				r.Arrays[0] = nil
			}
			st, err := c.do(r)
			if err != nil {
				t.Fatalf("seed %d: %s: %v", seed, op.Name, err)
			}
			if st.OK() && (op.Nr == opOf("D3DKMTCreateDoorbell").Nr || op.Nr == opOf("D3DKMTCreateHwQueueForUserModeSubmission").Nr) {
				v.keepBell(t, r)
			}
			v.ring()
			closeFiles(r)
			if answers[st]++; st.OK() {
				v.learn(r)
			}
		}
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
	if answers[abi.StatusSuccess] < peers || answers[abi.StatusInvalidParameter] < peers {
		t.Errorf("these calls show little: %v", answers)
	}
	st.Server.Close()
	if s := st.Kernel.Snapshot(); len(s.Processes)+len(s.Objects)+len(s.Waits)+s.Globals != 0 {
		t.Errorf("left behind: %+v", s)
	}
	st.Host.Stop()
}
