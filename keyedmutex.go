package dxgsync

import (
	"context"
	"slices"
	"sync"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/wait"
)

// A KeyedMutex is a mutex that its users pass to each other by a key: a release names
// a key, and only who asks for that key acquires the mutex next. Two users who take
// turns release with each other's key; a third key would lead on to a third. Along
// with the mutex goes a fence value, of no meaning here.
//
// A KeyedMutex is one process's view of it. Every acquire is an owner of its own: any
// number of goroutines may use one KeyedMutex, each with its key, and a goroutine that
// acquires what it owns already waits, for itself if need be. Whichever goroutine
// releases, it releases for the owner who acquired through this KeyedMutex; one that
// was acquired through another view of the same mutex is released there.
//
// An owner who ends without a release (its process dies, its session or its KeyedMutex
// is closed) abandons the mutex for good: every acquire and every release, those under
// way too, answers [abi.StatusAbandoned], for nobody knows what state the things are
// in that the mutex guards. Make both anew. [abi.StatusAbandoned] and
// [abi.StatusTimeout], positive and so no failures in WDDM, are errors here: who gets
// them does not own the mutex.
//
// All methods are safe for concurrent use.
type KeyedMutex struct {
	s      *Session
	handle abi.Handle
	shared abi.Handle

	users sync.WaitGroup // calls under way; begun under mu while not closed

	mu      sync.Mutex
	closed  bool
	waiting map[*wait.Sleeper]struct{} // for Close to end
	data    []byte                     // as of the last acquire; its length never changes
	next    []byte                     // for the next release; nil: nothing new
}

// KeyedMutexOptions are for [Session.NewKeyedMutex] and [Session.OpenSharedKeyedMutex]. The
// zero value is a mutex that the key 0 acquires first.
type KeyedMutexOptions struct {
	// Key is what the first acquire must name. An opening does not look at it.
	Key uint64
	// Data is private data of the users that goes with the mutex, see
	// [KeyedMutex.Data]. They agree on its length. Without it this view gets none.
	Data []byte
	// Flags: KeyedMutexNtSecuritySharing makes a mutex for [Session.ShareObjects],
	// together with a resource and a synchronization object, and without a shared
	// handle. An opening does not look at them.
	Flags abi.CreateKeyedMutex2Flags
}

// NewKeyedMutex makes a keyed mutex that nobody owns. It belongs to no adapter.
//
// Errors: [abi.StatusInvalidParameter] for unknown flags; [abi.StatusNotSupported]
// where the kernel makes no shared handles; [abi.StatusNoMemory] at a limit;
// [abi.StatusDeviceRemoved] after the loss of the daemon; [ErrClosed].
//
// D3DKMTCreateKeyedMutex2.
func (s *Session) NewKeyedMutex(opts KeyedMutexOptions) (*KeyedMutex, error) {
	rec := abi.CreateKeyedMutex2{InitialValue: opts.Key, Flags: opts.Flags}
	if st := s.CreateKeyedMutex2(&rec, opts.Data); st != abi.StatusSuccess {
		return nil, s.failure(st)
	}
	return &KeyedMutex{s: s, handle: rec.HKeyedMutex, shared: rec.HSharedHandle, data: slices.Clone(opts.Data)}, nil
}

// OpenSharedKeyedMutex opens the keyed mutex of a shared handle, see
// [KeyedMutex.SharedHandle]. The data of the options becomes the mutex's if it has
// none; if it has some, only the length counts.
//
// Errors: [abi.StatusInvalidParameter] for a handle that is no keyed mutex's and for
// data of another length than the mutex's; [abi.StatusNoMemory] at a limit;
// [abi.StatusDeviceRemoved] after the loss of the daemon; [ErrClosed].
//
// D3DKMTOpenKeyedMutex2.
func (s *Session) OpenSharedKeyedMutex(shared abi.Handle, opts KeyedMutexOptions) (*KeyedMutex, error) {
	rec := abi.OpenKeyedMutex2{HSharedHandle: shared}
	if st := s.OpenKeyedMutex2(&rec, opts.Data); st != abi.StatusSuccess {
		return nil, s.failure(st)
	}
	return &KeyedMutex{s: s, handle: rec.HKeyedMutex, shared: shared, data: slices.Clone(opts.Data)}, nil
}

// Handle returns the D3DKMT handle, for use with the raw calls of [Session].
func (m *KeyedMutex) Handle() abi.Handle { return m.handle }

// SharedHandle returns the number by which every process of the kernel can open the
// mutex while any view of it is open; 0 for a mutex made with
// KeyedMutexNtSecuritySharing. There is no security but that it is hard to guess.
func (m *KeyedMutex) SharedHandle() abi.Handle { return m.shared }

// Acquire waits until nobody owns the mutex and the last release, or at first the
// options, named this key; then the caller owns it. fence is what the last release
// gave, at first 0. Those who wait for one key get the mutex in the order in which
// they came.
//
// The context bounds the waiting only: a mutex that can be had is acquired whether
// the context has ended or not, and one that comes just as it ends is the caller's,
// too.
//
// Errors: the context's cause when ctx ends first; [abi.StatusAbandoned] when the
// owner ended without a release, before or meanwhile; [abi.StatusInvalidParameter]
// when the mutex has got longer data than this view; [abi.StatusNoMemory] at a limit;
// [abi.StatusDeviceRemoved] at the loss of the daemon; [ErrClosed] when m or the
// session is closed, before or meanwhile.
//
// D3DKMTAcquireKeyedMutex2.
func (m *KeyedMutex) Acquire(ctx context.Context, key uint64) (fence uint64, err error) {
	return m.acquire(ctx, key, nil)
}

