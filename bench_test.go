package dxgsync

import (
	"runtime"
	"testing"
)

func BenchmarkValue(b *testing.B) {
	f := newFence(b, openDevice(b), FenceOptions{})
	var sum uint64
	for b.Loop() {
		sum += f.Value()
	}
	_ = sum
}

func BenchmarkSignalNone(b *testing.B) {
	for name, shared := range map[string]bool{"heap": false, "page": true} {
		b.Run(name, func(b *testing.B) {
			f := newFence(b, openDevice(b), FenceOptions{Shared: shared})
			v := uint64(0)
			for b.Loop() {
				v++
				_ = f.Signal(v)
			}
		})
	}
}

func BenchmarkWaitSatisfied(b *testing.B) {
	f := newFence(b, openDevice(b), FenceOptions{Initial: 1})
	for b.Loop() {
		_ = f.Wait(bg, 1)
	}
}

func BenchmarkWaitAny32Satisfied(b *testing.B) {
	d := openDevice(b)
	points := make([]Point, 32)
	for i := range points {
		points[i] = newFence(b, d, FenceOptions{}).At(5)
	}
	_ = points[31].Fence.Signal(5)
	for b.Loop() {
		_, _ = WaitAny(bg, points...)
	}
}

func BenchmarkPingpongGoroutine(b *testing.B) {
	for name, shared := range map[string]bool{"heap": false, "page": true} {
		b.Run(name, func(b *testing.B) {
			d := openDevice(b)
			ping, pong := newFence(b, d, FenceOptions{Shared: shared}), newFence(b, d, FenceOptions{Shared: shared})
			go func() {
				for v := uint64(1); ping.Wait(bg, v) == nil && !ping.Lost(); v++ {
					_ = pong.Signal(v)
				}
			}()
			v := uint64(0)
			for b.Loop() {
				v++
				_ = ping.Signal(v)
				_ = pong.Wait(bg, v)
			}
			_ = ping.Signal(Lost)
		})
	}
}

func BenchmarkChannelPingpong(b *testing.B) {
	ping, pong := make(chan int), make(chan int)
	go func() {
		for range ping {
			pong <- 1
		}
	}()
	for b.Loop() {
		ping <- 1
		<-pong
	}
	close(ping)
}

func BenchmarkCreateDestroy(b *testing.B) {
	for name, shared := range map[string]bool{"heap": false, "page": true} {
		b.Run(name, func(b *testing.B) {
			d := openDevice(b)
			b.ReportAllocs()
			for b.Loop() {
				f, err := d.NewFence(FenceOptions{Shared: shared})
				if err != nil {
					b.Fatal(err)
				}
				_ = f.Close()
			}
		})
	}
}

func BenchmarkMillion(b *testing.B) {
	for b.Loop() {
		d := openDevice(b)
		fs := make([]*Fence, 1e6)
		for i := range fs {
			fs[i] = newFence(b, d, FenceOptions{})
		}
		runtime.KeepAlive(fs)
	}
}
