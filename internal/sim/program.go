package sim

import (
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
)

// How much a world may have of something at once.
const (
	mostProcs    = 3
	mostDevices  = 5
	mostContexts = 7
	mostLocals   = 14
	mostShares   = 4
)

// An action is a call, or something that happens, with how often it comes.
type action struct {
	weight int
	do     func(w *World)
}

var actions = []action{
	{10, (*World).submit},
	{14, (*World).signalFromGPU},
	{14, (*World).waitFromGPU},
	{22, (*World).runEngine},
	{10, (*World).signalFromCPU},
	{6, (*World).waitFromCPU},
	{8, (*World).createObject},
	{6, (*World).createNative},
	{3, (*World).crossNative},
	{2, (*World).tellHeld},
	{4, (*World).overtake},
	{6, (*World).createContext},
	{5, (*World).createHwQueue},
	{2, (*World).destroyHwQueue},
	{8, (*World).submitToHwQueue},
	{14, (*World).runHardware},
	{6, (*World).leaveHardware},
	{2, (*World).createDevice},
	{4, (*World).shareAndOpen},
	{4, (*World).openShared},
	{3, (*World).closeShared},
	{3, (*World).destroyObject},
	{2, (*World).destroyContext},
	{1, (*World).destroyDevice},
	{3, (*World).setPriority},
	{4, (*World).readEngine},
	{6, (*World).answerEngine},
	{6, (*World).passTime},
	{1, (*World).passLong},
	{1, (*World).failReset},
	{1, (*World).markError},
	{1, (*World).exit},
	{1, (*World).newProcess},
}

var allWeights = func() (n int) {
	for _, a := range actions {
		n += a.weight
	}
	return n
}()

// start makes what every program begins with: two processes with a device on the first
// adapter and a context each.
func (w *World) start() {
	for range 2 {
		w.newProcess()
		p := w.model.procs[len(w.model.procs)-1]
		w.createDeviceOn(p, w.model.adapters[0])
		if len(p.devices) > 0 {
			w.createContextOn(p, p.devices[0].handle)
		}
	}
}

// step does one random action and compares.
func (w *World) step() {
	n := w.choose.Int(allWeights)
	for _, a := range actions {
		if n -= a.weight; n < 0 {
			a.do(w)
			break
		}
	}
	w.compare()
}

// end ends all processes, closes all handles and sees whether anything is left.
func (w *World) end() {
	for _, p := range w.model.procs {
		if !p.dead && w.err == "" {
			w.exitOf(p)
			w.compare()
		}
	}
	for fd := range w.host.next + 1 {
		if w.model.shares[fd] != nil {
			w.closeFD(fd)
		}
	}
	// What is at the GPU ends, so that the drivers' side can go.
	for i, a := range w.model.adapters {
		for _, e := range a.engines {
			for len(e.flying) > 0 && !a.stopped && w.err == "" {
				w.runOn(i, e)
			}
			if e.state == engineAsked && !a.stopped && w.err == "" {
				w.answerOn(i, e)
			}
			for len(e.leaving) > 0 && !a.stopped && w.err == "" {
				w.leaveOn(e, 0, false)
			}
		}
	}
	if w.err != "" {
		return
	}
	s := w.kernel.Snapshot()
	if len(s.Processes)+len(s.Objects)+len(s.Waits)+s.NTHandles != 0 {
		w.differ("at the end the kernel holds %+v", s)
	}
	if w.host.live != 0 {
		w.differ("at the end %d memories of fences are not freed", w.host.live)
	}
	for fd := range w.events {
		if n := w.host.files[fd].(*event).refs; n != 0 {
			w.differ("at the end event %d has %d references", fd, n)
		}
	}
	for i, p := range w.puppets {
		if len(p.devices)+len(p.contexts)+len(p.queues)+len(p.natives)+len(p.locals) != 0 {
			w.differ("at the end the driver of adapter %d has %d devices, %d contexts, %d queues, %d native fences with %d local objects", i, len(p.devices), len(p.contexts), len(p.queues), len(p.natives), len(p.locals))
		}
	}
}

func pick[T any](w *World, list []T) T { return list[w.choose.Int(len(list))] }

// one says yes one time in n.
func (w *World) one(n int) bool { return w.choose.Int(n) == n-1 }

// living lists the processes that are there.
func (w *World) living() []*mProc {
	return slices.DeleteFunc(slices.Clone(w.model.procs), func(p *mProc) bool { return p.dead })
}

func (w *World) process(p *mProc) *kernel.Process { return w.procs[p.index] }

// wrong is a handle of a process that is probably not what is wanted: one that is gone or
// of something else.
func (w *World) wrong(p *mProc) abi.Handle {
	var list []abi.Handle
	for _, n := range w.handles {
		if n.proc == p.index {
			list = append(list, n.handle)
		}
	}
	if len(list) == 0 {
		return 0
	}
	return pick(w, list)
}

func (w *World) devices() (list []*mDevice) {
	for _, p := range w.living() {
		list = append(list, p.devices...)
	}
	return list
}

func (w *World) contexts() (list []*mContext) {
	for _, d := range w.devices() {
		list = append(list, d.contexts...)
	}
	return list
}

// streams lists contexts with a queue of software, or hardware queues, of one device or
// of all.
func (w *World) streams(d *mDevice, hardware bool) (list []*mQueue) {
	for _, c := range w.contexts() {
		for _, q := range c.queues {
			if (d == nil || c.device == d) && q.hardware() == hardware && !q.destroyed {
				list = append(list, q)
			}
		}
	}
	return list
}

// locals lists those that a device may name; nil: all there are.
func (w *World) locals(d *mDevice) (list []*mLocal) {
	for _, p := range w.living() {
		if d != nil && d.proc != p {
			continue
		}
		for _, o := range p.devices {
			if d == nil || d == o {
				list = append(list, o.locals...)
			}
		}
		for _, l := range p.plains {
			if d == nil || l.object.adapter == d.adapter || l.object.flags&abi.SyncObjectCrossAdapter != 0 {
				list = append(list, l)
			}
		}
	}
	return list
}

// value is one that fences get: a multiple of stride, or rarely the highest.
func (w *World) value() uint64 {
	if w.one(40) {
		return lossMax
	}
	return stride * uint64(w.choose.Int(6))
}

// stride is between values. Targets of packets lie within a stride below a value.
const stride = 16

// target is a value to wait for that no other packet waits for on the object: who waits
// for the same has no order.
func (w *World) target(o *mObject, others []uint64) uint64 {
	v := w.value()
	if v == 0 {
		return 0
	}
	used := func(t uint64) bool {
		if slices.Contains(others, t) {
			return true
		}
		for _, q := range w.model.queues {
			for _, p := range q.pending {
				for _, pt := range p.points {
					if pt.object == o && pt.target == t {
						return true
					}
				}
			}
		}
		return false
	}
	for u := range uint64(stride) {
		if !used(v - u) {
			return v - u
		}
	}
	return 0
}

// event is a descriptor of an event, new or used before; with a small chance none.
func (w *World) event() (fd int, e *mEvent) {
	if w.one(30) {
		return abi.FileBad, nil
	}
	if n := len(w.eventList); n < 4 || w.one(4) {
		fd = w.host.event()
		w.events[fd] = &mEvent{fd: fd}
		w.eventList = append(w.eventList, fd)
		return fd, w.events[fd]
	}
	fd = pick(w, w.eventList)
	return fd, w.events[fd]
}
