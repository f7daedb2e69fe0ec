package server

import (
	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
)

// A nonce tells processes of one process id apart: an exec begins anew.
type nonce [16]byte

// A process is a kernel process and the sessions that speak for it. Guarded by
// Server.mu, except for what Process itself does.
type process struct {
	Process
	user     *user
	nonce    nonce
	sessions int
	held     lines // bell lines that belong to it, until release
	spare    lines // of them, those that it gave back
}

// firstSessionOp is where the numbers of session operations begin.
const firstSessionOp = 0xF000

// sessionOps are the operations that the door answers itself; Ring and CancelWait
// go to the kernel.
var sessionOps = map[uint16]func(*session, *abi.Request) abi.Status{
	abi.OpHello.Nr:       (*session).hello,
	abi.OpGrantBells.Nr:  (*session).grantBells,
	abi.OpReturnBells.Nr: (*session).returnBells,
	abi.OpSlabFile.Nr:    (*session).slabFile,
	abi.OpSnapshot.Nr:    (*session).snapshot,

	abi.OpProvokeFault.Nr: (*session).provokeFault,
	abi.OpFenceLog.Nr:     (*session).fenceLog,
}

// helloVersion is the version of the session protocol that Hello asks for.
const helloVersion = 1

// hello attaches the session to the kernel process of its peer and nonce, which
// the first session makes. INVALID_PARAMETER: another version, a flag, a second
// Hello. DEVICE_REMOVED: the peer's process has ended. NO_MEMORY at a limit.
func (x *session) hello(r *abi.Request) abi.Status {
	rec := abi.View[abi.Hello](r.Record)
	if rec.Version != helloVersion || rec.Flags != 0 || x.process != nil {
		return abi.StatusInvalidParameter
	}
	s, p := x.server, x.peer
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.gone || ended(p.pidfd) {
		return abi.StatusDeviceRemoved
	}
	fd, st := s.backend.BellFile(p.UID)
	if !st.OK() {
		return st
	}
	rec.FirstBell, rec.BellCount = 0, 0
	proc := p.procs[rec.Nonce]
	if proc == nil {
		count := uint32(s.limits.BellsAtHello)
		if proc, rec.FirstBell, st = s.attach(p, rec.Nonce, count); !st.OK() {
			return st
		}
		rec.BellCount = count
	}
	proc.sessions++
	x.process = proc
	rec.PID, rec.UID = uint32(p.PID), p.UID
	rec.Bells, rec.MaxObjects, rec.KernelID = tableLines, uint32(s.limits.Objects), s.id
	r.Out = append(r.Out, abi.OutFile{FD: fd, Borrowed: true})
	return abi.StatusSuccess
}

// attach makes a kernel process with its first bells. The lock is held.
func (s *Server) attach(p *peer, n nonce, bells uint32) (*process, uint32, abi.Status) {
	u := p.user
	if u.processes >= s.limits.ProcessesPerUser {
		return nil, 0, abi.StatusNoMemory
	}
	first := u.bells.take(bells)
	if first == 0 {
		return nil, 0, abi.StatusNoMemory
	}
	proc := &process{user: u, nonce: n}
	proc.held.addRange(first, bells)
	kp, st := s.backend.Attach(p.Peer)
	if !st.OK() {
		u.bells.give(&proc.held)
		return nil, 0, st
	}
	proc.Process = kp
	kp.Bells(first, bells)
	u.processes++
	p.procs[n] = proc
	return proc, first, abi.StatusSuccess
}

