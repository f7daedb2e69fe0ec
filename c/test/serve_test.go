package ctest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/server"
)

// serveEnv makes this test binary a daemon at the address it holds.
const serveEnv = "DXGSYNC_CTEST_SERVE"

func newDaemon(limits server.Limits, others ...*adapter.Profile) (*server.Daemon, error) {
	profile, err := adapter.Load("neutral")
	if err != nil {
		return nil, err
	}
	profile.DriverStore = "/usr/lib/dxgsync/drivers" // so that there is one to ask for
	return server.NewDaemon(kernel.Config{
		Profiles: append([]*adapter.Profile{profile}, others...),
	}, server.Config{Limits: limits})
}

// start serves in this process until the test ends, and returns the address. The
// neutral adapter comes first.
func start(t *testing.T, limits server.Limits, others ...*adapter.Profile) string {
	address := filepath.Join(t.TempDir(), "s")
	d, err := newDaemon(limits, others...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	if err := d.Open(address); err != nil {
		t.Fatal(err)
	}
	return address
}

// serve serves until the process is killed.
func serve(address string) error {
	d, err := newDaemon(server.Limits{})
	if err != nil {
		return err
	}
	l, err := server.Listen(address, 0o600)
	if err != nil {
		return err
	}
	fmt.Println("serving")
	return d.Serve(l)
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
