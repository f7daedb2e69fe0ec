package wire

import "github.com/dxgsync/dxgsync/abi"

// EncodeRequest writes r as a frame into b, which must have MaxFrame bytes, and
// returns its length. The descriptors that must travel along are appended to
// files. INVALID_PARAMETER: the record or an array has not the size that the
// table and the record's counts say, or the frame or its answer would be larger
// than MaxFrame.
func EncodeRequest(b []byte, files []int, r *abi.Request) (n int, out []int, st abi.Status) {
	op := r.Op
	if len(r.Record) != op.Size || len(r.Arrays) != len(op.Arrays) {
		return 0, files, abi.StatusInvalidParameter
	}
	total := HeaderSize + op.Size
	for i := range op.Arrays {
		a, data := &op.Arrays[i], r.Arrays[i]
		if data != nil && !arrayFits(a, r.Record, len(data)) {
			return 0, files, abi.StatusInvalidParameter
		}
		total += 8
		if goesIn(a.Dir) {
			total += pad8(len(data))
		}
	}
	if total > MaxFrame || replySize(r) > MaxFrame {
		return 0, files, abi.StatusInvalidParameter
	}
	bits, files, ok := encodeFiles(files, r)
	if !ok {
		return 0, files, abi.StatusInvalidParameter
	}
	le.PutUint16(b, op.Nr)
	le.PutUint16(b[2:], Version)
	le.PutUint32(b[4:], uint32(op.Size))
	le.PutUint32(b[8:], uint32(total-HeaderSize-op.Size))
	le.PutUint32(b[12:], bits)
	le.PutUint32(b[16:], r.Bell)
	le.PutUint32(b[20:], r.Ticket)
	at := HeaderSize + copy(b[HeaderSize:], r.Record)
	for i, data := range r.Arrays {
		putArrayHead(b[at:], lengthOf(data))
		at += 8
		if goesIn(op.Arrays[i].Dir) {
			putData(b[at:], data)
			at += pad8(len(data))
		}
	}
	return at, files, abi.StatusSuccess
}

// encodeFiles collects the descriptors of r and the bits that describe them.
func encodeFiles(files []int, r *abi.Request) (bits uint32, out []int, ok bool) {
	inward := 0
	for i := range r.Op.Files {
		if r.Op.Files[i].Dir == abi.Out {
			continue
		}
		if inward == len(r.Files) {
			return 0, files, false
		}
		switch fd := r.Files[inward]; fd {
		case abi.FileNone:
		case abi.FileBad:
			bits |= fileBad << (2 * inward)
		default:
			bits |= fileSent << (2 * inward)
			files = append(files, fd)
		}
		inward++
	}
	return bits, files, inward == len(r.Files)
}

// DecodeRequest reads the frame room[:n] into r, reusing its slices. room must be
// 8-aligned and have 2*MaxFrame bytes: record and inward arrays point into the
// frame, outward arrays into the zeroed room behind it. files are the descriptors
// that came along; they stay the caller's, r only names them.
//
// nr is the operation's number even when r.Op is nil. A status other than SUCCESS
// is the answer to the request, which must not go further: NOT_SUPPORTED for a
// number that the table does not have, INVALID_PARAMETER for a record of another
// size and for an array that does not have as many bytes as the record's count
// says or has more elements than may travel. The error is ErrMalformed.
func DecodeRequest(room []byte, n int, files []int, r *abi.Request) (nr uint16, st abi.Status, err error) {
	r.Op, r.Record, r.Arrays, r.Files = nil, nil, r.Arrays[:0], r.Files[:0]
	r.Out, r.Grant = r.Out[:0], abi.Grant{}
	if n < HeaderSize || n > MaxFrame {
		return 0, 0, ErrMalformed
	}
	nr = le.Uint16(room)
	record, arrays := uint64(le.Uint32(room[4:])), uint64(le.Uint32(room[8:]))
	if le.Uint16(room[2:]) != Version || HeaderSize+record+arrays != uint64(n) {
		return nr, 0, ErrMalformed
	}
	op := abi.OpByNr(nr)
	if op == nil {
		return nr, abi.StatusNotSupported, nil
	}
	r.Op = op
	if record != uint64(op.Size) {
		return nr, abi.StatusInvalidParameter, nil
	}
	end := HeaderSize + op.Size
	r.Record = room[HeaderSize:end:end]
	r.Bell, r.Ticket = le.Uint32(room[16:]), le.Uint32(room[20:])
	if err := decodeFiles(le.Uint32(room[12:]), files, r); err != nil {
		return nr, 0, err
	}
	st, err = decodeArrays(room, end, n, r)
	return nr, st, err
}

// decodeFiles names the descriptors that came with a request.
func decodeFiles(bits uint32, files []int, r *abi.Request) error {
	for i := range r.Op.Files {
		if r.Op.Files[i].Dir == abi.Out {
			continue
		}
		fd := abi.FileNone
		switch bits & 3 {
		case fileNone:
		case fileBad:
			fd = abi.FileBad
		case fileSent:
			if len(files) == 0 {
				return ErrMalformed
			}
			fd, files = files[0], files[1:]
		default:
			return ErrMalformed
		}
		r.Files = append(r.Files, fd)
		bits >>= 2
	}
	if bits != 0 || len(files) != 0 {
		return ErrMalformed
	}
	return nil
}

// decodeArrays walks the arrays in room[at:end]. The form of all of them comes
// before the rule of any.
func decodeArrays(room []byte, at, end int, r *abi.Request) (abi.Status, error) {
	st := abi.StatusSuccess
	free := pad8(end) // where outward arrays go
	for i := range r.Op.Arrays {
		a := &r.Op.Arrays[i]
		if end-at < 8 {
			return 0, ErrMalformed
		}
		n, err := getArrayHead(room[at:])
		if err != nil {
			return 0, err
		}
		at += 8
		var data []byte
		switch {
		case n < 0:
		case goesIn(a.Dir):
			if pad8(n) > end-at {
				return 0, ErrMalformed
			}
			data = room[at : at+n : at+n]
			at += pad8(n)
		case n > len(room)-free:
			st = abi.StatusInvalidParameter
		default:
			data = room[free : free+n : free+n]
			clear(data)
			free += pad8(n)
		}
		if n >= 0 && !arrayFits(a, r.Record, n) {
			st = abi.StatusInvalidParameter
		}
		r.Arrays = append(r.Arrays, data)
	}
	if at != end {
		return 0, ErrMalformed
	}
	if st.OK() && replySize(r) > MaxFrame {
		st = abi.StatusInvalidParameter
	}
	return st, nil
}

// RequestNumber is the operation number of a request frame, 0 when it is too
// short to have one.
func RequestNumber(frame []byte) uint16 {
	if len(frame) < HeaderSize {
		return 0
	}
	return le.Uint16(frame)
}
