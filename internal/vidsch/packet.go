package vidsch

import "github.com/dxgsync/dxgsync/ddi"

// A Gate is what a wait packet waits for.
type Gate interface {
	// Start looks at it from now on: the packet is at the head of its queue. True: there
	// is nothing to wait for. Otherwise Queue.Open must be called once, later and not from
	// inside Start, unless Withdraw comes first.
	Start() bool
	// Withdraw ends the interest, whether it was started or not: the packet is dropped.
	Withdraw()
}

// A Signal is what a signal packet does. One of several queues (a broadcast) is told by
// each of them.
type Signal interface {
	// Reach tells that the packet's turn has come in q.
	Reach(q *Queue)
	// Drop tells that it never will, in q.
	Drop(q *Queue, why Why)
}

// Why says why packets are dropped.
type Why uint8

// Reasons.
const (
	Destroyed Why = iota // the queue was destroyed
	Lost                 // its device is lost
	Died                 // its process has ended
)

// When says when a signal takes effect.
type When uint8

// Moments.
const (
	AtCompletion When = iota // everything before is complete
	AtSubmission             // everything before was given to the GPU
	AtRead                   // everything before was read by the GPU
)

// A Buffer is a command buffer to be run.
type Buffer struct {
	Address uint64 // GPU virtual address
	Length  uint32 // bytes
	Private []byte // the driver's, from now on
	Null    bool   // it only does what others can see through fences
	// Progress is the value that the progress fence has afterwards; for hardware queues.
	Progress uint64
}

// A run is a buffer on its way.
type run struct {
	Buffer
	queue *Queue
	id    uint32 // SubmissionFenceID of its latest submission
	since uint64 // when its queue came into the line
	epoch *epoch // of its packet
	bytes int    // likewise
	again bool   // it was at the GPU before
	read  bool   // the GPU has read its commands
	dead  bool   // its queue is gone: it is not submitted again, and nobody hears of it
}

func (r *run) flags() (f ddi.SubmitCommandFlags) {
	if r.again {
		f |= ddi.SubmitResubmission
	}
	if r.Null {
		f |= ddi.SubmitNullRendering
	}
	return f
}

type kind uint8

const (
	bufferPacket kind = iota
	waitPacket
	signalPacket
)

type packet struct {
	kind   kind
	when   When
	epoch  *epoch
	bytes  int // in Device.Load
	gate   Gate
	signal Signal
	run    *run
}

// packets is a queue of packets that can also take some back at its front.
type packets struct {
	list []packet
	head int
}

func (q *packets) len() int       { return len(q.list) - q.head }
func (q *packets) first() *packet { return &q.list[q.head] }

func (q *packets) push(p packet) {
	if q.head > 64 && q.head*2 > len(q.list) {
		n := copy(q.list, q.list[q.head:])
		clear(q.list[n:])
		q.list, q.head = q.list[:n], 0
	}
	q.list = append(q.list, p)
}

func (q *packets) pop() {
	q.list[q.head] = packet{}
	if q.head++; q.head == len(q.list) {
		q.list, q.head = q.list[:0], 0
	}
}

// pushFront puts runs back, first one first.
func (q *packets) pushFront(rs []*run) {
	if q.head < len(rs) {
		room := len(rs)
		list := make([]packet, room+q.len(), 2*(room+q.len()))
		copy(list[room:], q.list[q.head:])
		q.list, q.head = list, room
	}
	q.head -= len(rs)
	for i, r := range rs {
		q.list[q.head+i] = packet{kind: bufferPacket, epoch: r.epoch, bytes: r.bytes, run: r}
	}
}
