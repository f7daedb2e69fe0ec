package suite

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/softgpu"
)

// C is the door of C programs: each scenario process is a process of its own, a
// driver program linked with the C library, which makes the calls it is told.
type C struct {
	// Driver is the path of the driver, dxgdrive or another one that speaks its
	// protocol (docs/conformance-format.md).
	Driver string
}

// DriverName is the file name of the driver.
const DriverName = "dxgdrive"

// FindDriver looks for the driver beside the running program, then in $PATH.
func FindDriver() (string, error) {
	self, err := os.Executable()
	if err == nil {
		beside := filepath.Join(filepath.Dir(self), DriverName)
		if _, err = os.Stat(beside); err == nil {
			return beside, nil
		}
	}
	path, err := exec.LookPath(DriverName)
	if err != nil {
		return "", fmt.Errorf("%s is neither beside this program nor in $PATH", DriverName)
	}
	return path, nil
}

// Name implements Door.
func (C) Name() string { return "c" }

// Open implements Door.
func (c C) Open(spec WorldSpec) (World, error) {
	d, err := newDaemon(spec)
	if err != nil {
		return nil, err
	}
	return &cWorld{daemon: d, driver: c.Driver}, nil
}

type cWorld struct {
	*daemon
	driver string
	all    []*drivenProcess
	// foreign: the driver belongs to another implementation and is not known to the
	// daemon, so nobody but the driver can tell what it waits for.
	foreign bool
}

// Waiters implements World.
func (w *cWorld) Waiters() (n int, known bool) {
	if w.foreign {
		return 0, false
	}
	return w.daemon.Waiters()
}

// Advance implements World.
func (w *cWorld) Advance(d time.Duration) error {
	if w.foreign {
		return errForeign
	}
	return w.daemon.Advance(d)
}

// GPU implements World.
func (w *cWorld) GPU(adapter uint64) (*softgpu.GPU, error) {
	if w.foreign {
		return nil, errForeign
	}
	return w.daemon.GPU(adapter)
}

// Provoke implements World.
func (w *cWorld) Provoke(adapter uint64, f abi.ProvokeFault) error {
	if w.foreign {
		return errForeign
	}
	return w.daemon.Provoke(adapter, f)
}

// Process implements World. The process makes a call that changes nothing, so that
// the kernel knows it from the start.
func (w *cWorld) Process(string) (Process, error) {
	p, err := startDriver(w.driver, w.address)
	if err != nil {
		return nil, err
	}
	w.all = append(w.all, p)
	hello, err := newFrame(DefaultTable(), DefaultTable().Call("EnumAdapters2"), nil, nil)
	if err != nil {
		return nil, err
	}
	if st, err := p.Call(hello); err != nil || st != 0 {
		return nil, fmt.Errorf("first call of the driver: status %#x: %w", st, err)
	}
	if w.foreign = w.Processes() == 0; w.foreign && w.spec.Clock != nil {
		return nil, errForeign
	}
	return p, nil
}

// Close implements World.
func (w *cWorld) Close() error {
	var all []error
	for _, p := range w.all {
		if !p.ended {
			all = append(all, p.Exit())
		}
	}
	return errors.Join(append(all, w.close())...)
}
