package syncobj

import (
	"math"

	"github.com/dxgsync/dxgsync/abi"
)

// Unlimited is the maximum of a semaphore that was given none.
const Unlimited = math.MaxUint32

// A Semaphore counts what contexts take and give.
//
//	state      packet wait              signal                               drop last reference
//	Empty      queue                    count 1, or hand over to the         → Gone
//	                                    first in line that can proceed
//	Available  count − 1, proceed       count + 1                            → Gone
//	Full       count − 1, proceed       nothing: a packet cannot be refused  → Gone
//	Gone       proceed                  nothing                              (a bug of ours)
//
// A semaphore with a maximum of 1 is never Available. The loss of a device leaves a
// semaphore as it is.
// Source: objects.md §4.4, §5.2; OQ-10, OQ-25, OQ-26, OQ-42.
type Semaphore struct {
	base
	stock
}

// CheckSemaphore judges the counts of a creation: SUCCESS, or INVALID_PARAMETER for
// an initial count above the maximum, 0 included.
// Source: objects.md §5.2; OQ-10.
func CheckSemaphore(maximum, initial uint32) abi.Status {
	if initial > maximum {
		return abi.StatusInvalidParameter
	}
	return abi.StatusSuccess
}

// Init makes s a semaphore with one reference. A maximum of 0 means Unlimited.
func (s *Semaphore) Init(flags abi.SyncObjectFlags, maximum, initial uint32) {
	if maximum == 0 {
		maximum = Unlimited
	}
	s.base.init(flags)
	s.stock = stock{left: initial, most: maximum}
}

// Kind implements Object.
func (s *Semaphore) Kind() abi.SyncObjectType { return abi.Semaphore }

// State returns the state.
func (s *Semaphore) State() State {
	switch {
	case s.gone:
		return Gone
	case s.left == 0:
		return Empty
	case s.left == s.most:
		return Full
	}
	return Available
}

// Count returns the count and its maximum.
func (s *Semaphore) Count() (count, maximum uint32) { return s.left, s.most }

// Waiters implements Object: packets that wait.
func (s *Semaphore) Waiters() (kernel, sleepers int) { return len(s.line), 0 }

// Signal adds one to the count, or hands it over. The values mean nothing.
func (s *Semaphore) Signal(uint64, bool, *Wakes) { s.give() }

// Unref implements Object.
func (s *Semaphore) Unref(*Wakes) {
	if s.unref() {
		s.end()
	}
}

func (s *Semaphore) supply() *stock { return &s.stock }