// grantBells gives the process Count more neighbouring bell lines, first of those
// that it gave back. INVALID_PARAMETER: none asked for. NO_MEMORY: more than it may
// hold, or no such run of lines is left.
func (x *session) grantBells(r *abi.Request) abi.Status {
	rec := abi.View[abi.GrantBells](r.Record)
	if rec.Count == 0 {
		return abi.StatusInvalidParameter
	}
	s, proc := x.server, x.process
	if rec.Count > uint32(s.limits.BellsPerProcess) {
		return abi.StatusNoMemory
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if first := proc.spare.run(1, rec.Count); first != 0 {
		proc.spare.removeRange(first, rec.Count)
		rec.First = first
		return abi.StatusSuccess
	}
	if proc.held.count()+int(rec.Count) > s.limits.BellsPerProcess {
		return abi.StatusNoMemory
	}
	first := proc.user.bells.take(rec.Count)
	if first == 0 {
		return abi.StatusNoMemory
	}
	proc.held.addRange(first, rec.Count)
	proc.Bells(first, rec.Count)
	rec.First = first
	return abi.StatusSuccess
}

// returnBells takes back lines that no thread of the process uses. They stay the
// process's until it ends, because a page may still name them, and are the first to
// be granted to it again. INVALID_PARAMETER: no lines, or not all of them are held.
func (x *session) returnBells(r *abi.Request) abi.Status {
	rec := abi.View[abi.ReturnBells](r.Record)
	s, proc := x.server, x.process
	s.mu.Lock()
	defer s.mu.Unlock()
	if rec.Count == 0 || !proc.held.hasRange(rec.First, rec.Count) {
		return abi.StatusInvalidParameter
	}
	for n := rec.First; n < rec.First+rec.Count; n++ {
		if proc.spare.has(n) {
			return abi.StatusInvalidParameter
		}
	}
	proc.spare.addRange(rec.First, rec.Count)
	return abi.StatusSuccess
}

// slabFile answers a descriptor with the memory of a slab of the process.
// INVALID_PARAMETER: it has no such slab. NO_MEMORY: no descriptor for it.
func (x *session) slabFile(r *abi.Request) abi.Status {
	fd, st := x.process.SlabFile(abi.View[abi.SlabFile](r.Record).Slab)
	if st.OK() {
		r.Out = append(r.Out, abi.OutFile{FD: fd})
	}
	return st
}

// snapshot answers a descriptor with the kernel's listing as JSON. Root and the
// server's own user see everybody, others themselves. INVALID_PARAMETER: What is
// not 0. NO_MEMORY: no memory or descriptor for it.
func (x *session) snapshot(r *abi.Request) abi.Status {
	if abi.View[abi.Snapshot](r.Record).What != 0 {
		return abi.StatusInvalidParameter
	}
	text, err := x.server.backend.Snapshot(x.peer.UID, x.trusted())
	if err != nil {
		x.server.log.Warn("snapshot failed", "reason", err)
		return abi.StatusUnsuccessful
	}
	return answerText(r, text)
}

// trusted reports whether the peer is root or the server's own user.
func (x *session) trusted() bool {
	return x.peer.UID == 0 || int(x.peer.UID) == unix.Geteuid()
}

// provokeFault breaks something on purpose and answers a descriptor with what it did, as
// JSON. ACCESS_DENIED: neither root nor the server's own user asks. NO_MEMORY: it is done,
// and there was no memory or descriptor to say so. Otherwise the backend's statuses.
func (x *session) provokeFault(r *abi.Request) abi.Status {
	if !x.trusted() {
		return abi.StatusAccessDenied
	}
	f := *abi.View[abi.ProvokeFault](r.Record)
	text, st := x.server.backend.Provoke(f)
	if !st.OK() {
		return st
	}
	x.server.log.Warn("provoked a fault", "kind", f.Kind, "by", x.peer.PID, "did", string(text))
	return answerText(r, text)
}

// fenceLog answers a descriptor with what logs of native fences say, as JSON. Root and the
// server's own user see everybody's, others their own. NO_MEMORY: also if there is no memory
// or descriptor for it. Otherwise the backend's statuses.
func (x *session) fenceLog(r *abi.Request) abi.Status {
	text, st := x.server.backend.FenceLog(*abi.View[abi.FenceLog](r.Record), x.peer.UID, x.trusted())
	if !st.OK() {
		return st
	}
	return answerText(r, text)
}

// answerText answers a descriptor of a file with text. NO_MEMORY: there can be none.
func answerText(r *abi.Request, text []byte) abi.Status {
	fd, err := textFile(text)
	if err != nil {
		return abi.StatusNoMemory
	}
	r.Out = append(r.Out, abi.OutFile{FD: fd})
	return abi.StatusSuccess
}

// textFile makes a sealed memory file of text, to be read from its beginning.
func textFile(text []byte) (int, error) {
	fd, err := unix.MemfdCreate("dxgsync-snapshot", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, err
	}
	for at := 0; at < len(text); {
		n, err := unix.Pwrite(fd, text[at:], int64(at))
		if err != nil && err != unix.EINTR {
			_ = unix.Close(fd)
			return -1, err
		}
		at += max(n, 0)
	}
	_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}
