package dxgsync

import (
	"context"
	"errors"
	"os"
	"runtime"
	"sync"
	"testing"
)

// Whatever ends the stream tells the function that runs, and does without those behind it.
func TestWorkIsToldWhatEnded(t *testing.T) {
	ends := map[string]func(d *Device, q queue) error{
		"queue":   func(_ *Device, q queue) error { return q.Close() },
		"device":  func(d *Device, _ queue) error { return d.Close() },
		"session": func(d *Device, _ queue) error { return d.s.Close() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			for _, remote := range []bool{false, true} {
				for _, hardware := range []bool{false, true} {
					d := where{remote: remote}.device(t)
					var q queue = newContext(t, d, 0)
					if hardware {
						var err error
						q, err = d.NewHwQueue(HwQueueOptions{})
						want(t, "queue", err, nil)
					}
					running := make(chan struct{})
					first, err := q.Do(func(ctx context.Context) error {
						close(running)
						<-ctx.Done()
						return context.Cause(ctx)
					})
					want(t, "do", err, nil)
					next, err := q.Do(func(context.Context) error { t.Error("the next ran"); return nil })
					want(t, "do", err, nil)
					<-running
					want(t, "end", end(d, q), nil)
					for _, j := range []*Job{first, next} {
						if err := j.Wait(bg); !errors.Is(err, os.ErrClosed) {
							t.Errorf("remote %v, hardware %v: %v", remote, hardware, err)
						}
					}
				}
			}
		})
	}
}

// A function that never returns normally gives its turn up all the same.
func TestWorkThatExits(t *testing.T) {
	bothDoors(t, func(t *testing.T, d *Device) {
		c := newContext(t, d, 0)
		j, err := c.Do(func(context.Context) error { runtime.Goexit(); return nil })
		want(t, "do", err, nil)
		want(t, "the next", submit(t, c, commands()).Wait(bg), nil)
		want(t, "the job", j.Wait(bg), nil)
	})
}

// Many goroutines on one stream, which closes under them.
func TestStreamHammer(t *testing.T) {
	everyQueue(t, func(t *testing.T, d *Device, q queue) {
		const workers, rounds = 8, 30
		f, b := newFence(t, d, FenceOptions{}), newBuffer(t, d, 64)
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for range rounds {
					p, err := q.Submit(commands().Fill(b, 1))
					var job *Job
					for _, step := range []func() error{
						func() error { return err },
						func() error { return q.Wait(p) },
						func() error { return q.Signal(f.At(1)) },
						func() (err error) {
							job, err = q.Do(func(context.Context) error { return nil })
							return err
						},
						func() error { return job.Wait(bg) },
						func() error { return p.Wait(bg) },
					} {
						if err := step(); err != nil {
							if !errors.Is(err, ErrClosed) {
								t.Error(err)
							}
							return
						}
					}
				}
			})
		}
		want(t, "a start", f.Wait(bg, 1), nil)
		want(t, "close", q.Close(), nil)
		wg.Wait()
		want(t, "the device", d.Err(), nil)
		want(t, "idle", d.WaitIdle(bg), nil)
	})
}
