package dxgsync

import (
	"time"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
)

// MaxCommands is how long a command buffer may be, in bytes.
const MaxCommands = cmdbuf.MaxSize - maxTail

// maxTail is what Submit appends at most: a signal of the progress fence.
const maxTail = 40

// A CommandBuffer is a list of commands for the GPU, to be submitted to a [Context] or
// a [HwQueue]. Its methods append a command and return it. The zero value is empty and
// ready to use:
//
//	cb := new(dxgsync.CommandBuffer).Copy(frame, upload).Signal(ready, 1)
//
// It says fences and buffers where the GPU takes addresses: they must be open until the
// commands were executed, or the GPU faults. Package cmdbuf is the format below. Not
// safe for concurrent use.
type CommandBuffer struct {
	commands *cmdbuf.Buffer
	fences   []*Fence // that are written
	awaited  []*Fence // that the GPU waits for
	memory   []Range
	err      error
}

// Memory is what commands work on: a [Buffer] as a whole, or a [Range] of one. Only
// this package has such types.
type Memory interface{ span() Range }

// Write stores v as the value of a fence, higher or lower, without telling anybody: who
// waits for it hears of it at the next signal or end of a command buffer of the node.
func (cb *CommandBuffer) Write(f *Fence, v uint64) *CommandBuffer {
	return cb.store(f, v, func(b *cmdbuf.Buffer, va uint64, narrow bool) {
		if narrow {
			b.Write32(va, uint32(v))
		} else {
			b.Write64(va, v)
		}
	})
}

// Signal stores v as the value of a fence and wakes whoever waits for it. What the
// commands before it wrote is visible to them. Unlike [Context.Signal] it also takes
// fences of other devices of this process, on the same adapter.
func (cb *CommandBuffer) Signal(f *Fence, v uint64) *CommandBuffer {
	return cb.store(f, v, func(b *cmdbuf.Buffer, va uint64, narrow bool) {
		if narrow {
			b.Signal32(va, uint32(v))
		} else {
			b.Signal(va, v)
		}
	})
}

func (cb *CommandBuffer) store(f *Fence, _ uint64, add func(*cmdbuf.Buffer, uint64, bool)) *CommandBuffer {
	switch {
	case f == nil || f.gpu == 0:
		return cb.fail(abi.StatusInvalidParameter)
	case f.closed.Load():
		return cb.fail(ErrClosed)
	}
	cb.fences = append(cb.fences, f)
	add(cb.list(), f.gpu, f.narrow())
	return cb
}

// WaitNative has the GPU wait until a native fence has reached v: what comes after it in
// this stream waits, and the engine goes on with others. No CPU has a part in it.
func (cb *CommandBuffer) WaitNative(f *NativeFence, v uint64) *CommandBuffer {
	if !cb.usesNative(f) {
		return cb
	}
	cb.awaited = append(cb.awaited, &f.Fence)
	cb.list().Wait(f.gpu, v, uint32(f.handle))
	return cb
}

// SignalNative stores v as the value of a native fence and lets go on what waits for it on
// GPUs; a CPU is interrupted if somebody there waits for v or less. What the commands
// before it wrote is visible to all of them. [abi.StatusAccessDenied] for a view that may
// not signal.
func (cb *CommandBuffer) SignalNative(f *NativeFence, v uint64) *CommandBuffer {
	switch {
	case !cb.usesNative(f):
		return cb
	case f.rights&abi.GrantSignal == 0:
		return cb.fail(abi.StatusAccessDenied)
	}
	cb.fences = append(cb.fences, &f.Fence)
	cb.list().SignalNative(f.gpu, v, f.monitored, uint32(f.handle))
	return cb
}

func (cb *CommandBuffer) usesNative(f *NativeFence) bool {
	switch {
	case f == nil || f.gpu == 0:
		cb.fail(abi.StatusInvalidParameter)
	case f.closed.Load():
		cb.fail(ErrClosed)
	default:
		return true
	}
	return false
}

