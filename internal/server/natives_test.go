package server

import (
	"encoding/binary"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/softgpu"
)

// A nativeSet is what the calls of native fences and doorbells make on a gpuSet.
type nativeSet struct {
	fence, opened, view, private, bell, own, progress abi.Handle
}

func (n *nativeSet) handles() []abi.Handle {
	return []abi.Handle{n.fence, n.opened, n.view, n.private, n.bell, n.own, n.progress}
}

// A nativeStep is one request, and what is kept of its answer.
type nativeStep struct {
	make func() *abi.Request
	keep func(*abi.Request) // nil: nothing
	last bool               // it takes the descriptor that was answered last
	late bool               // it may come too late: INVALID_PARAMETER
}

// nativeSteps are all calls of native fences and doorbells, each once at least.
func nativeSteps(g *gpuSet, n *nativeSet, line uint32) []nativeStep {
	share := nativeStep{make: func() *abi.Request {
		r := request(abi.OpShareObjects)
		rec := abi.View[abi.ShareObjects](r.Record)
		rec.ObjectCount, rec.DesiredAccess = 1, uint32(object.GenericAll)
		r.Arrays[0], r.Arrays[2] = handleArray(n.fence), make([]byte, 8)
		return r
	}}
	create := func(flags abi.SyncObjectFlags, into *abi.Handle) nativeStep {
		return nativeStep{make: func() *abi.Request {
			r := request(abi.OpCreateNativeFence)
			rec := abi.View[abi.CreateNativeFence](r.Record)
			rec.HDevice, rec.Info.Flags = g.device, flags
			return r
		}, keep: func(r *abi.Request) { *into = abi.View[abi.CreateNativeFence](r.Record).HSyncObject }}
	}
	bell := func(flags abi.CreateDoorbellFlags) nativeStep {
		return nativeStep{make: func() *abi.Request {
			r := request(abi.OpCreateDoorbell)
			*abi.View[abi.CreateDoorbell](r.Record) = abi.CreateDoorbell{HHwQueue: g.user, HRingBuffer: g.allocation, HRingBufferControl: g.allocation, Flags: flags}
			return r
		}, keep: func(r *abi.Request) { n.bell = abi.View[abi.CreateDoorbell](r.Record).HDoorbell }}
	}
	ofBell := func(op *abi.Op, h *abi.Handle) nativeStep {
		return nativeStep{make: func() *abi.Request {
			r := request(op)
			binary.LittleEndian.PutUint32(r.Record, uint32(*h)) // first of all their records
			return r
		}}
	}
	of := func(make func() *abi.Request) nativeStep { return nativeStep{make: make} }
	return []nativeStep{
		of(func() *abi.Request {
			r := request(abi.OpIsFeatureEnabled)
			*abi.View[abi.IsFeatureEnabled](r.Record) = abi.IsFeatureEnabled{HAdapter: g.adapter, FeatureId: abi.FeatureNativeFence}
			return r
		}),
		create(ntShared, &n.fence), share,
		{make: func() *abi.Request {
			r := request(abi.OpOpenNativeFenceFromNtHandle)
			abi.View[abi.OpenNativeFenceFromNtHandle](r.Record).HDevice = g.device
			return r
		}, keep: func(r *abi.Request) { n.opened = abi.View[abi.OpenNativeFenceFromNtHandle](r.Record).HSyncObject }, last: true},
		share,
		{make: func() *abi.Request {
			r := request(abi.OpOpenSyncObjectFromNtHandle2)
			abi.View[abi.OpenSyncObjectFromNtHandle2](r.Record).HDevice = g.device
			return r
		}, keep: func(r *abi.Request) { n.view = abi.View[abi.OpenSyncObjectFromNtHandle2](r.Record).HSyncObject }, last: true},
		create(0, &n.private),
		of(func() *abi.Request {
			r := request(opOf("D3DKMTGetNativeFenceLogDetail"))
			abi.View[abi.GetNativeFenceLogDetail](r.Record).HHwQueue = g.user
			return r
		}),
		bell(0), ofBell(abi.OpConnectDoorbell, &n.bell),
		{make: ofBell(abi.OpNotifyWorkSubmission, &n.bell).make, late: true},
		bell(abi.DoorbellResizeRingBufferOperation),
		{make: func() *abi.Request {
			r := request(abi.OpCreateHwQueueForUserModeSubmission)
			rec := abi.View[abi.CreateHwQueueForUserModeSubmission](r.Record)
			rec.HHwContext, rec.HRingBuffer = g.home, g.allocation
			return r
		}, keep: func(r *abi.Request) {
			rec := abi.View[abi.CreateHwQueueForUserModeSubmission](r.Record)
			n.own, n.progress = rec.HHwQueue, rec.HProgressFence
		}},
		ofBell(abi.OpConnectDoorbell, &n.own),
		of(func() *abi.Request {
			r := request(abi.OpWaitForSynchronizationObjectFromCpu)
			rec := abi.View[abi.WaitForSynchronizationObjectFromCpu](r.Record)
			rec.HDevice, rec.ObjectCount = g.device, 1
			r.Arrays[0], r.Arrays[1] = point(n.opened, 2)
			r.Bell, r.Ticket = line, line
			return r
		}),
		of(func() *abi.Request {
			r := request(opOf("D3DKMTSubmitWaitForSyncObjectsToHwQueue"))
			rec := abi.View[abi.SubmitWaitForSyncObjectsToHwQueue](r.Record)
			rec.HHwQueue, rec.ObjectCount = g.queue, 1
			r.Arrays[0], r.Arrays[1] = point(n.private, 3)
			return r
		}),
		of(func() *abi.Request {
			r := request(abi.OpSignalSynchronizationObjectFromCpu)
			rec := abi.View[abi.SignalSynchronizationObjectFromCpu](r.Record)
			rec.HDevice, rec.ObjectCount = g.device, 1
			r.Arrays[0], r.Arrays[1] = point(n.fence, 1)
			return r
		}),
		of(func() *abi.Request {
			r := request(abi.OpDestroySynchronizationObject)
			abi.View[abi.DestroySynchronizationObject](r.Record).HSyncObject = n.private
			return r
		}),
		ofBell(abi.OpDestroyDoorbell, &n.bell),
	}
}

