package kernel

import (
	"cmp"
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// Values of native fences that nobody else can open may be in the GPU's own memory. They
// count there with what is resident, which comes first: under pressure they go to system
// memory, the oldest fences first, and stay there. Addresses and values stay what they are.
// Source: native-fence.md §2, §4.

// A fenceStorage is where the values of a fence are on one adapter.
type fenceStorage struct {
	current, monitored ddi.Storage
	process            *Process // whose video memory it is
	video              uint64   // bytes of it
}

// store decides where the values are, of what the driver would like: in video memory both of
// INTRA_GPU, and with the optimized type the monitored value, if there is room. Without the
// lock.
func (o *nativeOn) store(p *Process, current, monitored ddi.Storage) {
	n, a := o.native, o.adapter
	switch {
	case n.fence.Shared(), n.kind != abi.NativeFenceIntraGPU && !a.Profile.NativeFence.OptimizedDefault:
		return // system memory
	case n.kind != abi.NativeFenceIntraGPU:
		current = ddi.SystemStorage
	}
	c, m := n.places(a.driver.NativeFenceCaps())
	s := fenceStorage{current: current, monitored: monitored, process: p}
	if current == ddi.VideoStorage {
		s.video += c.Stride
	}
	if monitored == ddi.VideoStorage {
		s.video += m.Stride
	}
	a.kernel.lock()
	defer a.kernel.unlock()
	if s.video == 0 || a.resident+a.nativeVideo+s.video > a.Profile.Memory.DedicatedVideo<<20 {
		return
	}
	o.stored = s
	a.nativeVideo += s.video
	p.nativeVideo[a] += s.video
}

// demote puts the values into system memory. The lock is held.
func (o *nativeOn) demote() {
	s, a := &o.stored, o.adapter
	if s.video == 0 {
		return
	}
	a.nativeVideo -= s.video
	if s.process.nativeVideo[a] -= s.video; s.process.nativeVideo[a] == 0 {
		delete(s.process.nativeVideo, a)
	}
	*s = fenceStorage{}
}

// relieve makes room in video memory for what has become resident. The lock is held.
func (a *Adapter) relieve() {
	size := a.Profile.Memory.DedicatedVideo << 20
	if a.nativeVideo == 0 || a.resident+a.nativeVideo <= size {
		return
	}
	var list []*nativeOn
	for _, o := range a.natives {
		if o.stored.video > 0 {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(x, y *nativeOn) int { return cmp.Compare(x.dxg, y.dxg) })
	for _, o := range list {
		if a.resident+a.nativeVideo <= size {
			break
		}
		o.demote()
	}
}
