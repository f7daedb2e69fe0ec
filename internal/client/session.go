package client

import (
	"bytes"
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/wire"
)

// A session is one socket to the daemon. One call at a time uses it.
type session struct {
	link    *wire.Link
	room    *wire.Room
	in, out [wire.MaxFiles]int
}

// connect opens a session and says Hello. table is the descriptor of the bell table,
// the caller's.
func (c *Conn) connect(hello *abi.Hello) (s *session, table int, err error) {
	link, err := wire.Connect(c.address)
	if err != nil {
		return nil, -1, err
	}
	room, err := wire.NewRoom()
	if err != nil {
		link.Close()
		return nil, -1, err
	}
	s = &session{link: link, room: room}
	r := &abi.Request{Op: abi.OpHello, Record: make([]byte, abi.OpHello.Size)}
	rec := abi.View[abi.Hello](r.Record)
	rec.Version, rec.Nonce = 1, c.nonce
	st, err := s.call(r)
	if err == unix.ECONNRESET || err == unix.EPIPE {
		// Refused before it was asked: the answer was sent before the hang-up.
		st, err = s.answer(r)
	}
	if err == nil && !st.OK() {
		err = st
	}
	if err == nil && len(r.Out) != 1 {
		err = wire.ErrMalformed
	}
	if err != nil {
		closeOut(r.Out)
		s.close()
		return nil, -1, err
	}
	*hello = *rec
	return s, r.Out[0].FD, nil
}

// call does one request. An error means that the session is of no use any more.
func (s *session) call(r *abi.Request) (abi.Status, error) {
	n, files, st := wire.EncodeRequest(s.room.Out, s.out[:0], r)
	if !st.OK() {
		return st, nil
	}
	switch err := s.link.Send(s.room.Out[:n], files); err {
	case nil:
	case unix.EBADF:
		return s.callWithBad(r)
	case unix.ENOMEM, unix.ENOBUFS, unix.ETOOMANYREFS:
		return abi.StatusNoMemory, nil // nothing was sent
	default:
		return 0, err
	}
	return s.answer(r)
}

// callWithBad does a request some of whose descriptors are none: the kernel is told
// which, and says in its turn what that means.
func (s *session) callWithBad(r *abi.Request) (abi.Status, error) {
	told := *r
	told.Files = slices.Clone(r.Files)
	known := false
	for i, fd := range told.Files {
		if fd < 0 {
			continue
		}
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil {
			told.Files[i] = abi.FileBad
			known = true
		}
	}
	if !known {
		return 0, unix.EBADF
	}
	st, err := s.call(&told)
	r.Out, r.Grant = told.Out, told.Grant
	return st, err
}

// answer receives the answer to r.
func (s *session) answer(r *abi.Request) (abi.Status, error) {
	if !wire.MayBringFiles(r.Op) {
		n, err := s.link.ReceivePlain(s.room.In)
		if err != nil {
			return 0, err
		}
		return wire.DecodeReply(s.room.In[:n], nil, r)
	}
	n, files, err := s.link.Receive(s.room.In, s.in[:0])
	if err == wire.ErrFilesLost {
		return s.undo(s.room.In[:n], r)
	}
	if err != nil {
		return 0, err
	}
	st, err := wire.DecodeReply(s.room.In[:n], files, r)
	if err != nil {
		wire.CloseAll(files)
	}
	return st, err
}

// undo answers a request whose descriptors this process had no numbers for: a local
// object that was made is destroyed again, and a descriptor that is lost is closed
// already, which ends what it stood for.
func (s *session) undo(reply []byte, r *abi.Request) (abi.Status, error) {
	lost := *r
	lost.Record, lost.Arrays, lost.Out = bytes.Clone(r.Record), nil, nil
	for _, a := range r.Arrays {
		lost.Arrays = append(lost.Arrays, bytes.Clone(a))
	}
	binary.LittleEndian.PutUint16(reply[6:], 0) // no descriptors
	if _, err := wire.DecodeReply(reply, nil, &lost); err != nil {
		return 0, err
	}
	made, end := abi.Handle(0), abi.OpDestroySynchronizationObject
	switch r.Op {
	case abi.OpCreateSynchronizationObject2:
		made = abi.View[abi.CreateSynchronizationObject2](lost.Record).HSyncObject
	case abi.OpOpenSyncObjectFromNtHandle2:
		made = abi.View[abi.OpenSyncObjectFromNtHandle2](lost.Record).HSyncObject
	case abi.OpCreateNativeFence:
		made = abi.View[abi.CreateNativeFence](lost.Record).HSyncObject
	case abi.OpOpenNativeFenceFromNtHandle:
		made = abi.View[abi.OpenNativeFenceFromNtHandle](lost.Record).HSyncObject
	case abi.OpCreateHwQueue:
		made, end = abi.View[abi.CreateHwQueue](lost.Record).HHwQueue, abi.OpDestroyHwQueue
	case abi.OpCreateDoorbell:
		made, end = abi.View[abi.CreateDoorbell](lost.Record).HDoorbell, abi.OpDestroyDoorbell
	case abi.OpCreateHwQueueForUserModeSubmission:
		made, end = abi.View[abi.CreateHwQueueForUserModeSubmission](lost.Record).HHwQueue, abi.OpDestroyHwQueue
	case abi.OpCreatePagingQueue:
		made, end = abi.View[abi.CreatePagingQueue](lost.Record).HPagingQueue, abi.OpDestroyPagingQueue
	}
	if made != 0 {
		d := &abi.Request{Op: end, Record: make([]byte, end.Size)}
		binary.LittleEndian.PutUint32(d.Record, uint32(made))
		if _, err := s.call(d); err != nil {
			return 0, err
		}
	}
	return abi.StatusNoMemory, nil
}

// close closes the session. Nobody may be using it.
func (s *session) close() {
	s.link.Close()
	s.room.Free()
}

func closeOut(files []abi.OutFile) {
	for _, f := range files {
		_ = unix.Close(f.FD)
	}
}
