package ctest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/host"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/server"
)

// serveEnv makes this test binary a daemon at the address it holds.
const serveEnv = "DXGSYNC_CTEST_SERVE"

// daemon is a kernel at an address.
type daemon struct {
	host     *host.Host
	server   *server.Server
	listener *server.Listener
	served   chan error
}

func newDaemon(address string, limits server.Limits) (*daemon, error) {
	profile, err := adapter.Load("neutral")
	if err != nil {
		return nil, err
	}
	profile.DriverStore = "/usr/lib/dxgsync/drivers" // so that there is one to ask for
	h, err := host.New()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	k, err := kernel.New(kernel.Config{
		Profiles: []*adapter.Profile{profile},
		Host:     h,
		Now:      func() int64 { return int64(time.Since(began)) },
	})
	if err != nil {
		return nil, err
	}
	s, err := server.New(server.Config{Backend: server.KernelBackend(k, h), Limits: limits, KernelID: uint64(os.Getpid())})
	if err != nil {
		return nil, err
	}
	l, err := server.Listen(address, 0o600)
	if err != nil {
		return nil, err
	}
	h.Start(k.NTClosed)
	d := &daemon{h, s, l, make(chan error, 1)}
	go func() { d.served <- s.Serve(l) }()
	return d, nil
}

// start serves in this process until the test ends, and returns the address.
func start(t *testing.T, limits server.Limits) string {
	address := filepath.Join(t.TempDir(), "s")
	d, err := newDaemon(address, limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.server.Close()
		<-d.served
		d.host.Stop()
		d.listener.Close()
	})
	return address
}

// serve serves until the process is killed.
func serve(address string) error {
	d, err := newDaemon(address, server.Limits{})
	if err != nil {
		return err
	}
	fmt.Println("serving")
	return <-d.served
}

// startProcess serves in a process of its own, which the test may kill.
func startProcess(t *testing.T, address string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), serveEnv+"="+address)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("daemon says %q: %v", line, err)
	}
	return cmd
}
