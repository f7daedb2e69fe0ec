package kernel

import (
	"slices"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/syncobj"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// A gpuSignal is a signal packet, one for all queues of a broadcast: it takes effect when
// the last of them reaches it. One that is dropped by any of them has no effect on
// objects; an event is set all the same (calls.md §3 DestroyContext, OQ-48).
type gpuSignal struct {
	kernel  *Kernel
	from    *Adapter // whose queues they are
	objects []queuedObject
	event   Event // nil: none
	left    int   // queues that have not processed it
	rewind  bool
	dropped bool
	told    bool            // CPU notifications know that it does not come
	one     [1]queuedObject // for objects
}

// Reach implements vidsch.Signal.
func (s *gpuSignal) Reach(*vidsch.Queue) {
	if s.left--; s.left == 0 {
		s.finish()
	}
}

// Drop implements vidsch.Signal.
func (s *gpuSignal) Drop(_ *vidsch.Queue, why vidsch.Why) {
	s.dropped = true
	wakes := &s.kernel.fx.wakes
	for _, o := range s.objects {
		switch n := o.object.(type) {
		case *fence:
			// Nobody may wait for a signal that cannot come (OQ-42).
			if why == vidsch.Died && !o.spared {
				n.Lose(wakes)
			}
		case *plain:
			switch n := n.Object.(type) {
			case *syncobj.Fence:
				if why == vidsch.Died {
					n.Lose(wakes)
				}
			case *syncobj.CPUNotification:
				if why != vidsch.Destroyed && !s.told {
					n.Signal(0, false, wakes)
				}
			}
		}
	}
	s.told = s.told || why != vidsch.Destroyed
	s.Reach(nil)
}

// finish does it, if nothing was dropped.
func (s *gpuSignal) finish() {
	wakes := &s.kernel.fx.wakes
	for _, o := range s.objects {
		if !s.dropped {
			if f, ok := o.object.(*fence); ok {
				f.signalFrom(s.from, o.value, s.rewind, wakes)
			} else {
				o.object.Signal(o.value, s.rewind, wakes)
			}
		}
		o.object.drop()
	}
	if s.event != nil {
		s.kernel.fx.events = append(s.kernel.fx.events, eventEnd{s.event, true})
	}
}

func topOfPipeline(o queuedObject) bool {
	return o.object.CreateFlags()&abi.SyncObjectTopOfPipeline != 0
}

// packets is how many packets submitSignal makes of it in each queue.
func (s *gpuSignal) packets(flags abi.SignalFlags) int {
	top := slices.ContainsFunc(s.objects, topOfPipeline)
	rest := slices.ContainsFunc(s.objects, func(o queuedObject) bool { return !topOfPipeline(o) })
	if top && rest && flags&abi.SignalAtSubmission == 0 {
		return 2
	}
	return 1
}

// submitSignal queues a signal of objects into queues: objects with TopOfPipeline for
// themselves, as they do not wait for all that the others wait for.
func (k *Kernel) submitSignal(queues []*vidsch.Queue, s *gpuSignal, flags abi.SignalFlags) {
	list := s.objects
	var early []queuedObject
	if flags&abi.SignalAtSubmission == 0 && slices.ContainsFunc(list, topOfPipeline) {
		for _, o := range list {
			if topOfPipeline(o) {
				early = append(early, o)
			}
		}
		list = slices.DeleteFunc(list, topOfPipeline)
	}
	s.rewind = flags&abi.SignalAllowFenceRewind != 0
	if len(early) > 0 {
		k.enqueue(queues, &gpuSignal{from: s.from, objects: early, rewind: s.rewind}, vidsch.AtRead)
	}
	if s.objects = list; len(list) > 0 {
		k.enqueue(queues, s, when(flags))
	}
}

// when says when a signal with flags takes effect.
func when(flags abi.SignalFlags) vidsch.When {
	if flags&abi.SignalAtSubmission != 0 {
		return vidsch.AtSubmission
	}
	return vidsch.AtCompletion
}

func (k *Kernel) enqueue(queues []*vidsch.Queue, s *gpuSignal, when vidsch.When) {
	s.kernel, s.left = k, len(queues)
	for _, o := range s.objects {
		o.object.Ref()
	}
	for _, q := range queues {
		q.Signal(s, when, len(s.objects))
	}
	if len(queues) == 0 {
		s.finish()
	}
}

// A signalCall is what the calls that signal from contexts have in common.
type signalCall struct {
	nr       uint16 // of the operation
	contexts []abi.Handle
	objects  []abi.Handle
	flags    abi.SignalFlags
	legacy   bool // fences in memory are not for this call
	noValue  bool // nor is a fence of Windows 7: there is no field for its value
	values   []byte
	single   uint64 // of a fence of Windows 7
}

// signal judges and queues it. Source: calls.md §5, §1.1; objects.md §8.
func (p *Process) signal(c signalCall) abi.Status {
	k := p.k
	s := new(gpuSignal)
	var few [4]*vidsch.Queue
	k.lock()
	defer k.unlock()
	d, queues, hardware, st := p.contextQueues(few[:0], c.contexts)
	if !st.OK() {
		return st
	}
	if st := abi.CheckSignalFlags(c.nr, c.flags, d.adapter.Profile.WDDM); !st.OK() {
		return st
	}
	if s.objects, st = d.findQueued(s.one[:0], c.objects, true, c.legacy, hardware); !st.OK() {
		return st
	}
	if c.noValue && legacyFence(s.objects) {
		return abi.StatusInvalidParameter
	}
	if st := setValues(s.objects, c.values, c.single); !st.OK() {
		return st
	}
	return k.judgeSignal(d, queues, s, c.flags)
}

// judgeSignal does the last checks of a signal, and queues it.
func (k *Kernel) judgeSignal(d *device, queues []*vidsch.Queue, s *gpuSignal, flags abi.SignalFlags) abi.Status {
	if st := d.usable(); !st.OK() {
		return st
	}
	if st := permitted(s.objects); !st.OK() {
		return st
	}
	if st := near(s.objects, true); !st.OK() {
		return st
	}
	if !k.room(queues, s.packets(flags), vidsch.Bytes(len(s.objects), 0)) {
		return abi.StatusNoMemory
	}
	s.from = d.adapter
	k.submitSignal(queues, s, flags)
	return abi.StatusSuccess
}

// enqueueEvent queues a CPU event: it is set when all contexts have processed it.
// Source: calls.md §5; OQ-43, OQ-48.
func (p *Process) enqueueEvent(r *abi.Request, contexts []abi.Handle, flags abi.SignalFlags) abi.Status {
	k := p.k
	event, eventStatus := p.eventOf(r)
	k.lock()
	defer k.unlock()
	st := func() abi.Status {
		if !p.areContexts(contexts) {
			return abi.StatusInvalidParameter
		}
		first, _ := object.Get[*context](&p.table, contexts[0])
		if st := abi.CheckSignalFlags(r.Op.Nr, flags, first.device.adapter.Profile.WDDM); !st.OK() {
			return st
		}
		if !eventStatus.OK() {
			return eventStatus
		}
		d, queues, _, st := p.contextQueues(nil, contexts)
		if !st.OK() {
			return st
		}
		if st := d.usable(); !st.OK() {
			return st
		}
		if !k.room(queues, 1, vidsch.Bytes(0, 0)) {
			return abi.StatusNoMemory
		}
		s := &gpuSignal{kernel: k, event: event, left: len(queues)}
		for _, q := range queues {
			q.Signal(s, when(flags), 0)
		}
		if len(queues) == 0 {
			s.finish()
		}
		return abi.StatusSuccess
	}()
	if !st.OK() && event != nil {
		k.fx.events = append(k.fx.events, eventEnd{event, false})
	}
	return st
}
