package syncobj

import "github.com/dxgsync/dxgsync/abi"

// A Mutex is one bit that contexts take and give. It has no owning context: one may
// signal what another acquired.
//
//	state      packet wait       signal                            lose, the last        lose, another  drop last
//	                                                               acquirer                             reference
//	Available  → Owned, proceed  nothing                           nothing               nothing        → Gone
//	Owned      queue             → Available, or hand over to the  as signal             nothing        → Gone
//	                             first in line that can proceed
//	Gone       proceed           nothing                           nothing               nothing        (a bug of ours)
//
// Source: objects.md §4.4, §5.1; OQ-9, OQ-25, OQ-26, OQ-42.
type Mutex struct {
	base
	stock
}

// Init makes m a mutex with one reference; owned is its InitialState. Nobody
// acquired an initially owned mutex, so no loss frees it.
func (m *Mutex) Init(flags abi.SyncObjectFlags, owned bool) {
	m.base.init(flags)
	m.stock = stock{left: 1, most: 1}
	if owned {
		m.left = 0
	}
}

// Kind implements Object.
func (m *Mutex) Kind() abi.SyncObjectType { return abi.SynchronizationMutex }

// State returns the state.
func (m *Mutex) State() State {
	switch {
	case m.gone:
		return Gone
	case m.left > 0:
		return Available
	}
	return Owned
}

// Waiters implements Object: packets that wait.
func (m *Mutex) Waiters() (kernel, sleepers int) { return len(m.line), 0 }

// Signal makes the mutex available, or hands it over. The values mean nothing.
func (m *Mutex) Signal(uint64, bool, *Wakes) { m.give() }

// Last is the token of who acquired the mutex last and has it still; nil: nobody, or
// nobody knows.
func (m *Mutex) Last() any { return m.last }

// Lose gives the mutex back if owner, a token as in Packet.Init, was the last to
// acquire it and has it still: that device is lost. Its waiting packets must have
// been withdrawn before, or one of them gets it.
// Source: gpu.md §8.4; OQ-42.
func (m *Mutex) Lose(owner any) {
	if m.last != nil && m.last == owner {
		m.give()
	}
}

// Unref implements Object.
func (m *Mutex) Unref(*Wakes) {
	if m.unref() {
		m.end()
	}
}

func (m *Mutex) supply() *stock { return &m.stock }
