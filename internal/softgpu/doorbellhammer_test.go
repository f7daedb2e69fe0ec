package softgpu

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// Programs that ring, connect, destroy and make anew, more than there are places for, at
// once with everything that the kernel does: every entry is run, once and in order.
func TestDoorbellHammer(t *testing.T) {
	const programs, rings = 4, 200
	k := &hammerKernel{strictKernel: strictKernel{t: t, fences: true}}
	g := New(profile(t, func(p *adapter.Profile) { p.Doorbells.Physical = 2; p.Displays = nil }))
	must(t, g.StartDevice(k))
	m := newMemory()
	device, st := g.CreateDevice(ddi.CreateDeviceArgs{Memory: m})
	must(t, st)
	var stop atomic.Bool
	var ticker, running sync.WaitGroup
	ticker.Go(func() {
		for !stop.Load() {
			k.now.Add(500)
			g.Advance(k.now.Load())
		}
	})
	for me := range uint64(programs) {
		running.Go(func() {
			random := rand.New(rand.NewPCG(1, me))
			c, st := g.CreateContext(ddi.CreateContextArgs{Device: device, Engine: ddi.Engine{NodeOrdinal: uint32(me % 2)}})
			must(t, st)
			q, st := g.CreateHwQueue(ddi.CreateHwQueueArgs{Context: c, Flags: abi.HwQueueUserModeSubmission})
			must(t, st)
			k.work.Store(q, true)
			k.work.Store(c, true)
			counter := base + 64*me
			code := base + 0x1000*(me+1)
			seen := func() uint64 { v, _ := m.Load64(0, counter); return v }
			var bell ddi.KmdDoorbell
			var ring *cmdbuf.Ring
			var memory *ringMemory
			var word *atomic.Uint64
			for i := range uint64(rings) {
				if bell == 0 || random.IntN(40) == 0 { // what was rung on the old one is done
					g.DisconnectDoorbell(bell)
					g.DestroyDoorbell(bell)
					memory, word = &ringMemory{b: make([]byte, 64)}, new(atomic.Uint64)
					ring = cmdbuf.NewRing(memory.b)
					bell, st = g.CreateDoorbell(ddi.CreateDoorbellArgs{HwQueue: q, RingBuffer: memory})
					must(t, st)
				}
				for seen()+3 < i { // room in the ring, and in the code
					g.ConnectDoorbell(ddi.ConnectDoorbellArgs{Doorbell: bell, Primary: word})
				}
				buf := cmdbuf.New().Write64(counter, i+1)
				at := code + i%8*64
				m.Write(0, at, buf.Bytes())
				memory.mu.Lock()
				n := ring.Put(cmdbuf.RingEntry{VA: at, Length: uint64(buf.Len())})
				memory.mu.Unlock()
				word.Store(n)
				switch random.IntN(8) {
				case 0, 1, 2:
					g.ConnectDoorbell(ddi.ConnectDoorbellArgs{Doorbell: bell, Primary: word})
				case 3:
					g.DisconnectDoorbell(bell)
				case 4:
					g.NotifyWorkSubmission(bell)
				case 5:
					if g.SuspendContext(c, i) == abi.StatusPending {
						must(t, g.ResumeContext(c))
					}
				}
			}
			for seen() < rings {
				g.ConnectDoorbell(ddi.ConnectDoorbellArgs{Doorbell: bell, Primary: word})
			}
			g.DisconnectDoorbell(bell)
			g.DestroyDoorbell(bell)
			must(t, g.DestroyHwQueue(q))
			must(t, g.DestroyContext(c))
			k.work.Delete(q)
			k.work.Delete(c)
		})
	}
	running.Wait()
	stop.Store(true)
	ticker.Wait()
	must(t, g.DestroyDevice(device))
	if h := g.Holdings(); h != (Holdings{}) {
		t.Errorf("left behind: %+v", h)
	}
	g.StopDevice()
}

// A hammerKernel lets doorbells be taken.
type hammerKernel struct{ strictKernel }

func (*hammerKernel) DisconnectDoorbell(ddi.KmdHwQueue, ddi.DisconnectReason) abi.Status {
	return abi.StatusSuccess
}
