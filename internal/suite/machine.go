package suite

import (
	"encoding/json"
	"fmt"

	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/host"
	"github.com/dxgsync/dxgsync/internal/kernel"
)

// machine is a kernel on a host, which every world of this package has.
type machine struct {
	kernel *kernel.Kernel
	host   *host.Host
}

func newMachine(profiles []*adapter.Profile) (*machine, error) {
	h, err := host.New()
	if err != nil {
		return nil, err
	}
	k, err := kernel.New(kernel.Config{Profiles: profiles, Host: h, Now: host.Now, Time: host.Time})
	if err != nil {
		h.Stop()
		return nil, err
	}
	h.Drive(k)
	h.Start(k.NTClosed)
	return &machine{k, h}, nil
}

// Waiters implements World.
func (m *machine) Waiters() (n int, known bool) {
	s := m.kernel.Snapshot()
	n = len(s.Waits)
	for _, o := range s.Objects {
		n += o.Waiters - o.Kernel // sleepers on the page
	}
	return n, true
}

// Processes implements World.
func (m *machine) Processes() int { return len(m.kernel.Snapshot().Processes) }

// close ends the machine; every process must have ended.
func (m *machine) close() error {
	m.host.Stop()
	m.kernel.Stop()
	return m.left()
}

// left says what the kernel still holds though every process has ended.
func (m *machine) left() error {
	s := m.kernel.Snapshot()
	if len(s.Processes)+len(s.Objects)+len(s.Waits) == 0 {
		return nil
	}
	left, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return fmt.Errorf("the kernel still holds %s", left)
}
