package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// passSocket starts "dxgsync serve ARGS" with a socket passed as systemd does it.
func passSocket(t *testing.T, network string, args ...string) (cmd *exec.Cmd, address, notifications string) {
	t.Helper()
	dir := t.TempDir()
	address, notifications = filepath.Join(dir, "s"), filepath.Join(dir, "notify")
	var file *os.File
	if network == "unix" {
		l, err := net.ListenUnix(network, &net.UnixAddr{Name: address, Net: network})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		if file, err = l.File(); err != nil {
			t.Fatal(err)
		}
	} else {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		file = os.NewFile(uintptr(fd), address)
		if err := unix.Bind(fd, &unix.SockaddrUnix{Name: address}); err != nil {
			t.Fatal(err)
		}
		if err := unix.Listen(fd, 16); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { file.Close() })
	// LISTEN_PID must be the number of the process that exec makes the server.
	shell := append([]string{"-c", `export LISTEN_FDS=1 LISTEN_PID=$$; exec dxgsync serve "$@"`, "sh"}, args...)
	cmd = exec.Command("sh", shell...)
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+notifications)
	cmd.ExtraFiles = []*os.File{file}
	return cmd, address, notifications
}

func TestServeOnPassedSocket(t *testing.T) {
	cmd, address, notifications := passSocket(t, "unixpacket")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: notifications, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil { // a server that died says nothing
		t.Fatal(err)
	}
	b := make([]byte, 64)
	if n, err := c.Read(b); err != nil || string(b[:n]) != "READY=1" {
		t.Fatalf("notification %q, %v", b[:n], err)
	}
	s, err := inspect(address)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Adapters) != 1 || s.Adapters[0].Profile != "neutral" {
		t.Errorf("adapters = %v", s.Adapters)
	}
	if err := cmd.Process.Signal(unix.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("serve ended with %v", err)
	}
	if _, err := os.Lstat(address); err != nil {
		t.Errorf("the socket of systemd was removed: %v", err)
	}
}

func TestServeRefusesPassedSocket(t *testing.T) {
	cmd, _, _ := passSocket(t, "unix")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "use ListenSequentialPacket= in the socket unit") {
		t.Errorf("a stream socket: %v, %s", err, out)
	}
	cmd, _, _ = passSocket(t, "unixpacket", "--socket", "/nowhere/s")
	out, err = cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "systemd has passed a socket, so --socket cannot be used") {
		t.Errorf("a passed socket and --socket: %v, %s", err, out)
	}
}
