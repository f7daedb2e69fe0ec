package bench

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/dxgsync/dxgsync"
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
)

// A queueRig is a device with contexts and a fence, by handles: the calls measured are
// the raw ones.
type queueRig struct {
	s        *dxgsync.Session
	device   abi.Handle
	contexts []abi.Handle
}

func newQueueRig(d *dxgsync.Device, contexts int) (*queueRig, error) {
	q := &queueRig{s: d.Session(), device: d.Handle()}
	for range contexts {
		rec := abi.CreateContextVirtual{HDevice: q.device}
		if st := q.s.CreateContextVirtual(&rec, nil); st != abi.StatusSuccess {
			return nil, fmt.Errorf("create a context: %w", st)
		}
		q.contexts = append(q.contexts, rec.HContext)
	}
	return q, nil
}

// link queues on context i: wait for v, then signal v+1.
func (q *queueRig) link(i int, f abi.Handle, v uint64) error {
	c := q.contexts[i%len(q.contexts)]
	objects := []abi.Handle{f}
	if st := q.s.WaitForSynchronizationObjectFromGpu(&abi.WaitForSynchronizationObjectFromGpu{HContext: c}, objects, []uint64{v}); st != abi.StatusSuccess {
		return st
	}
	st := q.s.SignalSynchronizationObjectFromGpu(&abi.SignalSynchronizationObjectFromGpu{HContext: c}, objects, []uint64{v + 1})
	if st != abi.StatusSuccess {
		return st
	}
	return nil
}

// chain measures links over some contexts: in nanoseconds a round of them. Prefilled
// ones are queued before the time is taken, behind a first wait that a CPU signal ends.
func chain(links, contexts int, prefilled bool) func(*dxgsync.Device) (float64, error) {
	return func(d *dxgsync.Device) (float64, error) {
		q, err := newQueueRig(d, contexts)
		if err != nil {
			return 0, err
		}
		const rounds = 50
		var total time.Duration
		for range rounds {
			f, err := d.NewFence(dxgsync.FenceOptions{})
			if err != nil {
				return 0, err
			}
			begin := time.Now()
			if !prefilled {
				if err := f.Signal(1); err != nil {
					return 0, err
				}
			}
			for i := range links {
				if err := q.link(i, f.Handle(), uint64(i+1)); err != nil {
					return 0, err
				}
			}
			if prefilled {
				begin = time.Now()
				if err := f.Signal(1); err != nil {
					return 0, err
				}
			}
			total += time.Since(begin)
			if v := f.Value(); v != uint64(links+1) {
				return 0, fmt.Errorf("the chain stopped at %d", v)
			}
			if err := f.Close(); err != nil {
				return 0, err
			}
		}
		return float64(total.Nanoseconds()) / rounds, nil
	}
}

func perLink(links int, f func(*dxgsync.Device) (float64, error)) func(*dxgsync.Device) (float64, error) {
	return func(d *dxgsync.Device) (float64, error) {
		ns, err := f(d)
		return ns / float64(links), err
	}
}

// pendingWaits measures a signal that satisfies one queued wait while n others of the
// same fence stay, three at the head of a context: one user has 49,152 of those.
func pendingWaits(n int) func(*dxgsync.Device) (float64, error) {
	return func(d *dxgsync.Device) (float64, error) {
		q, err := newQueueRig(d, 1+(n+2)/3)
		if err != nil {
			return 0, err
		}
		f, err := d.NewFence(dxgsync.FenceOptions{})
		if err != nil {
			return 0, err
		}
		far := []uint64{1 << 40, 1 << 41, 1 << 42}
		for _, c := range q.contexts[1:] {
			w := abi.WaitForSynchronizationObjectFromGpu{HContext: c}
			if st := q.s.WaitForSynchronizationObjectFromGpu(&w, []abi.Handle{f.Handle(), f.Handle(), f.Handle()}, far); st != abi.StatusSuccess {
				return 0, st
			}
		}
		v := uint64(0)
		var failed error
		ns := loop(func(n int) {
			for range n {
				v++
				w := abi.WaitForSynchronizationObjectFromGpu{HContext: q.contexts[0]}
				if st := q.s.WaitForSynchronizationObjectFromGpu(&w, []abi.Handle{f.Handle()}, []uint64{v}); st != abi.StatusSuccess {
					failed = st
				}
				if err := f.Signal(v); err != nil {
					failed = err
				}
			}
		})
		return ns, failed
	}
}

