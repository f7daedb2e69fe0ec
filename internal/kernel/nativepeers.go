package kernel

import "github.com/dxgsync/dxgsync/ddi"

// Fences that are on several adapters, all of whose drivers can be kicked by another GPU
// (ddi.DirectSignal), need no CPU for one GPU to wake the packets of another. Then the
// monitored value is what it is for other fences, and a GPU interrupts only if a CPU waits.
// An adapter whose driver cannot is told by the kernel: for that every signal has to
// interrupt, from when it opens the fence until the end. Adapters that know the fence as a
// monitored one do not matter: what waits there the kernel holds, and counts as a CPU's.
// Beyond Windows.

// A peer is one adapter of the fence.
type peer struct {
	dxg    ddi.DxgNativeFence
	driver ddi.PeerDriver
}

// admit lets the fence come to an adapter. The lock is held.
func (n *native) admit(a *Adapter) {
	if n.direct && !a.direct() {
		n.direct = false
		n.watch()
	}
}

// direct reports whether other GPUs can signal this one directly.
func (a *Adapter) direct() bool {
	_, kicked := a.driver.(ddi.PeerDriver)
	return kicked && a.driver.Caps().Has(ddi.DirectSignal)
}

// meet makes the list of the fence's peers anew. The lock is held.
func (n *native) meet() {
	if !n.crosses() {
		return
	}
	list := make([]peer, 0, len(n.on))
	for _, o := range n.on {
		if o.adapter.direct() {
			list = append(list, peer{o.dxg, o.adapter.driver.(ddi.PeerDriver)})
		}
	}
	n.peers.Store(&list)
}

// ring is what the driver of one adapter tells the others with.
func (o *nativeOn) ring() ddi.Peers {
	if !o.native.crosses() || !o.adapter.direct() {
		return nil
	}
	return o.native
}

// Kick implements ddi.Peers. It takes no lock of the kernel: a GPU calls it in the middle of
// what it executes, maybe under locks of its own. A driver that knows the fence no more, or
// not yet, has nobody waiting for it.
func (n *native) Kick(from ddi.DxgNativeFence) {
	for _, p := range *n.peers.Load() {
		if p.dxg != from {
			p.driver.KickNativeFence(p.dxg)
		}
	}
}