// play does the steps. do has what a step with a descriptor is to send.
func play(steps []nativeStep, do func(r *abi.Request, s nativeStep)) {
	for _, s := range steps {
		r := s.make()
		do(r, s)
		if s.keep != nil {
			s.keep(r)
		}
	}
}

// play does the steps, which must succeed, and answers the NT handle that was made and not
// used, -1 if there is none. seen sees the answers.
func (c *client) play(steps []nativeStep, seen func(*abi.Request)) (last int) {
	c.t.Helper()
	last = -1
	play(steps, func(r *abi.Request, s nativeStep) {
		c.t.Helper()
		if s.last {
			r.Files[0] = last
		}
		if st, err := c.do(r); err != nil || !st.OK() && !(s.late && st == abi.StatusInvalidParameter) {
			c.t.Fatalf("%s: %v, %v", r.Op.Name, st, err)
		}
		if s.last {
			_ = unix.Close(last)
			last = -1
		}
		if r.Op.Nr == abi.OpShareObjects.Nr {
			last = r.Out[0].FD
			r.Out = r.Out[1:]
		}
		if seen != nil {
			seen(r)
		}
		closeFiles(r)
	})
	return last
}

// TestDeathInEachStep: a peer that ends before a call of native fences or doorbells, or
// in the middle of it, leaves nothing: not in the kernel, in the GPU or in the daemon.
func TestDeathInEachStep(t *testing.T) {
	st := newStack(t)
	good := dial(t, st.Server, 200)
	held := st.Kernel.Driver(0).(*softgpu.GPU).Holdings()
	files := 1 << 20 // some are opened when they are needed first
	count := len(nativeSteps(&gpuSet{}, &nativeSet{}, 0))
	for after := range 2 * (count + 1) {
		cut, inside := after/2, after%2 == 1
		c, err := connect(t, st.Server)
		if err != nil {
			t.Fatal(err)
		}
		_, hello := c.hello(byte(after + 1))
		g, n := makeGPUSet(c.openAdapter(), c.mustDo), new(nativeSet)
		paged(st)
		steps := nativeSteps(g, n, hello.FirstBell)
		last := c.play(steps[:cut], nil)
		if inside && cut < count {
			r := steps[cut].make()
			if steps[cut].last {
				r.Files[0] = last
			}
			frame := frameOf(t, r)
			var fds []int
			if steps[cut].last {
				fds = []int{last}
			}
			if err := c.link.Send(frame, fds); err != nil {
				t.Fatal(err)
			}
		}
		if last >= 0 {
			_ = unix.Close(last)
		}
		c.link.Close()
		nothingOf(t, st, 1, held, files)
		if after == 0 {
			files = openFiles(t)
		}
		good.must(request(abi.OpGrantBells), abi.StatusInvalidParameter)
	}
	st.Server.Close()
	st.Host.Stop()
}

// paged waits until the GPU has done all memory operations: what is resident is so then.
func paged(st *Daemon) {
	for busy := true; busy; {
		busy = false
		for _, p := range st.Kernel.Snapshot().Processes {
			busy = busy || p.Paging > 0
		}
	}
}

// nothingOf waits until the daemon has heard of the end of all processes but some, and all
// that they had is gone.
func nothingOf(t *testing.T, st *Daemon, processes int, held softgpu.Holdings, files int) {
	t.Helper()
	for range 100_000 {
		s := st.Kernel.Snapshot()
		if len(s.Processes) == processes && len(s.Objects)+len(s.Waits)+len(s.Natives)+len(s.Queues)+len(s.NTObjects)+s.NTHandles+s.Globals == 0 &&
			st.Kernel.Driver(0).(*softgpu.GPU).Holdings() == held && openFiles(t) <= files {
			return
		}
	}
	t.Fatalf("left behind: %d descriptors that were %d; %+v; the GPU has %+v and had %+v", openFiles(t), files, st.Kernel.Snapshot(), st.Kernel.Driver(0).(*softgpu.GPU).Holdings(), held)
}
