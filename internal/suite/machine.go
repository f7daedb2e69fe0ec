package suite

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/host"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/softgpu"
)

// machine is a kernel on a host, which every world of this package has.
type machine struct {
	kernel *kernel.Kernel
	host   *host.Host
	spec   WorldSpec
}

func newMachine(spec WorldSpec) (*machine, error) {
	h, err := host.New()
	if err != nil {
		return nil, err
	}
	cfg := spec.config()
	cfg.Host = h
	if spec.Clock == nil {
		cfg.Now, cfg.Time = host.Now, host.Time
	}
	k, err := kernel.New(cfg)
	if err != nil {
		h.Stop()
		return nil, err
	}
	if spec.Clock == nil {
		h.Drive(k)
	}
	h.Start(k.NTClosed)
	return &machine{k, h, spec}, nil
}

// config is the part of a kernel's configuration that the world is asked for.
func (s WorldSpec) config() kernel.Config {
	cfg := kernel.Config{Profiles: s.Profiles}
	s.settings(&cfg)
	if s.Clock != nil {
		cfg.Now, cfg.Time = s.Clock.Now, s.Clock.Time
	}
	return cfg
}

// settings takes over how engines are watched. Windows has seconds.
func (s WorldSpec) settings(cfg *kernel.Config) {
	const second = int64(time.Second)
	for name, n := range s.TDR {
		switch name {
		case "TdrLevel":
			cfg.TDR.Level, cfg.TDR.Set = int(n), true
		case "TdrDelay":
			cfg.TDR.Delay = int64(n) * second
		case "TdrDdiDelay":
			cfg.TDR.DdiDelay = int64(n) * second
		case "TdrDebugMode":
			cfg.TDR.DebugMode = int(n)
		case "TdrLimitTime":
			cfg.TDR.LimitTime = int64(n) * second
		case "TdrLimitCount":
			cfg.TDR.LimitCount = int(n)
		}
	}
}

// Advance implements World.
func (m *machine) Advance(d time.Duration) error {
	if m.spec.Clock == nil {
		return errors.New("the clock of this world is the machine's")
	}
	return m.spec.Clock.advance(m.kernel, d)
}

// GPU implements World.
func (m *machine) GPU(adapter uint64) (*softgpu.GPU, error) {
	if adapter >= uint64(len(m.spec.Profiles)) {
		return nil, fmt.Errorf("there is no adapter %d", adapter)
	}
	return m.kernel.Driver(int(adapter)).(*softgpu.GPU), nil
}

// Provoke implements World.
func (m *machine) Provoke(adapter uint64, f abi.ProvokeFault) error {
	all := m.kernel.Snapshot().Adapters
	if adapter >= uint64(len(all)) {
		return fmt.Errorf("there is no adapter %d", adapter)
	}
	var high uint32
	if _, err := fmt.Sscanf(all[adapter].LUID, "%x:%x", &high, &f.AdapterLuid.LowPart); err != nil {
		return fmt.Errorf("read LUID %s: %w", all[adapter].LUID, err)
	}
	f.AdapterLuid.HighPart = int32(high)
	if _, st := m.kernel.Provoke(f); !st.OK() {
		return st
	}
	return nil
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