// TryAcquire is Acquire without waiting.
//
// Errors: as Acquire, and [abi.StatusTimeout] when the mutex cannot be had at once:
// it has an owner, or waits for another key.
//
// D3DKMTAcquireKeyedMutex2 with a timeout of 0.
func (m *KeyedMutex) TryAcquire(key uint64) (fence uint64, err error) {
	return m.acquire(context.Background(), key, new(int64))
}

func (m *KeyedMutex) acquire(ctx context.Context, key uint64, timeout *int64) (uint64, error) {
	size, ok := m.enter()
	if !ok {
		return 0, ErrClosed
	}
	defer m.users.Done()
	var data []byte
	if size > 0 {
		data = make([]byte, size)
	}
	rec := abi.AcquireKeyedMutex2{HKeyedMutex: m.handle, Key: key, PrivateRuntimeDataSize: uint32(size)}
	st := m.s.acquire(ctx, request(abi.OpAcquireKeyedMutex2, &rec, bytesOfTimeout(timeout), data), m.handle, m)
	m.mu.Lock()
	closed := m.closed
	if st == abi.StatusSuccess && !closed {
		m.data, m.next = data, nil
	}
	m.mu.Unlock()
	switch {
	case st == abi.StatusSuccess && closed:
		// It came too late to be of use: as it was, to the next.
		m.s.ReleaseKeyedMutex(&abi.ReleaseKeyedMutex{HKeyedMutex: m.handle, Key: key, FenceValue: rec.FenceValue})
		return 0, ErrClosed
	case st == abi.StatusCancelled && closed:
		return 0, ErrClosed
	case st == abi.StatusCancelled:
		return 0, context.Cause(ctx)
	}
	if st != abi.StatusSuccess {
		return 0, m.s.failure(st)
	}
	return rec.FenceValue, nil
}

// Release lets go of the mutex. It is for whoever asks for key next, who is given
// fence; [KeyedMutex.SetData] tells what else.
//
// Errors: [abi.StatusInvalidParameter] when it was not acquired through this
// KeyedMutex; [abi.StatusAbandoned]; [abi.StatusNoMemory] at a limit, and the mutex
// is still owned; [abi.StatusDeviceRemoved] after the loss of the daemon;
// [ErrClosed].
//
// D3DKMTReleaseKeyedMutex2.
func (m *KeyedMutex) Release(key, fence uint64) error {
	if _, ok := m.enter(); !ok {
		return ErrClosed
	}
	defer m.users.Done()
	m.mu.Lock()
	data := m.next
	m.mu.Unlock()
	rec := abi.ReleaseKeyedMutex2{HKeyedMutex: m.handle, Key: key, FenceValue: fence}
	return m.s.failure(m.s.ReleaseKeyedMutex2(&rec, data))
}

// Data returns a copy of the private data as the last acquire through this view found
// it, before that as the options gave it; nil for a view without.
func (m *KeyedMutex) Data() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.data)
}

// SetData makes the next release leave data for the next owner. The owner calls it:
// an acquire forgets what was set before.
//
// Errors: [abi.StatusInvalidParameter] for another length than that of the options;
// [ErrClosed].
func (m *KeyedMutex) SetData(data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return ErrClosed
	case len(data) != len(m.data):
		return abi.StatusInvalidParameter
	}
	m.next = slices.Clone(data)
	return nil
}

// Close ends this view of the mutex. Acquires that wait through it end with
// [ErrClosed]; a mutex that is owned through it is abandoned. With its last view, in
// any process, the mutex is gone. A second Close, or one after the session's, returns
// [ErrClosed].
//
// D3DKMTDestroyKeyedMutex.
func (m *KeyedMutex) Close() error {
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return ErrClosed
	}
	m.closed = true
	for w := range m.waiting {
		w.End(abi.StatusCancelled)
	}
	m.mu.Unlock()
	m.users.Wait() // those who wait give up, or give back what they got
	return m.s.failure(m.s.DestroyKeyedMutex(&abi.DestroyKeyedMutex{HKeyedMutex: m.handle}))
}

// enter begins a call, which m.users.Done ends, and returns the length of the data;
// false when m is closed.
func (m *KeyedMutex) enter() (size int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.users.Add(1)
	}
	return len(m.data), !m.closed
}

// join lets Close end the wait of w, until leave.
func (m *KeyedMutex) join(w *wait.Sleeper) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		w.End(abi.StatusCancelled)
		return
	}
	if m.waiting == nil {
		m.waiting = map[*wait.Sleeper]struct{}{}
	}
	m.waiting[w] = struct{}{}
}

func (m *KeyedMutex) leave(w *wait.Sleeper) {
	m.mu.Lock()
	delete(m.waiting, w)
	m.mu.Unlock()
}
