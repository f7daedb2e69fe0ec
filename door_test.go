package dxgsync

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/dxgsync/dxgsync/abi"

	"go.uber.org/goleak"

	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/server"
)

// TestMain also plays the other processes: the test binary started again in a role.
func TestMain(m *testing.M) {
	if role := os.Getenv("DXGSYNC_TEST_ROLE"); role != "" {
		if err := roles[role](); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", role, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	_ = os.Setenv("DXGSYNC_BACKSTOP", "off") // it would hide a lost wake
	goleak.VerifyTestMain(m)
}

// where is a place that a fence's value can live in.
type where struct {
	remote bool // behind a daemon, else in this process
	shared bool // in a page of its own, else with others in a slab or on the heap
}

// everywhere runs a test in all four places.
func everywhere(t *testing.T, test func(t *testing.T, w where)) {
	for name, w := range map[string]where{
		"heap": {false, false}, "page": {false, true}, "slab": {true, false}, "remote page": {true, true},
	} {
		t.Run(name, func(t *testing.T) { test(t, w) })
	}
}

// device opens a session there, which ends with the test.
func (w where) device(t *testing.T) *Device {
	t.Helper()
	if !w.remote {
		return openDevice(t)
	}
	address := daemon(t)
	d := openDevice(t, WithDaemon(address))
	kernels.Store(d.s, daemons[address].Kernel)
	t.Cleanup(func() { kernels.Delete(d.s) })
	return d
}

// A testDaemon is a kernel behind a socket, in this process.
var (
	daemonMu sync.Mutex
	daemons  = map[string]*server.Daemon{}
	kernels  sync.Map // of remote sessions
)

// daemon starts the daemon of a test, or finds it.
func daemon(t *testing.T) (address string) {
	t.Helper()
	daemonMu.Lock()
	defer daemonMu.Unlock()
	// An abstract name: the paths of temporary directories are too long.
	address = "@dxgsync-test-" + fmt.Sprint(os.Getpid()) + "-" + strings.ReplaceAll(filepath.ToSlash(t.Name()), "/", "-")
	if len(address) > 100 {
		address = address[:100]
	}
	if daemons[address] != nil {
		return address
	}
	d, err := startDaemon(address)
	if err != nil {
		t.Fatal(err)
	}
	daemons[address] = d
	t.Cleanup(func() {
		daemonMu.Lock()
		delete(daemons, address)
		daemonMu.Unlock()
		d.Close()
	})
	return address
}

func startDaemon(address string) (*server.Daemon, error) {
	d, err := server.NewDaemon(kernel.Config{}, server.Config{KernelID: 1})
	if err == nil {
		err = d.Open(address)
	}
	return d, err
}

func kernelOf(s *Session) *kernel.Kernel {
	if l, ok := s.door.(*local); ok {
		return l.kernel
	}
	k, _ := kernels.Load(s)
	return k.(*kernel.Kernel)
}

// failure turns a status into an error: nil for success.
func failure(st abi.Status) error {
	if st == abi.StatusSuccess {
		return nil
	}
	return st
}
