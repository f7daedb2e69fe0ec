package kernel

import (
	"fmt"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/softgpu"
)

// A softDriver is the software GPU with places where it may be overtaken. Interrupts that
// are not those of native fences come at the end, as they may: those of packets that
// complete would hide that one was lost.
type softDriver struct {
	*softgpu.GPU
	world   *nativeWorld
	cb      ddi.Callbacks
	buffers [][]byte
	queues  []abi.Handle // of each node
	last    uint64       // value that was signalled
	known   uint64       // spoil "check first": the monitored value as it was before
	held    []ddi.Interrupt
	opened  ddi.OpenNativeFenceArgs
}

// buffersAt is where the command buffers are, which nobody else maps: one in a page.
const buffersAt = 0x7000_0000

func newSoftDriver(w *nativeWorld, p *adapter.Profile) *softDriver {
	return &softDriver{GPU: softgpu.New(p), world: w}
}

// A softCallbacks and a softSpace are what it sees of the kernel.
type softCallbacks struct {
	ddi.Callbacks
	driver *softDriver
}

type softSpace struct {
	ddi.AddressSpace
	driver *softDriver
}

func (d *softDriver) StartDevice(cb ddi.Callbacks) abi.Status {
	d.cb = cb
	return d.GPU.StartDevice(softCallbacks{cb, d})
}

func (d *softDriver) CreateDevice(args ddi.CreateDeviceArgs) (ddi.KmdDevice, abi.Status) {
	args.Memory = &softSpace{args.Memory, d}
	return d.GPU.CreateDevice(args)
}

func (d *softDriver) OpenNativeFence(args ddi.OpenNativeFenceArgs) (ddi.KmdLocalNativeFence, abi.Status) {
	if d.opened.CurrentValueGpuVa == 0 { // progress fences come later
		d.opened = args
	}
	return d.GPU.OpenNativeFence(args)
}

func (d *softDriver) UpdateMonitoredValues(list []ddi.MonitoredValueUpdate) {
	d.world.update(list, d.GPU.UpdateMonitoredValues)
}

func (d *softDriver) UpdateCurrentValuesFromCpu(list []ddi.CurrentValueUpdate, flags ddi.CurrentValueFlags) {
	d.world.updateCurrent(list, flags, d.GPU.UpdateCurrentValuesFromCpu)
}

func (c softCallbacks) NotifyInterrupt(i ddi.Interrupt) {
	d := c.driver
	n, ok := i.(ddi.NativeFenceSignaled)
	switch {
	case !ok:
		d.held = append(d.held, i)
	case d.world.spoil == "nobody named" && n.Fences == nil:
	default:
		d.world.run.Yield("interrupt")
		d.world.interrupt(c.Callbacks, n)
	}
}

func (m *softSpace) Read(engine uint32, va uint64, b []byte) *ddi.Fault {
	if n := (va - buffersAt) / 4096; va >= buffersAt && n < uint64(len(m.driver.buffers)) {
		copy(b, m.driver.buffers[n][va%4096:])
		return nil
	}
	return m.AddressSpace.Read(engine, va, b)
}

func (m *softSpace) Store64(engine uint32, va, v uint64) *ddi.Fault {
	d := m.driver
	if va != d.opened.CurrentValueGpuVa {
		return m.AddressSpace.Store64(engine, va, v)
	}
	w := d.world
	w.run.Yield("store")
	d.last = v
	if w.spoil == "check first" {
		d.known, _ = m.AddressSpace.Load64(engine, d.opened.MonitoredValueGpuVa)
		w.found(v, d.known)
		w.run.Yield("store after all", d.known)
	}
	return w.store(v, func() *ddi.Fault { return m.AddressSpace.Store64(engine, va, v) })
}

func (m *softSpace) Load64(engine uint32, va uint64) (v uint64, f *ddi.Fault) {
	d := m.driver
	switch va {
	case d.opened.MonitoredValueGpuVa:
		if d.world.spoil == "check first" {
			return d.known, nil
		}
		v = d.world.load(d.last, func() uint64 {
			if d.world.spoil == "no check" {
				return 0
			}
			v, f = m.AddressSpace.Load64(engine, va)
			return v
		})
		return v, f
	case d.opened.CurrentValueGpuVa:
		d.world.run.Yield("look", d.world.told)
		v, f = m.AddressSpace.Load64(engine, va)
		d.world.run.Yield("looked", v)
		return v, f
	}
	return m.AddressSpace.Load64(engine, va)
}

// start makes a hardware queue on each of the first nodes.
func (d *softDriver) start(nodes int) {
	w := d.world
	for n := range nodes {
		c := w.context(w.p, w.d, uint32(n), abi.ContextHwQueueSupported)
		rec := abi.CreateHwQueue{HHwContext: c}
		_, st := do(w.p, 0x18, &rec, nil, nil)
		w.ok(st)
		d.queues = append(d.queues, rec.HHwQueue)
	}
	w.state = func() string { return fmt.Sprint(len(d.buffers), d.due(), d.stalled()) }
}

// stalled is how many packets wait for the fence.
func (d *softDriver) stalled() (n int) {
	for _, e := range d.GPU.Engines() {
		n += e.Stalled
	}
	return n
}

func (d *softDriver) due() bool {
	at, ok := d.GPU.Next()
	return ok && at <= d.world.k.now()
}

// A packet is a command for the fence, in a buffer of its own.
type packetOf struct {
	node  int
	value uint64
	waits bool // else it signals
}

func (d *softDriver) submit(c packetOf) {
	o := d.opened
	b := cmdbuf.New()
	if c.waits {
		b.Wait(o.CurrentValueGpuVa, c.value, 1)
	} else {
		b.SignalNative(o.CurrentValueGpuVa, c.value, o.MonitoredValueGpuVa, 1)
	}
	d.buffers = append(d.buffers, b.Bytes())
	n := len(d.buffers)
	rec := abi.SubmitCommandToHwQueue{
		HHwQueue: d.queues[c.node], HwQueueProgressFenceId: uint64(n),
		CommandBuffer: buffersAt + uint64(n-1)*4096, CommandLength: uint32(b.Len()),
	}
	_, st := do(d.world.p, 0x34, &rec, nil, nil, nil)
	d.world.run.Fail(failure(st))
}

// gpu adds the thread that submits packets, one after the other, and lets the GPU run.
func (d *softDriver) gpu(packets []packetOf) {
	w := d.world
	w.run.Go("gpu", func() {
		for i, c := range packets {
			w.run.Forget(i)
			d.submit(c)
			for d.due() {
				w.k.Tick()
			}
		}
		for {
			w.run.Forget()
			w.run.Await("rest", func() bool { return d.due() || w.others == 0 })
			if !d.due() {
				break
			}
			w.k.Tick()
		}
		if n := d.stalled(); n > 0 && w.value() >= stallsAt(packets) {
			w.run.Fail(fmt.Errorf("a wait of the GPU for %d is stuck at %d", stallsAt(packets), w.value()))
		}
	})
}

func stallsAt(packets []packetOf) (v uint64) {
	for _, c := range packets {
		if c.waits {
			v = c.value
		}
	}
	return v
}
