package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/internal/wire"
)

// A Listener is a listening SOCK_SEQPACKET socket.
type Listener struct {
	fd   int
	path string // to remove at Close; "" for abstract names and passed sockets
	id   fileID
}

// fileID tells files apart: inode numbers are used again, so when the file was
// made counts too, where the file system says it.
type fileID struct {
	major, minor uint32
	ino          uint64
	born         unix.StatxTimestamp
}

func idOf(path string) (id fileID, ok bool) {
	var st unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_INO|unix.STATX_BTIME, &st) != nil {
		return id, false
	}
	return fileID{st.Dev_major, st.Dev_minor, st.Ino, st.Btime}, true
}

// backlog is how many connections may wait to be accepted; the system lowers it
// to net.core.somaxconn.
const backlog = 4096

// Listen makes a listener at address: a path, whose directory is made with mode
// 0700 if it is missing, or after a leading '@' a name in the abstract namespace.
// mode is the access of the socket file: who may write to it may connect. A socket
// that nobody listens on is replaced. unix.EADDRINUSE: somebody does listen there.
func Listen(address string, mode fs.FileMode) (*Listener, error) {
	sa, err := wire.Sockaddr(address)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	l := &Listener{}
	if !strings.HasPrefix(address, "@") {
		unlock, err := lockDirectory(filepath.Dir(address))
		if err != nil {
			return nil, fmt.Errorf("listen at %s: %w", address, err)
		}
		defer unlock()
		if err := removeStale(address); err != nil {
			return nil, fmt.Errorf("listen at %s: %w", address, err)
		}
		l.path = address
	}
	l.fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("listen at %s: make socket: %w", address, err)
	}
	if err := l.bind(sa, mode); err != nil {
		_ = unix.Close(l.fd)
		return nil, fmt.Errorf("listen at %s: %w", address, err)
	}
	return l, nil
}

func (l *Listener) bind(sa *unix.SockaddrUnix, mode fs.FileMode) error {
	if l.path != "" { // the file is born with no more access than this
		if err := unix.Fchmod(l.fd, uint32(mode.Perm())); err != nil {
			return fmt.Errorf("set mode: %w", err)
		}
	}
	if err := unix.Bind(l.fd, sa); err != nil {
		return fmt.Errorf("bind: %w", err)
	}
	if l.path != "" {
		l.id, _ = idOf(l.path)
		if err := unix.Chmod(l.path, uint32(mode.Perm())); err != nil { // past the umask
			_ = unix.Unlink(l.path)
			return fmt.Errorf("set mode: %w", err)
		}
	}
	if err := unix.Listen(l.fd, backlog); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	return nil
}

// Passed makes a listener of a descriptor that somebody else opened, such as
// systemd: it must be a listening SOCK_SEQPACKET Unix socket. The listener owns it.
func Passed(fd int) (*Listener, error) {
	kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE)
	if err != nil {
		return nil, fmt.Errorf("passed descriptor %d: %w", fd, err)
	}
	domain, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_DOMAIN)
	if err != nil {
		return nil, fmt.Errorf("passed descriptor %d: %w", fd, err)
	}
	listening, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
	if err != nil {
		return nil, fmt.Errorf("passed descriptor %d: %w", fd, err)
	}
	if domain != unix.AF_UNIX || kind != unix.SOCK_SEQPACKET || listening == 0 {
		return nil, fmt.Errorf("passed descriptor %d is no listening SOCK_SEQPACKET Unix socket: %w", fd, unix.EPROTOTYPE)
	}
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, true); err != nil {
		return nil, fmt.Errorf("passed descriptor %d: %w", fd, err)
	}
	return &Listener{fd: fd}, nil
}

// Close closes the listener and removes its socket file, if that is still its own.
// No Serve may be using it.
func (l *Listener) Close() {
	if l.path != "" {
		if id, ok := idOf(l.path); ok && id == l.id {
			_ = unix.Unlink(l.path)
		}
	}
	_ = unix.Close(l.fd)
}

// lockDirectory makes dir if it is missing and keeps other servers from binding in
// it until unlock.
func lockDirectory(dir string) (unlock func(), err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	for {
		switch err := unix.Flock(fd, unix.LOCK_EX); err {
		case nil:
			return func() { _ = unix.Close(fd) }, nil
		case unix.EINTR:
		default:
			_ = unix.Close(fd)
			return nil, fmt.Errorf("lock %s: %w", dir, err)
		}
	}
}

// removeStale removes a socket file that nobody listens on.
func removeStale(path string) error {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		if errors.Is(err, unix.ENOENT) {
			return nil
		}
		return fmt.Errorf("look at %s: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return fmt.Errorf("%s is no socket: %w", path, unix.EEXIST)
	}
	link, err := wire.Connect(path)
	if err == nil {
		link.Close()
		return unix.EADDRINUSE
	}
	if !errors.Is(err, unix.ECONNREFUSED) {
		return err
	}
	if err := unix.Unlink(path); err != nil {
		return fmt.Errorf("remove the stale socket: %w", err)
	}
	return nil
}
