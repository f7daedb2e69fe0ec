package server

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/object"
	"github.com/dxgsync/dxgsync/internal/softgpu"
	"github.com/dxgsync/dxgsync/internal/vidsch"
	"github.com/dxgsync/dxgsync/internal/wire"
)

// newStack makes a whole daemon for the fuzzer.
func newStack(t testing.TB) *Daemon {
	t.Helper()
	return newStackOf(t, vidsch.TDR{})
}

// newStackOf makes one that takes its GPU for hung after some time.
func newStackOf(t testing.TB, tdr vidsch.TDR) *Daemon {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 1)) // so that global handles are those of the seeds
	d, err := NewDaemon(kernel.Config{Limits: kernel.Limits{Handles: 1000, NTHandles: 100, Waits: 100}, Random: random.Uint32, TDR: tdr}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A message of the fuzzer's input: u16 length, u8 which descriptors come along (two
// bits: how many, two bits: of which kind), then the frame.
func appendMessage(input, frame []byte, files byte) []byte {
	input = binary.LittleEndian.AppendUint16(input, uint16(len(frame)))
	return append(append(input, files), frame...)
}

func nextMessage(input []byte) (frame []byte, files byte, rest []byte, ok bool) {
	if len(input) < 3 {
		return nil, 0, nil, false
	}
	n := min(int(binary.LittleEndian.Uint16(input)), len(input)-3)
	return input[3 : 3+n], input[2], input[3+n:], true
}

// Kinds of descriptors that come along.
const (
	kindEvent = 0 << 2
	kindPipe  = 1 << 2
	kindLast  = 2 << 2 // the last one that was answered
	kindOwn   = 3 << 2 // the session's own socket
)

// A player sends the messages of an input over one session.
type player struct {
	*client
	event, pipe, last int
}

func (p *player) play(input []byte) {
	for {
		frame, files, rest, ok := nextMessage(input)
		if !ok {
			return
		}
		fd := map[byte]int{kindEvent: p.event, kindPipe: p.pipe, kindLast: p.last, kindOwn: p.link.FD()}[files&0xC]
		var fds []int
		for range files & 3 {
			if fd >= 0 {
				fds = append(fds, fd)
			}
		}
		if p.link.Send(frame, fds) != nil {
			return
		}
		n, got, err := p.link.Receive(p.buf[:], nil)
		if err != nil {
			return
		}
		if n < wire.HeaderSize {
			p.t.Fatalf("a reply of %d bytes", n)
		}
		if len(got) > 0 {
			if p.last >= 0 {
				_ = unix.Close(p.last)
			}
			p.last = got[0]
			wire.CloseAll(got[1:])
		}
		input = rest
	}
}

// FuzzSession: whatever a peer sends, the server and the kernel behind it stay whole,
// a second peer is served, and nothing is left when the sessions are gone.
func FuzzSession(f *testing.F) {
	f.Add(honest(f))
	f.Add(appendMessage(nil, []byte("no frame"), 1))
	for i := range abi.Ops { // every operation, with and without descriptors
		input := helloMessage(f)
		for _, files := range []byte{0, 1, 1 | kindPipe} {
			frame := frameOf(f, request(&abi.Ops[i]))
			if files != 0 {
				binary.LittleEndian.PutUint32(frame[12:], 1)
			}
			input = appendMessage(input, frame, files)
		}
		f.Add(input)
	}
	for kind := range abi.FaultPower + 1 { // and what breaks everybody's adapter
		r := request(abi.OpProvokeFault)
		*abi.View[abi.ProvokeFault](r.Record) = abi.ProvokeFault{Kind: kind, AdapterLuid: abi.LUID{LowPart: 0x10000}, Node: abi.FaultEveryNode}
		if kind == abi.FaultPower {
			abi.View[abi.ProvokeFault](r.Record).State = abi.PowerD3
		}
		f.Add(append(appendMessage(helloMessage(f), frameOf(f, r), 0), honest(f)...))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		before := openFiles(t)
		st := newStackOf(t, vidsch.TDR{Quantum: 1e6, Delay: 3e6, DdiDelay: 30e9, LimitCount: math.MaxInt32})
		good := dial(t, st.Server, 200)
		c, err := connect(t, st.Server)
		if err != nil {
			t.Fatal(err)
		}
		event, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
		if err != nil {
			t.Fatal(err)
		}
		var pipe [2]int
		if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		p := &player{client: c, event: event, pipe: pipe[1], last: -1}
		p.play(input)

		if s := st.Kernel.Snapshot(); len(s.Processes) > 2 {
			t.Errorf("%d processes of two peers", len(s.Processes))
		}
		if st, err := good.do(request(abi.OpGrantBells)); err != nil || st != abi.StatusInvalidParameter {
			t.Errorf("the other peer: %v, %v", st, err)
		}
		st.Server.Close()
		s := st.Kernel.Snapshot()
		if len(s.Processes)+len(s.Objects)+len(s.Waits)+s.Globals != 0 {
			t.Errorf("left behind: %+v", s)
		}
		gpu := st.Kernel.Driver(0).(*softgpu.GPU)
		for range 10_000_000 { // it may hang yet, and what is there is kept until it is reset
			if gpu.Holdings() == (softgpu.Holdings{}) {
				break
			}
		}
		if h := gpu.Holdings(); h != (softgpu.Holdings{}) {
			t.Errorf("the GPU has %+v", h)
		}
		wire.CloseAll([]int{event, pipe[0], pipe[1]})
		if p.last >= 0 {
			_ = unix.Close(p.last)
		}
		st.Host.Stop()
		if got := openFiles(t); got != before+2 { // our ends, until the test ends
			t.Errorf("%d descriptors before, %d after; want 2 more", before, got)
		}
	})
}

