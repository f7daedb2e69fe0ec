package kernel

import (
	"sync"
	"sync/atomic"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/page"
	"github.com/dxgsync/dxgsync/internal/syncobj"
	"github.com/dxgsync/dxgsync/internal/vidmm"
)

// A native is what a fence has that GPUs wait for and signal by themselves. Its value is
// where that of every fence is; a driver has to be told of it.
// Source: native-fence.md; docs/native-fences.md.
type native struct {
	fence *fence
	kind  abi.NativeFenceType
	// making is held by whoever makes or opens it, before the kernel's lock: the driver's
	// answers come without that.
	making sync.Mutex
	data   [privateData]byte // the driver's answer to the create
	on     []*nativeOn       // guarded by Kernel.mu
	direct bool              // likewise: its adapters signal each other directly
	lowest uint64            // likewise: monitored value that the CPUs' waits ask for
	peers  atomic.Pointer[[]peer]
}

// privateData is D3DDDI_NATIVE_FENCE_PDD_SIZE.
const privateData = 64

// A nativeOn is a native fence on one adapter: what the driver of that knows. It is the
// current value as GPUs see it (vidmm.Word).
type nativeOn struct {
	native  *native
	adapter *Adapter
	uid     uint32 // whom it counts for
	dxg     ddi.DxgNativeFence
	kmd     ddi.KmdNativeFence // 0: the driver has not answered yet
	opens   int                // local objects, and what is left of them
	views   map[viewKey]*nativeView

	monitored atomic.Uint64 // as the GPU sees it, written by the driver
	wanted    uint64        // what it is to be
	asked     asked         // of what the driver is to be told
	written   atomic.Bool   // by the GPU, and not scanned yet

	stored           fenceStorage
	current, watched vidmm.Fence // in the system process
}

// crosses reports whether the fence may be on several adapters.
func (n *native) crosses() bool { return n.fence.Flags&abi.SyncObjectCrossAdapter != 0 }

// wants is the monitored value on all its adapters. If waiters of others hear of a signal
// through the CPU, every signal interrupts: 0 (native-fence.md §5.1-5).
func (n *native) wants() uint64 {
	if !n.told() {
		return 0
	}
	return n.lowest
}

// told reports whether GPUs interrupt only if somebody waits.
func (n *native) told() bool { return n.direct || !n.crosses() }

// intra reports whether no CPU may wait for the fence or signal it.
func (f *fence) intra() bool { return f.native != nil && f.native.kind == abi.NativeFenceIntraGPU }

// native reports whether there are native fences on the adapter.
func (a *Adapter) native() bool {
	return a.Profile.NativeFences() && a.driver.Caps().Has(ddi.NativeGpuFence)
}

// makeNative makes f, which is on no adapter yet, a native fence. created: it was made as
// one, and not as a monitored fence that another adapter knows as one.
func (f *fence) makeNative(kind abi.NativeFenceType, created bool) {
	f.native = &native{fence: f, kind: kind, lowest: page.MvalNone}
	f.native.direct = f.native.crosses()
	f.Watch(f.native, created)
}

// find is the fence on an adapter, nil if it is not there.
func (n *native) find(a *Adapter) *nativeOn {
	for _, o := range n.on {
		if o.adapter == a {
			return o
		}
	}
	return nil
}

// place puts the fence on an adapter. NO_MEMORY: the user has enough of them. n.making
// and the lock are held.
func (n *native) place(a *Adapter, uid uint32) (*nativeOn, abi.Status) {
	if o := n.find(a); o != nil {
		return o, abi.StatusSuccess
	}
	k := a.kernel
	if !a.nativesMade.take(uid, k.limits.GPUObjects) {
		return nil, abi.StatusNoMemory
	}
	k.numbers++
	o := &nativeOn{native: n, adapter: a, uid: uid, dxg: ddi.DxgNativeFence(k.numbers), views: map[viewKey]*nativeView{}}
	n.admit(a)
	o.wanted = n.wants()
	if n.told() {
		o.monitored.Store(page.MvalNone) // until the driver is told of another
	}
	if caps := a.driver.NativeFenceCaps(); caps.MapToGpuSystemProcess {
		current, monitored := n.places(caps)
		a.system.MapWord(&o.current, o, 0, true, current)
		a.system.MapWord(&o.watched, (*monitoredWord)(o), 0, true, monitored)
	}
	n.on = append(n.on, o)
	n.meet()
	a.natives[o.dxg] = o
	return o, abi.StatusSuccess
}

