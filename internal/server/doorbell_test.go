package server

import (
	"encoding/binary"
	"runtime"
	"sync"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/page"
)

// A ringer is a program with a doorbell and two pages that its GPU sees, one of them the
// ring buffer. The first word of the other is what its commands write.
type ringer struct {
	*client
	bell            abi.Handle
	program, status *page.Memory
	ring, code      *page.Memory
	va              uint64 // of code
	entries         *cmdbuf.Ring
}

// mapped asks for something that comes as memory, and maps it.
func (c *client) mapped(r *abi.Request, writable ...bool) []*page.Memory {
	c.t.Helper()
	c.mustKeep(r)
	if len(r.Out) != len(writable) {
		c.t.Fatalf("%s: %d descriptors", r.Op.Name, len(r.Out))
	}
	var all []*page.Memory
	for i, f := range r.Out {
		m, err := page.Map(f.FD, page.PageSize, writable[i])
		if err != nil {
			c.t.Fatal(err)
		}
		all = append(all, m)
	}
	closeFiles(r)
	return all
}

func (c *client) mustKeep(r *abi.Request) {
	c.t.Helper()
	if st, err := c.do(r); err != nil || !st.OK() {
		c.t.Fatalf("%s: %v, %v", r.Op.Name, st, err)
	}
}

// memory makes a page that the GPU sees.
func (c *client) memory(g *gpuSet) (h abi.Handle, va uint64, m *page.Memory) {
	c.t.Helper()
	h, va = g.page(c.mustDo)
	r := request(opOf("D3DKMTLock2"))
	lock := abi.View[abi.Lock2](r.Record)
	lock.HDevice, lock.HAllocation = g.device, h
	return h, va, c.mapped(r, true)[0]
}

func newRinger(c *client) *ringer {
	c.t.Helper()
	g := makeGPUSet(c.openAdapter(), c.mustDo)
	x := &ringer{client: c}
	var ring abi.Handle
	_, x.va, x.code = c.memory(g)
	ring, _, x.ring = c.memory(g)
	for st := abi.StatusPending; st != abi.StatusSuccess; { // until both are resident
		r := request(opOf("D3DKMTQueryAllocationResidency"))
		q := abi.View[abi.QueryAllocationResidency](r.Record)
		q.HDevice, q.AllocationCount, r.Arrays[0], r.Arrays[1] = g.device, 1, handleArray(ring), make([]byte, 4)
		c.mustDo(r)
		if abi.AllocationResidencyStatus(binary.LittleEndian.Uint32(r.Arrays[1])) == abi.ResidencyResidentInSharedMemory {
			st = abi.StatusSuccess
		}
	}
	r := request(opOf("D3DKMTCreateDoorbell"))
	rec := abi.View[abi.CreateDoorbell](r.Record)
	rec.HHwQueue, rec.HRingBuffer = g.user, ring
	pages := c.mapped(r, true, false)
	x.bell, x.program, x.status = rec.HDoorbell, pages[0], pages[1]
	x.entries = cmdbuf.NewRing(x.ring.Bytes())
	return x
}

// put rings for a buffer that stores a number, and does what the status says. It returns
// that.
func (x *ringer) put(v uint64, more ...cmdbuf.Command) (abi.DoorbellStatus, error) {
	const size = 128
	at := size * (1 + v%16)
	n := copy(x.code.Bytes()[at:at+size], cmdbuf.New().Add(more...).Write64(x.va, v).Bytes())
	x.program.Word64(128).Store(v)
	x.program.Word64(0).Store(x.entries.Put(cmdbuf.RingEntry{VA: x.va + at, Length: uint64(n)}))
	status := abi.DoorbellStatus(x.status.Word64(0).Load())
	if status != abi.DoorbellDisconnectedRetry {
		return status, nil
	}
	r := request(opOf("D3DKMTConnectDoorbell"))
	abi.View[abi.ConnectDoorbell](r.Record).HDoorbell = x.bell
	if st, err := x.do(r); err != nil || !st.OK() {
		return status, st
	}
	return status, nil
}

// seen waits until the number was stored; false: the doorbell has been aborted.
func (x *ringer) seen(v uint64) bool {
	for x.code.Word64(0).Load() < v {
		if abi.DoorbellStatus(x.status.Word64(0).Load()) == abi.DoorbellDisconnectedAbort {
			return false
		}
		runtime.Gosched()
	}
	return true
}

// Programs that share fewer doorbells than they have queues, some of which break
// everything that can be broken: everybody else's commands run, each once and in order.
func TestDoorbellsOfManyPrograms(t *testing.T) {
	const programs, rings = 6, 200
	p, err := adapter.Load("neutral")
	if err != nil {
		t.Fatal(err)
	}
	p.Doorbells.Physical = 2
	d, err := NewDaemon(kernel.Config{Profiles: []*adapter.Profile{p}}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	var all []*ringer
	for i := range programs {
		all = append(all, newRinger(dial(t, d.Server, byte(i+1))))
	}
	var running sync.WaitGroup
	for i, x := range all {
		running.Go(func() {
			for v := uint64(1); v <= rings; v++ {
				if _, err := x.put(v); err != nil {
					t.Errorf("program %d: %v", i, err)
					return
				}
				if v%8 == 0 && !x.seen(v) { // the buffers have 16 places
					t.Errorf("program %d was aborted at %d", i, v)
					return
				}
			}
		})
	}
	for i := range 4 { // and others, that come and go
		bad := newRinger(dial(t, d.Server, byte(100+i)))
		running.Go(func() {
			switch i {
			case 0: // a fault
				_, _ = bad.put(1, cmdbuf.Fault{})
			case 1: // a number that cannot be
				_, _ = bad.put(1)
				bad.program.Word64(0).Store(1 << 60)
			case 2: // words that mean nothing
				bad.program.Word64(128).Store(1<<64 - 1)
				bad.program.Word64(64).Store(7)
			}
			if i < 2 && bad.seen(1<<63) {
				t.Errorf("program %d was not aborted", 100+i)
			}
			bad.link.Close() // with or without work
		})
	}
	running.Wait()
	for _, x := range all {
		x.link.Close()
	}
	d.Server.Close()
	if s := d.Kernel.Snapshot(); len(s.Processes)+len(s.Objects)+len(s.Queues) != 0 {
		t.Errorf("left behind: %+v", s)
	}
	d.Host.Stop()
}
