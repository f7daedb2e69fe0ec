package dxgsync

import (
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// What is complete makes room: many times the command memory goes through a stream that
// holds one chunk.
func TestCommandMemoryIsUsedAgain(t *testing.T) {
	everyQueue(t, func(t *testing.T, d *Device, q queue) {
		b := newBuffer(t, d, 8)
		cb := commands()
		for range 256 {
			cb.Fill(b, 1)
		}
		for range 40 {
			want(t, "the end", submit(t, q, cb).Wait(bg), nil)
		}
		if m := memoryOf(q); len(m.chunks) != 1 {
			t.Errorf("%d chunks", len(m.chunks))
		}
	})
}

// What is not complete is not overwritten, and bounded.
func TestCommandMemoryIsBounded(t *testing.T) {
	everyQueue(t, func(t *testing.T, d *Device, q queue) {
		gate, b := newFence(t, d, FenceOptions{}), newBuffer(t, d, 8)
		want(t, "wait", q.Wait(gate.At(1)), nil)
		long := commands()
		for range (MaxCommands - 8) / 32 {
			long.Fill(b, 1)
		}
		n := 0
		var last Point
		for {
			p, err := q.Submit(long)
			if err != nil {
				want(t, "the last", err, abi.StatusNoMemory)
				break
			}
			last = p
			n++
		}
		if n < maxCommandMemory/MaxCommands-1 || n > maxCommandMemory/MaxCommands {
			t.Errorf("%d command buffers", n)
		}
		want(t, "open", gate.Signal(1), nil)
		want(t, "all of them", last.Wait(bg), nil)
		want(t, "the next", submit(t, q, long).Wait(bg), nil)
	})
}

func memoryOf(q queue) *commandMemory {
	if c, ok := q.(*Context); ok {
		return &c.memory
	}
	return &q.(*HwQueue).memory
}

func TestBufferLives(t *testing.T) {
	bothDoors(t, func(t *testing.T, d *Device) {
		c := newContext(t, d, 0)
		for range 3 {
			b := newBuffer(t, d, 100)
			if b.Size() != 100 || len(b.Bytes()) != 100 || cap(b.Bytes()) != 100 || b.GPUAddress() == 0 || b.Handle() == 0 {
				t.Fatalf("%+v", b)
			}
			if r := b.Range(10, 20); r.Address() != b.GPUAddress()+10 || b.Range(90, 11).Address() != 0 || b.Range(-1, 1).Address() != 0 {
				t.Errorf("%+v", r)
			}
			want(t, "fill", submit(t, c, commands().Fill(b.Range(1, 2), 0x0202)).Wait(bg), nil)
			if b.Bytes()[1] != 2 || b.Bytes()[3] != 0 {
				t.Errorf("% x", b.Bytes()[:8])
			}
			want(t, "close", b.Close(), nil)
			want(t, "close again", b.Close(), ErrClosed)
		}
	})
}

// The GPU writes 32 bits of fences where it has no 64-bit atomics.
func TestNarrowCommands(t *testing.T) {
	for name, remote := range map[string]bool{"here": false, "daemon": true} {
		t.Run(name, func(t *testing.T) {
			d := narrowDevice(t, remote)
			c := newContext(t, d, 0)
			f := newFence(t, d, FenceOptions{Initial: 1<<33 + 5})
			p := submit(t, c, commands().Signal(f, 1<<33+7))
			want(t, "wait", f.Wait(bg, 1<<33+7), nil)
			want(t, "the end", p.Wait(bg), nil)
			want(t, "another", submit(t, c, commands().Write(f, 1<<33+8)).Wait(bg), nil)
			want(t, "wait", f.Wait(bg, 1<<33+8), nil)
		})
	}
}

func TestNodes(t *testing.T) {
	bothDoors(t, func(t *testing.T, d *Device) {
		nodes, err := d.Nodes()
		if err != nil {
			t.Fatal(err)
		}
		want := []Node{{0, abi.Engine3D, "3D", true}, {1, abi.EngineOther, "Compute", true}, {2, abi.EngineCopy, "Copy", true}}
		if len(nodes) != len(want) {
			t.Fatal(nodes)
		}
		for i := range want {
			if nodes[i] != want[i] {
				t.Errorf("%+v, want %+v", nodes[i], want[i])
			}
		}
	})
}

func TestPriority(t *testing.T) {
	bothDoors(t, func(t *testing.T, d *Device) {
		c, err := d.NewContext(ContextOptions{Priority: -7})
		if err != nil {
			t.Fatal(err)
		}
		get := abi.GetContextSchedulingPriority{HContext: c.Handle()}
		if st := d.s.GetContextSchedulingPriority(&get); st != abi.StatusSuccess || get.Priority != -7 {
			t.Error(st, get.Priority)
		}
		want(t, "too high", second(d.NewContext(ContextOptions{Priority: 8})), abi.StatusInvalidParameter)
	})
}

// A fence of a stream goes with it, not before.
func TestStreamOwnsItsFence(t *testing.T) {
	everyQueue(t, func(t *testing.T, d *Device, q queue) {
		p := submit(t, q, commands())
		want(t, "close the fence", p.Fence.Close(), abi.StatusInvalidParameter)
		want(t, "the end", p.Wait(bg), nil)
		want(t, "close the queue", q.Close(), nil)
		want(t, "wait", p.Fence.Wait(bg, p.Value+1), ErrClosed)
	})
}

func TestSharedBuffer(t *testing.T) {
	for name, remote := range map[string]bool{"here": false, "daemon": true} {
		t.Run(name, func(t *testing.T) {
			mine := where{remote: remote}.device(t)
			other := newDevice(t, mine.s)
			if remote {
				other = where{remote: remote}.device(t) // another session
			}
			b, err := mine.NewSharedBuffer(5000)
			want(t, "make", err, nil)
			file, err := b.Share()
			want(t, "share", err, nil)
			view, err := other.OpenBuffer(file)
			want(t, "open", err, nil)
			if view.Size() != 5000 {
				t.Fatal(view.Size())
			}
			want(t, "fill", submit(t, newContext(t, mine, 0), commands().Fill(b, 0x01010101)).Wait(bg), nil)
			if view.Bytes()[4999] != 1 {
				t.Error("the view has other memory")
			}
			want(t, "close", b.Close(), nil)
			want(t, "share again", second(b.Share()), ErrClosed)
			want(t, "fill", submit(t, newContext(t, other, 0), commands().Fill(view, 0x02020202)).Wait(bg), nil)
			if view.Bytes()[0] != 2 {
				t.Error("the memory has gone with its maker's view")
			}
			want(t, "close", view.Close(), nil)
			again, err := other.OpenBuffer(file)
			want(t, "open again", err, nil)
			want(t, "close", again.Close(), nil)

			f := newFence(t, mine, FenceOptions{Shared: true})
			fence, err := f.Share()
			want(t, "share a fence", err, nil)
			want(t, "open a fence", second(other.OpenBuffer(fence)), abi.StatusObjectTypeMismatch)
			want(t, "share what is not", second(newBuffer(t, mine, 1).Share()), abi.StatusInvalidParameter)
			_, _ = fence.Close(), file.Close()
			want(t, "open a closed file", second(other.OpenBuffer(file)), abi.StatusInvalidHandle)
		})
	}
}