func frameOf(t testing.TB, r *abi.Request) []byte {
	t.Helper()
	b := make([]byte, wire.MaxFrame)
	n, _, st := wire.EncodeRequest(b, nil, r)
	if !st.OK() {
		t.Fatalf("%s: %v", r.Op.Name, st)
	}
	return b[:n]
}

func helloMessage(t testing.TB) []byte {
	r := request(abi.OpHello)
	abi.View[abi.Hello](r.Record).Version = 1
	return appendMessage(nil, frameOf(t, r), 0)
}

// honest is what a well-behaved peer sends, with the handles that a fresh kernel gives.
func honest(t testing.TB) []byte {
	st := newStack(t)
	defer st.Host.Stop()
	defer st.Server.Close()
	c, err := connect(t, st.Server)
	if err != nil {
		t.Fatal(err)
	}
	var input []byte
	last := -1
	do := func(r *abi.Request, kind byte, files ...int) *abi.Request {
		t.Helper()
		copy(r.Files, files)
		input = appendMessage(input, frameOf(t, r), kind)
		if st, err := c.do(r); err != nil || !st.OK() {
			t.Fatalf("%s: %v, %v", r.Op.Name, st, err)
		}
		for _, f := range r.Out {
			if last >= 0 {
				_ = unix.Close(last)
			}
			last = f.FD
		}
		return r
	}
	event, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(event)
	u64 := func(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

	r := request(abi.OpHello)
	abi.View[abi.Hello](r.Record).Version = 1
	do(r, 0)
	bell := abi.View[abi.Hello](r.Record).FirstBell
	r = request(abi.OpEnumAdapters2)
	abi.View[abi.EnumAdapters2](r.Record).NumAdapters = 1
	r.Arrays[0] = make([]byte, 20)
	adapter := abi.Handle(binary.LittleEndian.Uint32(do(r, 0).Arrays[0]))
	r = request(abi.OpCreateDevice)
	abi.View[abi.CreateDevice](r.Record).HAdapter = adapter
	device := abi.View[abi.CreateDevice](do(r, 0).Record).HDevice
	r = request(abi.OpCreateSynchronizationObject2)
	rec := abi.View[abi.CreateSynchronizationObject2](r.Record)
	rec.HDevice, rec.Info.Type, rec.Info.Flags = device, abi.MonitoredFence, abi.SyncObjectShared|abi.SyncObjectNtSecuritySharing
	do(r, 0)
	fence := binary.LittleEndian.AppendUint32(nil, uint32(rec.HSyncObject))
	r = request(abi.OpShareObjects)
	share := abi.View[abi.ShareObjects](r.Record)
	share.ObjectCount, share.DesiredAccess = 1, 0x1F0003
	r.Arrays[0], r.Arrays[2] = fence, u64(0)
	do(r, 0)
	r = request(abi.OpOpenSyncObjectFromNtHandle2)
	abi.View[abi.OpenSyncObjectFromNtHandle2](r.Record).HDevice = device
	do(r, 1|kindLast, last)
	for _, kind := range []byte{0, 1 | kindEvent} {
		r = request(abi.OpWaitForSynchronizationObjectFromCpu)
		w := abi.View[abi.WaitForSynchronizationObjectFromCpu](r.Record)
		w.HDevice, w.ObjectCount = device, 1
		r.Arrays[0], r.Arrays[1] = fence, u64(7)
		r.Bell, r.Ticket = bell, bell+1
		if kind == 0 {
			do(r, kind)
		} else {
			do(r, kind, event)
		}
	}
	r = request(abi.OpSignalSynchronizationObjectFromCpu)
	s := abi.View[abi.SignalSynchronizationObjectFromCpu](r.Record)
	s.HDevice, s.ObjectCount = device, 1
	r.Arrays[0], r.Arrays[1] = fence, u64(7)
	do(r, 0)
	plain := func(flags abi.SyncObjectFlags) (local, global abi.Handle) {
		r := request(abi.OpCreateSynchronizationObject2)
		rec := abi.View[abi.CreateSynchronizationObject2](r.Record)
		rec.HDevice, rec.Info.Type, rec.Info.Flags = device, abi.SynchronizationMutex, flags
		do(r, 0)
		return rec.HSyncObject, rec.Info.SharedHandle
	}
	_, global := plain(abi.SyncObjectShared)
	r = request(abi.OpOpenSynchronizationObject)
	abi.View[abi.OpenSynchronizationObject](r.Record).HSharedHandle = global
	do(r, 0)
	sync, _ := plain(ntShared)
	sharing := func(name string, objects ...abi.Handle) {
		r := request(abi.OpShareObjects)
		rec := abi.View[abi.ShareObjects](r.Record)
		rec.ObjectCount, rec.DesiredAccess = uint32(len(objects)), uint32(object.GenericAll)
		r.Arrays[0], r.Arrays[2] = handleArray(objects...), u64(0)
		r.Arrays[1], r.Arrays[3] = attributes(name)
		r.Arrays[4] = object.MakeDescriptor(uint32(os.Getuid()), uint32(os.Getgid()), 0o640)
		do(r, 0)
	}
	sharing("sync", sync)
	r = request(abi.OpOpenSyncObjectNtHandleFromName)
	abi.View[abi.OpenSyncObjectNtHandleFromName](r.Record).DwDesiredAccess = uint32(object.MaximumAllowed)
	r.Arrays[0], r.Arrays[1] = attributes("sync")
	do(r, 0)
	do(request(abi.OpOpenSyncObjectFromNtHandle), 1|kindLast, last)

	r = request(abi.OpCreateKeyedMutex2)
	keyed := abi.View[abi.CreateKeyedMutex2](r.Record)
	keyed.Flags, keyed.PrivateRuntimeDataSize = abi.KeyedMutexNtSecuritySharing, 4
	r.Arrays[0] = []byte("data")
	do(r, 0)
	r = request(abi.OpAcquireKeyedMutex2)
	acquire := abi.View[abi.AcquireKeyedMutex2](r.Record)
	acquire.HKeyedMutex, acquire.PrivateRuntimeDataSize = keyed.HKeyedMutex, 4
	r.Arrays[1], r.Bell, r.Ticket = make([]byte, 4), bell+2, bell+2
	do(r, 0)
	acquire.Key, r.Bell, r.Ticket = 5, bell+3, bell+3
	do(r, 0) // waits
	r = request(abi.OpReleaseKeyedMutex)
	release := abi.View[abi.ReleaseKeyedMutex](r.Record)
	release.HKeyedMutex, release.Key, release.FenceValue = keyed.HKeyedMutex, 5, 1
	r.Bell, r.Ticket = bell+2, bell+2
	do(r, 0)
	r = request(abi.OpEndThread)
	abi.View[abi.EndThread](r.Record).Ticket = bell + 3
	do(r, 0)
	r = request(abi.OpCreateKeyedMutex)
	do(r, 0)
	open := request(abi.OpOpenKeyedMutex)
	abi.View[abi.OpenKeyedMutex](open.Record).HSharedHandle = abi.View[abi.CreateKeyedMutex](r.Record).HSharedHandle
	do(open, 0)

	r = request(abi.OpCreateAllocation2)
	made := abi.View[abi.CreateAllocation2](r.Record)
	made.HDevice, made.NumAllocations, made.PrivateRuntimeDataSize = device, 2, 4
	made.Flags = abi.AllocationCreateResource | abi.AllocationCreateShared | abi.AllocationNtSecuritySharing
	r.Arrays[0], r.Arrays[3], r.Arrays[4] = []byte("data"), make([]byte, 2*abi.SizeofAllocationInfo2), []byte{}
	do(r, 0)
	sharing("bundle", made.HResource, keyed.HKeyedMutex, sync)
	r = request(abi.OpOpenNtHandleFromName)
	abi.View[abi.OpenNtHandleFromName](r.Record).DwDesiredAccess = uint32(object.GenericAll)
	r.Arrays[0], r.Arrays[1] = attributes("bundle")
	do(r, 0)
	r = request(abi.OpQueryResourceInfoFromNtHandle)
	abi.View[abi.QueryResourceInfoFromNtHandle](r.Record).HDevice = device
	do(r, 1|kindLast, last)
	r = request(abi.OpOpenResourceFromNtHandle)
	bundle := abi.View[abi.OpenResourceFromNtHandle](r.Record)
	bundle.HDevice, bundle.NumAllocations, bundle.PrivateRuntimeDataSize, bundle.KeyedMutexPrivateRuntimeDataSize = device, 2, 4, 4
	r.Arrays[0], r.Arrays[1], r.Arrays[4] = make([]byte, 2*abi.SizeofOpenAllocationInfo2), make([]byte, 4), make([]byte, 4)
	do(r, 1|kindLast, last)
	for _, h := range []abi.Handle{bundle.HKeyedMutex, keyed.HKeyedMutex} {
		r = request(abi.OpDestroyKeyedMutex)
		abi.View[abi.DestroyKeyedMutex](r.Record).HKeyedMutex = h
		do(r, 0)
	}
	r = request(abi.OpDestroyAllocation2)
	gone := abi.View[abi.DestroyAllocation2](r.Record)
	gone.HDevice, gone.HResource = device, bundle.HResource
	do(r, 0)
	r = request(abi.OpDestroyDevice)
	abi.View[abi.DestroyDevice](r.Record).HDevice = device
	do(r, 0)
	queue := func(r *abi.Request) { do(r, 0) }
	g := makeGPUSet(adapter, queue)
	paged(st)
	play(nativeSteps(g, new(nativeSet), bell+5), func(r *abi.Request, s nativeStep) {
		switch {
		case s.late:
			input = appendMessage(input, frameOf(t, r), 0)
		case s.last:
			do(r, 1|kindLast, last)
		default:
			do(r, 0)
		}
	})
	g.use(bell+4, queue)
	if last >= 0 {
		_ = unix.Close(last)
	}
	return input
}
