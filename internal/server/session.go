package server

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/wire"
)

// A session is one connection. Its goroutine owns everything in it.
type session struct {
	server  *Server
	peer    *peer
	link    *wire.Link
	room    *wire.Room
	process *process // nil before Hello
	req     abi.Request
	in, out [wire.MaxFiles]int // descriptors that came and that go
}

// Why the server ends a session that did not hang up.
var (
	errNoHello = errors.New("the first request is not Hello")
	errUnread  = errors.New("an answer was not read before the next request")
)

// run serves the session until it ends, then ends what was its own.
func (x *session) run() {
	s := x.server
	defer s.work.Done()
	err := x.serve()
	if err != io.EOF && err != unix.ECONNRESET {
		s.log.Debug("session failed", "pid", x.peer.PID, "uid", x.peer.UID, "reason", err)
	}
	last := s.leave(x)
	x.room.Free()
	if last == nil {
		return
	}
	last.Exit()
	s.release(last)
	s.log.Debug("process left", "pid", x.peer.PID, "uid", x.peer.UID)
}

// serve answers requests until the session ends. io.EOF: the peer hung up.
func (x *session) serve() error {
	for {
		n, files, err := x.link.Receive(x.room.In[:wire.MaxFrame], x.in[:0])
		if err != nil && err != wire.ErrFilesLost {
			return err
		}
		err = x.answer(n, files, err != nil)
		wire.CloseAll(files)
		if err != nil {
			return err
		}
	}
}

// answer answers the request in the first n bytes of the room. lost: the server
// had no descriptor numbers left for what came along.
func (x *session) answer(n int, files []int, lost bool) error {
	r := &x.req
	var nr uint16
	st := abi.StatusNoMemory
	if lost {
		nr = wire.RequestNumber(x.room.In[:n])
		r.Op, r.Out = nil, r.Out[:0]
	} else {
		var err error
		if nr, st, err = wire.DecodeRequest(x.room.In, n, files, r); err != nil {
			return err
		}
	}
	if x.process == nil && nr != abi.OpHello.Nr {
		return errNoHello
	}
	if st.OK() {
		st = x.do(r)
	}
	err := x.reply(nr, st, r)
	for _, f := range r.Out {
		if !f.Borrowed {
			_ = unix.Close(f.FD)
		}
	}
	return err
}

// do answers a session operation itself and hands the others to the kernel.
func (x *session) do(r *abi.Request) abi.Status {
	if r.Op.Nr >= firstSessionOp {
		if f := sessionOps[r.Op.Nr]; f != nil {
			return f(x, r)
		}
	}
	return x.process.Do(r)
}

// reply sends the answer with its descriptors. Those only go to a peer that has
// read everything before: descriptors under way count against the server's user,
// so a peer that piles them up would keep others from getting theirs.
func (x *session) reply(nr uint16, st abi.Status, r *abi.Request) error {
	var files []int
	if st.OK() && len(r.Out) > 0 {
		unread, err := unix.IoctlGetInt(x.link.FD(), unix.SIOCOUTQ)
		if err != nil {
			return err
		}
		if unread != 0 {
			return errUnread
		}
		files = x.out[:0]
		for _, f := range r.Out {
			files = append(files, f.FD)
		}
	}
	return x.link.Send(x.room.Out[:wire.EncodeReply(x.room.Out, nr, st, r)], files)
}
