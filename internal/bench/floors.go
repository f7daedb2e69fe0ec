package bench

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The floors that are Go's: what a Go program pays without dxgsync. The floors of
// the machine are in bench/floors.c.
var goFloors = map[string]func() float64{
	"B1.handle_value_called":                      calledLoad,
	"B2.heap_object_create_drop":                  heapObject,
	"B3.chan_unbuffered_procs2.rtt":               channelPingPong,
	"B3.own_chan_10k.signal_per_waiter":           func() float64 { return ownChannels(false) },
	"B3.own_chan_10k.one_at_a_time_until_ran":     func() float64 { return ownChannels(true) },
	"B5.blocked_in_futex_10000.rss_per_goroutine": blockedThreads,
	"B6.million_heap_objects_total":               millionObjects,
}

type holder struct{ word atomic.Uint64 }

//go:noinline
func (h *holder) value() uint64 { return h.word.Load() }

var sink atomic.Uint64

func calledLoad() float64 {
	h := &holder{}
	return loop(func(n int) {
		var sum uint64
		for range n {
			sum += h.value()
		}
		sink.Store(sum)
	})
}

// plainFence is what the simplest fence of one process would be: 64 bytes with a
// lock, a value and a list of waiters.
type plainFence struct {
	_     sync.Mutex
	value uint64
	_     []chan struct{} // who waits
	_     [24]byte
}

// kept is where objects go so that they must be on the heap.
var kept *plainFence

func heapObject() float64 {
	return loop(func(n int) {
		for i := range n {
			kept = &plainFence{value: uint64(i)}
		}
		runtime.KeepAlive(kept)
	})
}

func channelPingPong() float64 {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	ping, pong := make(chan struct{}), make(chan struct{})
	go func() {
		for range ping {
			pong <- struct{}{}
		}
	}()
	defer close(ping)
	return loop(func(n int) {
		for range n {
			ping <- struct{}{}
			<-pong
		}
	})
}

const crowd = 10_000

// ownChannels wakes 10,000 goroutines through a channel each: the time for the
// send, or until the woken one has run.
func ownChannels(untilRan bool) float64 {
	chans := make([]chan struct{}, crowd)
	var asleep, ran atomic.Int64
	for i := range chans {
		chans[i] = make(chan struct{}, 1)
		go func() {
			asleep.Add(1)
			<-chans[i]
			ran.Add(1)
		}()
	}
	settle(&asleep)
	begin := time.Now()
	for i := range chans {
		chans[i] <- struct{}{}
		for untilRan && ran.Load() <= int64(i) {
			runtime.Gosched()
		}
	}
	took := time.Since(begin)
	for ran.Load() < crowd {
		runtime.Gosched()
	}
	return float64(took.Nanoseconds()) / crowd
}

// settle waits until a crowd has announced itself and has had time to park.
func settle(asleep *atomic.Int64) {
	for asleep.Load() < crowd {
		runtime.Gosched()
	}
	for range 100 {
		runtime.Gosched()
	}
}

// blockedThreads is the memory of a goroutine that blocks in a futex call, which
// costs it a thread. 1,000 stand for 10,000: it is linear and kinder.
func blockedThreads() float64 {
	const n = 1000
	words := make([]uint32, n)
	before := resident()
	var done sync.WaitGroup
	for i := range words {
		done.Go(func() {
			for atomic.LoadUint32(&words[i]) == 0 {
				_, _, _ = syscall.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&words[i])), 128, 0, 0, 0, 0)
			}
		})
	}
	for threads() < n {
		runtime.Gosched()
	}
	used := float64(resident()-before) / n
	for i := range words {
		atomic.StoreUint32(&words[i], 1)
		_, _, _ = syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&words[i])), 129, 1, 0, 0, 0)
	}
	done.Wait()
	return used
}

func millionObjects() float64 {
	const n = 1_000_000
	begin := time.Now()
	all := make([]*plainFence, n)
	for i := range all {
		all[i] = &plainFence{value: uint64(i)}
	}
	took := time.Since(begin)
	runtime.KeepAlive(all)
	return float64(took.Microseconds()) / 1000
}

// resident is the process's resident memory in bytes, threads its thread count.
func resident() int { return statusField("VmRSS") * 1024 }
func threads() int  { return statusField("Threads") }

func statusField(name string) int {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			return n
		}
	}
	return 0
}
