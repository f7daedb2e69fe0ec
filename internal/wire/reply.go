package wire

import "github.com/dxgsync/dxgsync/abi"

// replySize is the largest frame that can answer r, in bytes.
func replySize(r *abi.Request) int {
	n := HeaderSize + r.Op.Size + GrantSize
	for i, data := range r.Arrays {
		if goesOut(r.Op.Arrays[i].Dir) {
			n += arraySize(len(data))
		}
	}
	return n
}

// MayBringFiles reports whether the answer to an operation may have descriptors: its
// own, or the memory of a local object, whose handle is answered too. Where it is
// false, ReceivePlain will do.
func MayBringFiles(op *abi.Op) bool {
	for i := range op.Files {
		if op.Files[i].Dir != abi.In {
			return true
		}
	}
	return len(op.Out) > 0
}

// EncodeReply writes the answer to r, decoded from a request with number nr, as a
// frame into b, which must have MaxFrame bytes, and returns its length. A status
// that is no success answers the header alone. The descriptors that must travel
// along are those of r.Out; of a failure none do.
func EncodeReply(b []byte, nr uint16, st abi.Status, r *abi.Request) (n int) {
	clear(b[:HeaderSize])
	le.PutUint32(b, uint32(st))
	le.PutUint16(b[4:], nr)
	if !st.OK() || r.Op == nil {
		return HeaderSize
	}
	le.PutUint16(b[6:], uint16(len(r.Out)))
	le.PutUint32(b[8:], uint32(len(r.Record)))
	at := HeaderSize + copy(b[HeaderSize:], r.Record)
	arrays := at
	for i, data := range r.Arrays {
		if !goesOut(r.Op.Arrays[i].Dir) {
			continue
		}
		putArrayHead(b[at:], lengthOf(data))
		putData(b[at+8:], data)
		at += arraySize(len(data))
	}
	le.PutUint32(b[12:], uint32(at-arrays))
	if r.Grant.Kind != 0 {
		le.PutUint32(b[16:], GrantSize)
		putGrant(b[at:], &r.Grant)
		at += GrantSize
	}
	return at
}

// DecodeReply reads a frame that answers r, which is as it was encoded, and the
// descriptors that came along. It writes what the operation answers and nothing
// else: the record's Out spans, the outward arrays, r.Grant and r.Out; of a
// failure nothing. On ErrMalformed nothing is written and files stay the caller's,
// else they are r's.
func DecodeReply(frame []byte, files []int, r *abi.Request) (abi.Status, error) {
	if len(frame) < HeaderSize {
		return 0, ErrMalformed
	}
	st := abi.Status(le.Uint32(frame))
	record, arrays, grant := uint64(le.Uint32(frame[8:])), uint64(le.Uint32(frame[12:])), uint64(le.Uint32(frame[16:]))
	if le.Uint16(frame[4:]) != r.Op.Nr || int(le.Uint16(frame[6:])) != len(files) || le.Uint32(frame[20:]) != 0 ||
		HeaderSize+record+arrays+grant != uint64(len(frame)) {
		return 0, ErrMalformed
	}
	if !st.OK() {
		if len(frame) != HeaderSize || len(files) != 0 {
			return 0, ErrMalformed
		}
		return st, nil
	}
	if record != uint64(r.Op.Size) || grant != 0 && grant != GrantSize || !arraysMatch(frame, int(HeaderSize+record), int(arrays), r) {
		return 0, ErrMalformed
	}
	for _, s := range r.Op.Out {
		from, to := HeaderSize+int(s.Off), HeaderSize+int(s.Off)+int(s.Len)
		copy(r.Record[s.Off:], frame[from:to])
	}
	at := HeaderSize + int(record)
	for i, data := range r.Arrays {
		if goesOut(r.Op.Arrays[i].Dir) {
			copy(data, frame[at+8:])
			at += arraySize(len(data))
		}
	}
	r.Grant = abi.Grant{}
	if grant != 0 {
		r.Grant = getGrant(frame[at:])
	}
	r.Out = r.Out[:0]
	for _, fd := range files {
		r.Out = append(r.Out, abi.OutFile{FD: fd})
	}
	return st, nil
}

// arraysMatch reports whether the size bytes at frame[at:] are the outward arrays
// of r, each with the length that was asked for.
func arraysMatch(frame []byte, at, size int, r *abi.Request) bool {
	end := at + size
	for i, data := range r.Arrays {
		if !goesOut(r.Op.Arrays[i].Dir) {
			continue
		}
		if arraySize(len(data)) > end-at {
			return false
		}
		if n, err := getArrayHead(frame[at:]); err != nil || n != lengthOf(data) {
			return false
		}
		at += arraySize(len(data))
	}
	return at == end
}
