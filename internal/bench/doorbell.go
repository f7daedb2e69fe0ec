package bench

import (
	"encoding/binary"
	"errors"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync"
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/internal/page"
)

// A hwRig is a hardware queue, and a page whose first word the GPU writes.
type hwRig struct {
	*gpuMemory
	queue abi.CreateHwQueue
	v     uint64
}

// codeAt is where command buffers are in the page.
const codeAt = 2048

func newHwRig(d *dxgsync.Device, flags abi.CreateHwQueueFlags) (*hwRig, error) {
	m, err := newGpuMemory(d)
	if err != nil {
		return nil, err
	}
	c := abi.CreateContextVirtual{HDevice: m.device, Flags: abi.ContextHwQueueSupported}
	if st := m.s.CreateContextVirtual(&c, nil); st != abi.StatusSuccess {
		return nil, st
	}
	r := &hwRig{gpuMemory: m, queue: abi.CreateHwQueue{HHwContext: c.HContext, Flags: flags}}
	if st := r.s.CreateHwQueue(&r.queue, nil); st != abi.StatusSuccess {
		return nil, st
	}
	return r, nil
}

// next writes a buffer that stores the next number, and makes that progress.
func (r *hwRig) next() (length uint64) {
	r.v++
	b := cmdbuf.New().Write64(r.gpu, r.v).Signal(r.queue.HwQueueProgressFenceGPUVirtualAddress, r.v)
	return uint64(copy(r.cpu[codeAt:], b.Bytes()))
}

// await spins until the GPU has stored the number.
func (r *hwRig) await() {
	for binary.LittleEndian.Uint64(r.cpu) != r.v {
		runtime.Gosched()
	}
}

// typical is the median of many steps, in nanoseconds: on a machine that does other
// things too, the mean of what takes two processors at once is that of its time slices.
func typical(step func() error) (float64, error) {
	const warm, steps = 500, 5000
	took := make([]float64, 0, steps)
	for i := range warm + steps {
		begin := time.Now()
		if err := step(); err != nil {
			return 0, err
		}
		if i >= warm {
			took = append(took, float64(time.Since(begin).Nanoseconds()))
		}
	}
	ns, _ := median(took)
	return ns, nil
}

// submitToRun measures from the submission of a buffer to a hardware queue until what it
// writes is there.
func submitToRun(d *dxgsync.Device, _ [2]*dxgsync.Fence) (float64, error) {
	r, err := newHwRig(d, 0)
	if err != nil {
		return 0, err
	}
	return typical(func() error {
		rec := abi.SubmitCommandToHwQueue{HHwQueue: r.queue.HHwQueue, CommandBuffer: r.gpu + codeAt, CommandLength: uint32(r.next()), HwQueueProgressFenceId: r.v}
		if st := r.s.SubmitCommandToHwQueue(&rec, nil, nil); st != abi.StatusSuccess {
			return st
		}
		r.await()
		return nil
	})
}

// ringToRun measures the same for a doorbell.
func ringToRun(d *dxgsync.Device, _ [2]*dxgsync.Fence) (float64, error) {
	r, err := newHwRig(d, abi.HwQueueUserModeSubmission)
	if err != nil {
		return 0, err
	}
	memory, err := newGpuMemory(d)
	if err != nil {
		return 0, err
	}
	if err := memory.makeResident(); err != nil {
		return 0, err
	}
	program, status, connect, err := r.doorbell(memory.allocation)
	if err != nil {
		return 0, err
	}
	ring, bell, queued, state := cmdbuf.NewRing(memory.cpu), program.Word64(0), program.Word64(128), status.Word64(0)
	return typical(func() error {
		n := ring.Put(cmdbuf.RingEntry{VA: r.gpu + codeAt, Length: r.next()})
		queued.Store(r.v)
		bell.Store(n)
		if abi.DoorbellStatus(state.Load()) == abi.DoorbellDisconnectedRetry {
			if st := connect(); st != abi.StatusSuccess {
				return st
			}
		}
		r.await()
		return nil
	})
}

func (m *gpuMemory) makeResident() error {
	rec := abi.MakeResident{HPagingQueue: m.paging}
	if st := m.s.MakeResident(&rec, []abi.Handle{m.allocation}, nil); !st.OK() {
		return st
	}
	w := abi.WaitForSynchronizationObjectFromCpu{HDevice: m.device}
	if st := m.s.WaitForSynchronizationObjectFromCpu(&w, []abi.Handle{m.paged}, []uint64{rec.PagingFenceValue}); st != abi.StatusSuccess {
		return st
	}
	return nil
}

// doorbell makes the queue's doorbell and maps its pages.
func (r *hwRig) doorbell(ring abi.Handle) (program, status *page.Memory, connect func() abi.Status, err error) {
	op := abi.OpByName("D3DKMTCreateDoorbell")
	create := &abi.Request{Op: op, Record: make([]byte, op.Size), Arrays: make([][]byte, 1)}
	rec := abi.View[abi.CreateDoorbell](create.Record)
	rec.HHwQueue, rec.HRingBuffer = r.queue.HHwQueue, ring
	if st := r.s.Do(create); st != abi.StatusSuccess {
		return nil, nil, nil, st
	}
	if len(create.Out) != 2 {
		return nil, nil, nil, errors.New("a doorbell without pages")
	}
	program, err = page.Map(create.Out[0].FD, page.PageSize, true)
	if err == nil {
		status, err = page.Map(create.Out[1].FD, page.PageSize, false)
	}
	for _, f := range create.Out {
		_ = unix.Close(f.FD)
	}
	connect = func() abi.Status {
		op := abi.OpByName("D3DKMTConnectDoorbell")
		q := &abi.Request{Op: op, Record: make([]byte, op.Size)}
		abi.View[abi.ConnectDoorbell](q.Record).HDoorbell = rec.HDoorbell
		return r.s.Do(q)
	}
	return program, status, connect, err
}