// Kinds of places.
const (
	currentPlace = iota
	monitoredPlace
)

// places says what places the two values have: those of fences that can be shared have
// pages of their own, others are packed. Source: native-fence.md §4; OQ-32.
func (n *native) places(caps ddi.NativeFenceCaps) (current, monitored vidmm.WordPlace) {
	current.Kind, monitored.Kind = currentPlace, monitoredPlace
	if n.fence.Shared() {
		return current, monitored
	}
	stride := uint64(caps.MonitoredValueStride)
	if stride == 0 {
		stride = page.CellSize
	}
	monitored.Stride = stride
	current.Stride = (stride + page.CellSize - 1) &^ (page.CellSize - 1)
	return current, monitored
}

// leave ends one use of the fence on the adapter; with the last one the driver destroys
// its side. The lock is held.
func (o *nativeOn) leave() {
	if o.opens--; o.opens > 0 {
		return
	}
	n, a := o.native, o.adapter
	for i, other := range n.on {
		if other == o {
			n.on = append(n.on[:i:i], n.on[i+1:]...)
			break
		}
	}
	n.meet()
	if o.kmd == 0 {
		o.forget()
		return
	}
	kmd := o.kmd
	a.sched.Call(func(d ddi.Driver) {
		d.DestroyNativeFence(kmd)
		a.kernel.lock()
		o.forget()
		a.kernel.unlockInside()
	})
}

// forget ends what the kernel keeps for the driver's side.
func (o *nativeOn) forget() {
	a := o.adapter
	delete(a.natives, o.dxg)
	o.demote()
	a.nativesMade.give(o.uid)
	a.system.UnmapWord(&o.current)
	a.system.UnmapWord(&o.watched)
	a.forgetWritten()
}

// gone takes the fence's memory away from all GPUs: nothing refers to it any more but
// packets that may use its addresses yet. What waits for it there counts as satisfied, as
// other waits do (OQ-79).
func (n *native) gone() {
	last := lastValue(n.fence.Backing().View().Cell.Value())
	for _, o := range n.on {
		o.ask(toldSignaled)
		o.adapter.system.ReplaceWord(&o.current, last)
		for _, v := range o.views {
			v.space.ReplaceWord(&v.current, last)
		}
	}
}

// Load implements vidmm.Word.
func (o *nativeOn) Load() uint64 { return o.cell().Value() }

func (o *nativeOn) cell() *page.Cell { return o.native.fence.Backing().View().Cell }

// Raise implements vidmm.Word. Without a lock: whether somebody is to hear of it is
// between the driver and the monitored value.
func (o *nativeOn) Raise(v uint64) bool {
	if !o.native.fence.Backing().View().RaiseOnly(v) {
		return false
	}
	o.wrote()
	return true
}

// Replace implements vidmm.Word. The lock is held.
func (o *nativeOn) Replace(v uint64) {
	o.native.fence.Store(v, &o.adapter.kernel.fx.wakes)
	o.wrote()
}

// A monitoredWord is the monitored value as GPUs see it. Where an MMU cannot make it
// read-only, what they store there comes to nothing if the fence can be shared, as others
// rely on it. Source: native-fence.md §2; OQ-36.
type monitoredWord nativeOn

// Load implements vidmm.Word.
func (w *monitoredWord) Load() uint64 { return w.monitored.Load() }

// Raise implements vidmm.Word.
func (w *monitoredWord) Raise(v uint64) bool {
	if !w.native.fence.Shared() {
		w.monitored.Store(v)
	}
	return true
}

// Replace implements vidmm.Word.
func (*monitoredWord) Replace(uint64) {}

// A heapCell is the memory of a value that no CPU sees: video memory.
type heapCell struct{ cell page.Cell }

func newHeapCell() *heapCell {
	m := new(heapCell)
	m.cell.Init(0) // a command of the program gives the first value
	return m
}

func (m *heapCell) View() page.View                        { return page.View{Cell: &m.cell} }
func (m *heapCell) WakeAll()                               {}
func (m *heapCell) Free()                                  {}
func (m *heapCell) Sweep(*Process, func(bell uint32) bool) {}

// Grant answers that there is nothing to map.
func (m *heapCell) Grant(*Process) (abi.Grant, []abi.OutFile, abi.Status) {
	return abi.Grant{}, nil, abi.StatusSuccess
}

var (
	_ Memory          = (*heapCell)(nil)
	_ syncobj.Monitor = (*native)(nil)
)