// Copy copies as many bytes as the shorter of the two has. They may overlap.
func (cb *CommandBuffer) Copy(dst, src Memory) *CommandBuffer {
	d, s := cb.use(dst), cb.use(src)
	if n := min(d.size, s.size); cb.err == nil && n > 0 {
		cb.list().Copy(d.Address(), s.Address(), uint64(n))
	}
	return cb
}

// Fill writes the four bytes of pattern, lowest first, again and again.
func (cb *CommandBuffer) Fill(dst Memory, pattern uint32) *CommandBuffer {
	if d := cb.use(dst); cb.err == nil && d.size > 0 {
		cb.list().Fill(d.Address(), pattern, uint64(d.size))
	}
	return cb
}

// Delay has the engine do nothing for a time, as work that takes long. It can be
// preempted. A time below 0 is 0.
func (cb *CommandBuffer) Delay(t time.Duration) *CommandBuffer {
	cb.list().Delay(uint64(max(t, 0)), 0)
	return cb
}

// Hang never ends: it provokes what [TDR] is for.
func (cb *CommandBuffer) Hang() *CommandBuffer {
	cb.list().Hang()
	return cb
}

// Add appends commands of package cmdbuf, with addresses of their own: see
// [Fence.GPUAddress] and [Buffer.GPUAddress].
func (cb *CommandBuffer) Add(commands ...cmdbuf.Command) *CommandBuffer {
	cb.list().Add(commands...)
	return cb
}

// Reset makes it empty again, without its error.
func (cb *CommandBuffer) Reset() *CommandBuffer {
	*cb = CommandBuffer{}
	return cb
}

// Err is what was wrong with the first command that could not be appended:
// [abi.StatusInvalidParameter] for a fence that is nil, or that the GPU has no address
// of (SyncObjectNoGPUAccess), and for memory that is nil or beyond its buffer;
// [abi.StatusAccessDenied] for a native fence that this view may not signal; [ErrClosed].
// Submit returns it, too.
func (cb *CommandBuffer) Err() error { return cb.err }

func (cb *CommandBuffer) fail(err error) *CommandBuffer {
	if cb.err == nil {
		cb.err = err
	}
	return cb
}

func (cb *CommandBuffer) list() *cmdbuf.Buffer {
	if cb.commands == nil {
		cb.commands = cmdbuf.New()
	}
	return cb.commands
}

func (cb *CommandBuffer) use(m Memory) Range {
	var r Range
	switch m := m.(type) {
	case *Buffer:
		if m != nil {
			r = m.span()
		}
	case Range:
		r = m
	}
	switch {
	case r.buffer == nil:
		cb.fail(abi.StatusInvalidParameter)
	case r.buffer.closed.Load():
		cb.fail(ErrClosed)
	default:
		cb.memory = append(cb.memory, r)
	}
	return r
}

// finish is the buffer for a stream of d, with tail behind it.
func (cb *CommandBuffer) finish(d *Device, tail *cmdbuf.Buffer) ([]byte, error) {
	if cb == nil {
		return nil, abi.StatusInvalidParameter
	}
	if cb.err != nil {
		return nil, cb.err
	}
	if cb.list().Len() > MaxCommands {
		return nil, abi.StatusInvalidParameter
	}
	for _, list := range [][]*Fence{cb.fences, cb.awaited} {
		for _, f := range list {
			if err := d.reaches(f.dev, f.closed.Load()); err != nil {
				return nil, err
			}
		}
	}
	for _, r := range cb.memory {
		if err := d.reaches(r.buffer.dev, r.buffer.closed.Load()); err != nil {
			return nil, err
		}
	}
	b := cb.list().Bytes()
	return append(b[:len(b):len(b)], tail.Bytes()[cmdbuf.HeaderSize:]...), nil
}

// reaches says whether contexts of d see what other has: GPU virtual addresses are those
// of a process on an adapter.
func (d *Device) reaches(other *Device, closed bool) error {
	switch {
	case other.s != d.s || other.luid != d.luid:
		return abi.StatusInvalidParameter
	case closed || other.closed.Load():
		return ErrClosed
	}
	return nil
}
