package object

import (
	"iter"
	"maps"

	"github.com/dxgsync/dxgsync/abi"
)

// MaxGlobals is how many global handles can be live in the whole system, so few
// among 2^24 indices that a free one is found at once. One user may have three
// quarters of them.
const MaxGlobals = 1 << 16

// globalDecoration stands in the low six bits of every global handle:
// D3DKMT_GDI_STYLE_HANDLE_DECORATION.
const globalDecoration = 2

// globalDraws is how often a random index is drawn before giving up. At worst one
// index in 256 is taken, so only a broken source of randomness comes that far.
const globalDraws = 64

// A GlobalTable is the system-wide table of global handles, the guessable legacy: a
// number that any process may open. Their indices are random, no two live ones the
// same (sharing.md §1, OQ-46).
type GlobalTable struct {
	random  func() uint32
	entries map[uint32]globalEntry // by index
	quota   quota
}

type globalEntry struct {
	handle abi.Handle
	object any
	uid    uint32
}

// NewGlobalTable makes an empty table that draws its handles from random, which
// should be hard to predict; all 32 bits of it are used. The table holds most
// handles, at most MaxGlobals; 0 or less turns global handles off: Add always
// fails.
func NewGlobalTable(random func() uint32, most int) *GlobalTable {
	return &GlobalTable{random: random, entries: map[uint32]globalEntry{}, quota: newQuota(min(max(most, 0), MaxGlobals))}
}

// Add gives obj, made by a process of user uid, a global handle, or 0 when there is
// no room for one more.
func (t *GlobalTable) Add(obj any, uid uint32) abi.Handle {
	if !t.quota.room(uid, 1) {
		return 0
	}
	for range globalDraws {
		r := t.random()
		index := r & MaxHandles
		if _, taken := t.entries[index]; taken || index == 0 {
			continue
		}
		h := abi.Handle((r>>indexBits%3+1)<<uniqueShift | index<<indexShift | globalDecoration)
		t.entries[index] = globalEntry{h, obj, uid}
		t.quota.add(uid, 1)
		return h
	}
	return 0
}

func (t *GlobalTable) find(h abi.Handle) (index uint32, e globalEntry, ok bool) {
	index = uint32(h) >> indexShift & MaxHandles
	e = t.entries[index]
	return index, e, e.handle == h && h != 0
}

// Get returns what h stands for, nil when it stands for nothing.
func (t *GlobalTable) Get(h abi.Handle) any {
	_, e, ok := t.find(h)
	if !ok {
		return nil
	}
	return e.object
}

// Remove frees h and returns what it stood for, nil when it stood for nothing. A
// global handle goes with the last local object, never by itself (sharing.md §2).
func (t *GlobalTable) Remove(h abi.Handle) any {
	index, e, ok := t.find(h)
	if !ok {
		return nil
	}
	delete(t.entries, index)
	t.quota.add(e.uid, -1)
	return e.object
}

// Users returns how many of the live handles each user has made.
func (t *GlobalTable) Users() iter.Seq2[uint32, int] { return maps.All(t.quota.users) }

// Len returns how many handles are live.
func (t *GlobalTable) Len() int { return len(t.entries) }
