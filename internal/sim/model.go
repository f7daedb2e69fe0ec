package sim

import (
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// Times of the scheduler, in nanoseconds: how long a packet runs before it is asked to
// stop, how long it may run on while one of higher priority is ready, how long an
// engine may take to answer, and in which time how many resets of an adapter there may
// be. Source: gpu.md §8.1, docs/losses.md.
const (
	quantum    = 20_000_000
	grace      = 1_000_000
	tdrDelay   = 2_000_000_000
	limitTime  = 60_000_000_000
	limitCount = 5
	never      = int64(1<<63 - 1)
)

// lossMax is the value of a fence whose signaller was lost.
const lossMax = 1<<64 - 1

// A model is the world as the specification has it.
type model struct {
	now      int64
	adapters []*mAdapter
	procs    []*mProc
	shares   map[int]*mShare // by descriptor
	cpuWaits []*mCPUWait
	queues   []*mQueue // all that there ever were
	starting *mPacket  // a wait that looks at its objects one by one
	kind     interruptKind
	spurious bool   // the next interrupt of a native fence comes in any case
	starts   uint64 // orders waits for mutexes and semaphores
	objects  uint64 // that were ever made
}

type mAdapter struct {
	index   int
	caps    ddi.Caps
	engines []*mEngine
	ready   []*mQueue // something has happened for them
	written []*mObject

	natives     []*mOn
	wroteNative []*mOn
	tell        []*mOn   // of which the driver is to hear
	held        []*mOn   // for the next interrupt
	overtakes   *uint64  // what a GPU stores before its driver has the next monitored values
	calls       []func() // what the driver is asked, with what its answers do
	stamp       uint64   // orders the lines of engines
	stopped     bool
	resetting   bool
	resets      []int64

	failEngine, failAdapter bool // the next reset
	slow                    bool // contexts leave the hardware when told
}

func (a *mAdapter) native() bool { return a.caps.Has(ddi.NativeGpuFence) }
func (a *mAdapter) direct() bool { return a.caps.Has(ddi.DirectSignal) }

type engineState uint8

const (
	engineRuns engineState = iota
	engineAsked
	engineResets
)

type mEngine struct {
	adapter       *mAdapter
	name          ddi.Engine
	state         engineState
	line          []*mQueue
	flying        []*mRun
	since, urgent int64
	asked         int64

	hw      []*mQueue   // hardware queues with buffers at the GPU
	hwSince int64       // their last progress
	leaving []*mContext // asked off the hardware
	hwAsked int64       // when the first of them was
	off     []*mContext // off it until all are
}

// A mRun is a buffer on its way.
type mRun struct {
	buffer *buffer
	queue  *mQueue
	null   bool
	stamp  uint64
	pc     int
	again  bool
	read   bool
	dead   bool
	number uint64 // of its packet

	progress uint64 // of a hardware queue
}

type mProc struct {
	index     int
	dead      bool
	table     map[abi.Handle]any
	devices   []*mDevice
	plains    []*mLocal
	destroyed []*mDevice // with remnants
	timeouts  [2][]int64 // by adapter
}

type mDevice struct {
	proc     *mProc
	adapter  *mAdapter
	handle   abi.Handle
	state    abi.DeviceExecutionState
	exempt   bool
	gone     bool
	contexts []*mContext
	locals   []*mLocal // fences in memory
	numbers  uint64    // of packets
	remnants []*mRemnant
}

// A mRemnant is the address of a fence that was destroyed while packets were queued.
type mRemnant struct {
	local *mLocal
	last  uint64 // packet that may use it
}

type mContext struct {
	device   *mDevice
	handle   abi.Handle
	engine   *mEngine
	flags    abi.CreateContextFlags
	priority int32
	queue    *mQueue   // of software; nil: for hardware queues
	queues   []*mQueue // all of them
	gone     bool
	kmd      ddi.KmdContext // the driver's side, for programs
	place    place
	good     bool // off the hardware for good
}

// place is where a context for hardware queues is.
type place uint8

const (
	onHardware place = iota
	leavingHardware
	offHardware
)

// A mQueue is a stream of packets: that of a context, or a hardware queue.
type mQueue struct {
	context *mContext
	handle  abi.Handle
	exempts bool

	// Of a hardware queue:
	progress  *mLocal
	kmd       ddi.KmdHwQueue // the driver's side, for programs
	submitted uint64         // progress id
	destroyed bool
	finished  bool

	pending []*mPacket
	flying  []*mRun
	waiting bool // for the objects of the first packet
	queued  bool // in mAdapter.ready
	lined   bool // in mEngine.line
	stamp   uint64
	gone    bool
}

func (q *mQueue) hardware() bool   { return q.progress != nil }
func (q *mQueue) engine() *mEngine { return q.context.engine }
func (q *mQueue) exempt() bool {
	return q.exempts || q.context.device.exempt || q.context.flags&abi.ContextDisableGpuTimeout != 0
}

type packetKind uint8

const (
	bufferPacket packetKind = iota
	waitPacket
	signalPacket
)

// moment says when a signal takes effect.
type moment uint8

const (
	atCompletion moment = iota
	atSubmission
	atRead
)

type mPacket struct {
	kind    packetKind
	number  uint64 // on its device
	run     *mRun
	signal  *mSignal
	when    moment
	points  []*mPoint
	device  *mDevice // of a wait
	started uint64   // of a wait for mutexes and semaphores; 0 not
}

// A mPoint is an object that is waited for.
type mPoint struct {
	object  *mObject
	target  uint64
	in, met bool
	local   *mLocal // of a wait from a CPU
}

// A mSignal is one for all queues of a broadcast.
type mSignal struct {
	targets []mTarget
	from    *mAdapter
	event   *mEvent
	left    int
	rewind  bool
	dropped bool
	told    bool // CPU notifications know that it was dropped
}

type mTarget struct {
	object *mObject
	value  uint64
	spared bool
}

type mEvent struct{ fd, sets int }

type mCPUWait struct {
	proc   *mProc
	device *mDevice
	points []*mPoint
	any    bool
	event  *mEvent
	ended  bool
}

type mObject struct {
	kind    abi.SyncObjectType
	flags   abi.SyncObjectFlags
	adapter *mAdapter
	serial  uint64 // orders objects
	value   uint64 // of a fence
	lost    bool
	gone    bool
	left    uint64 // of a mutex or semaphore
	most    uint64
	last    *mDevice // that acquired the last unit
	event   *mEvent
	locals  int
	shares  int // NT handles
	queued  int // signals in queues
	native  bool
	slow    bool // some adapter of it hears of signals through the CPU alone
	asks    bool // somebody was lost who has it: the kernel stores what GPUs do
	on      []*mOn
}

func (o *mObject) inMemory() bool { return o.kind == abi.MonitoredFence || o.kind == abi.NativeFence }
func (o *mObject) fence() bool    { return o.inMemory() || o.kind == abi.Fence }
func (o *mObject) consumed() bool {
	return o.kind == abi.SynchronizationMutex || o.kind == abi.Semaphore
}

// see is the value as everybody sees it.
func (o *mObject) see() uint64 {
	if o.lost {
		return lossMax
	}
	return o.value
}

type mLocal struct {
	object  *mObject
	proc    *mProc
	device  *mDevice // of a plain object: through which it was made
	handle  abi.Handle
	flags   abi.SyncObjectFlags
	created bool
	owned   bool // by a hardware queue, whose progress it shows
	signal  bool // rights
	wait    bool
	va      uint64
	gone    bool
	on      *mOn // opened as a native fence
}

// A mShare is an NT handle.
type mShare struct {
	object       *mObject
	signal, wait bool
}

func (m *model) device(p *mProc, h abi.Handle) *mDevice {
	d, _ := p.table[h].(*mDevice)
	return d
}

// next is when something is due.
func (m *model) next() int64 {
	at := never
	for _, a := range m.adapters {
		for _, e := range a.engines {
			at = min(at, e.due())
		}
	}
	return at
}
