package kernel

import (
	"math/rand/v2"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// A reader sees what a writer writes, whenever it looks: in order, and as many as are not lost.
func TestLogReaderAgainstModel(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 5))
		g := &fenceLog{memory: newLogMemory(1, abi.NativeFenceLogSignals, func() {}), entries: 84}
		g.index = rng.Uint32N(84)
		g.wraps = rng.Uint32N(3) - 2
		written, read, lost := uint64(0), uint64(0), uint64(0)
		index, wraps := g.index, g.wraps
		g.memory.need()[0].Store(uint64(index) | uint64(wraps)<<32)
		for range 50 {
			for range rng.IntN(120) {
				written++
				g.memory.need()[(logHeader+uint64(index)*logEntry)/8].Store(written)
				if index++; index == 84 {
					index, wraps = 0, wraps+1
				}
				g.memory.need()[0].Store(uint64(index) | uint64(wraps)<<32)
			}
			n, broken := g.read(func(e abi.NativeFenceLogEntry) {
				if read++; e.FenceValue < read {
					t.Fatalf("seed %d: %d after %d", seed, e.FenceValue, read-1)
				}
				read = e.FenceValue
			})
			lost += n
			if broken || g.news() || read != written && n == 0 {
				t.Fatalf("seed %d: broken %v, news %v, read %d of %d", seed, broken, g.news(), read, written)
			}
		}
		if lost == 0 {
			t.Errorf("seed %d: nothing was lost", seed)
		}
	}
}

// A GPU writes while the kernel reads: every event is read or counted as lost, in order. Only
// the oldest that a full log holds may be the one that is being written in its place.
func TestLogHammer(t *testing.T) {
	const all = 300_000
	g := &fenceLog{memory: newLogMemory(1, abi.NativeFenceLogSignals, func() {}), entries: 84}
	written := make(chan struct{})
	go func() {
		defer close(written)
		index, wraps := uint64(0), uint64(0)
		for v := range uint64(all) {
			g.memory.Store(logHeader+index*logEntry, 8, v)
			if index++; index == 84 {
				index, wraps = 0, wraps+1
			}
			g.memory.Store(0, 8, index|wraps<<32)
		}
	}()
	total, lost := uint64(0), uint64(0)
	for end := false; !end; {
		select {
		case <-written:
			end = true // once more
		default:
		}
		var batch []uint64
		n, broken := g.read(func(e abi.NativeFenceLogEntry) { batch = append(batch, e.FenceValue) })
		lost += n
		total += n
		for i, v := range batch {
			if want := total + uint64(i); v != want && (i > 0 || v%84 != want%84 || v < want) {
				t.Fatalf("event %d of %d that were read is %d, want %d", i, len(batch), v, want)
			}
		}
		if total += uint64(len(batch)); broken {
			t.Fatal("broken")
		}
	}
	if total != all {
		t.Errorf("%d of %d were read or lost (%d)", total, uint64(all), lost)
	}
}