// A gpuMemory is a page that the CPU writes commands to and the GPU reads.
type gpuMemory struct {
	*queueRig
	cpu []byte
	gpu uint64
}

func newGpuMemory(d *dxgsync.Device) (*gpuMemory, error) {
	q, err := newQueueRig(d, 1)
	if err != nil {
		return nil, err
	}
	m := &gpuMemory{queueRig: q}
	paging := abi.CreatePagingQueue{HDevice: q.device}
	if st := q.s.CreatePagingQueue(&paging); st != abi.StatusSuccess {
		return nil, st
	}
	const size = 4096
	heap := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint32([]byte("heap"), 1), size)
	infos := []abi.AllocationInfo2{{}}
	if st := q.s.CreateAllocation2(&abi.CreateAllocation2{HDevice: q.device}, infos, dxgsync.AllocationData{Each: [][]byte{heap}}); st != abi.StatusSuccess {
		return nil, st
	}
	at := abi.MapGpuVirtualAddress{HPagingQueue: paging.HPagingQueue, HAllocation: infos[0].HAllocation, SizeInPages: 1, Protection: abi.GpuProtectionWrite}
	if st := q.s.MapGpuVirtualAddress(&at); !st.OK() {
		return nil, st
	}
	w := abi.WaitForSynchronizationObjectFromCpu{HDevice: q.device}
	if st := q.s.WaitForSynchronizationObjectFromCpu(&w, []abi.Handle{paging.HSyncObject}, []uint64{at.PagingFenceValue}); st != abi.StatusSuccess {
		return nil, st
	}
	m.gpu = at.VirtualAddress
	var st abi.Status
	if m.cpu, st = q.s.Lock2(&abi.Lock2{HDevice: q.device, HAllocation: infos[0].HAllocation}); st != abi.StatusSuccess {
		return nil, st
	}
	return m, nil
}

func (m *gpuMemory) submit(b *cmdbuf.Buffer) error {
	n := copy(m.cpu, b.Bytes())
	rec := abi.SubmitCommand{Commands: m.gpu, CommandLength: uint32(n), BroadcastContextCount: 1}
	rec.BroadcastContext[0] = m.contexts[0]
	if st := m.s.SubmitCommand(&rec, nil, nil); st != abi.StatusSuccess {
		return st
	}
	return nil
}

// submitToWake measures from the submission of a buffer that signals a fence until the
// goroutine that waits for it runs: a GPU's write to a CPU's wake, with the way there.
func submitToWake(d *dxgsync.Device) (float64, error) {
	m, err := newGpuMemory(d)
	if err != nil {
		return 0, err
	}
	f := abi.CreateSynchronizationObject2{HDevice: m.device}
	f.Info.Type = abi.MonitoredFence
	if st := m.s.CreateSynchronizationObject2(&f); st != abi.StatusSuccess {
		return 0, st
	}
	va := f.Info.MonitoredFence().FenceValueGPUVirtualAddress
	w := abi.WaitForSynchronizationObjectFromCpu{HDevice: m.device}
	v := uint64(0)
	var failed error
	ns := loop(func(n int) {
		for range n {
			v++
			if err := m.submit(cmdbuf.New().Signal(va, v)); err != nil {
				failed = err
			}
			if st := m.s.WaitForSynchronizationObjectFromCpu(&w, []abi.Handle{f.HSyncObject}, []uint64{v}); st != abi.StatusSuccess {
				failed = st
			}
		}
	})
	return ns, failed
}
