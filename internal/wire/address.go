package wire

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// SocketEnv names the environment variable that overrides the daemon's address.
const SocketEnv = "DXGSYNC_SOCKET"

// maxAddress is the longest address: sun_path without its terminator.
const maxAddress = 107

// Address is where the daemon of this environment listens: $DXGSYNC_SOCKET, else
// dxgsync/socket under $XDG_RUNTIME_DIR, else under /run.
func Address() string {
	if a := os.Getenv(SocketEnv); a != "" {
		return a
	}
	dir := os.Getenv("XDG_RUNTIME_DIR")
	if dir == "" {
		dir = "/run"
	}
	return filepath.Join(dir, "dxgsync", "socket")
}

// Sockaddr turns an address into what the system wants: a path, or after a
// leading '@' a name in the abstract namespace.
func Sockaddr(address string) (*unix.SockaddrUnix, error) {
	if address == "" || len(address) > maxAddress {
		return nil, fmt.Errorf("address %q: %w", address, unix.EINVAL)
	}
	return &unix.SockaddrUnix{Name: address}, nil
}

// Connect connects a new blocking socket to the daemon at address.
func Connect(address string) (*Link, error) {
	sa, err := Sockaddr(address)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make socket: %w", err)
	}
	for {
		switch err = unix.Connect(fd, sa); err {
		case nil:
			return NewLink(fd), nil
		case unix.EINTR: // nothing was queued yet: connecting again is right
		default:
			_ = unix.Close(fd)
			return nil, fmt.Errorf("connect to %s: %w", address, err)
		}
	}
}
