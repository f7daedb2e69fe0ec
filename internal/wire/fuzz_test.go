package wire

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// seeds adds frames of every operation, valid ones, as make does.
func seeds(f *testing.F, add func(r *abi.Request, frame []byte, files int)) {
	rnd := rand.New(rand.NewPCG(5, 6))
	b := make([]byte, MaxFrame)
	for i := range abi.Ops {
		for range 3 {
			r := sample(rnd, &abi.Ops[i], numbers())
			n, files, st := EncodeRequest(b, nil, r)
			if !st.OK() {
				f.Fatal(r.Op.Name, st)
			}
			add(r, bytes.Clone(b[:n]), len(files))
		}
	}
}

// FuzzDecodeRequest: any bytes are refused or are a request that encodes to a frame
// which decodes to the same request.
func FuzzDecodeRequest(f *testing.F) {
	seeds(f, func(_ *abi.Request, frame []byte, files int) { f.Add(frame, uint8(files)) })
	room, again := newRoom(), newRoom()
	f.Fuzz(func(t *testing.T, frame []byte, files uint8) {
		if len(frame) > MaxFrame {
			return
		}
		var fds []int
		for i := range int(files % (MaxFiles + 1)) {
			fds = append(fds, 100+i)
		}
		copy(room, frame)
		var r, r2 abi.Request
		nr, st, err := DecodeRequest(room, len(frame), fds, &r)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatal(err)
			}
			return
		}
		if nr != RequestNumber(frame) {
			t.Fatalf("number %#x", nr)
		}
		if !st.OK() {
			return
		}
		n, sent, st := EncodeRequest(again, nil, &r)
		if !st.OK() || !slices.Equal(sent, fds) && len(sent)+len(fds) != 0 {
			t.Fatalf("encode again: %v, descriptors %v, came %v", st, sent, fds)
		}
		if _, st, err := DecodeRequest(again, n, sent, &r2); err != nil || !st.OK() {
			t.Fatalf("decode again: %v %v", st, err)
		}
		if !bytes.Equal(r.Record, r2.Record) || !slices.EqualFunc(r.Arrays, r2.Arrays, bytes.Equal) || !slices.Equal(r.Files, r2.Files) {
			t.Fatalf("%+v became %+v", r, r2)
		}
		if n := EncodeReply(make([]byte, MaxFrame), nr, abi.StatusSuccess, &r); n > MaxFrame {
			t.Fatalf("reply of %d bytes", n)
		}
	})
}

// FuzzDecodeReply: any bytes are refused or answer the request; a refusal writes nothing.
func FuzzDecodeReply(f *testing.F) {
	b := make([]byte, MaxFrame)
	seeds(f, func(r *abi.Request, frame []byte, _ int) {
		for _, st := range []abi.Status{abi.StatusSuccess, abi.StatusPending, abi.StatusInvalidParameter} {
			f.Add(frame, bytes.Clone(b[:EncodeReply(b, r.Op.Nr, st, r)]), uint8(0))
		}
	})
	room := newRoom()
	f.Fuzz(func(t *testing.T, request, reply []byte, files uint8) {
		if len(request) > MaxFrame {
			return
		}
		copy(room, request)
		var r abi.Request
		if _, st, err := DecodeRequest(room, len(request), make([]int, files%(MaxFiles+1)), &r); err != nil || !st.OK() {
			return
		}
		before := clone(&r)
		fds := make([]int, files%(MaxFiles+1))
		st, err := DecodeReply(reply, fds, &r)
		if err != nil || !st.OK() {
			same(t, &r, before)
		}
	})
}
