package dxgsync

import (
	"errors"
	"sync"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// No wait is satisfied by the end of its device, whenever it begins.
func TestWaitsWhileTheDeviceCloses(t *testing.T) {
	everywhere(t, func(t *testing.T, w where) {
		s := w.device(t).s
		for range 50 {
			d := newDevice(t, s)
			f := newFence(t, d, FenceOptions{Shared: w.shared})
			var wg sync.WaitGroup
			start := make(chan struct{})
			for range 4 {
				wg.Go(func() {
					<-start
					if err := f.Wait(bg, 1); !errors.Is(err, abi.StatusDeviceRemoved) && !errors.Is(err, ErrClosed) {
						t.Errorf("a wait ended with %v", err)
					}
				})
			}
			close(start)
			want(t, "close", d.Close(), nil)
			wg.Wait()
		}
	})
}

// Whoever submits while the queue, its device or the session is closed gets there or is told,
// and touches no memory that is gone.
func TestSubmissionsWhileClosing(t *testing.T) {
	queues := map[string]func(*Device) (submitter, error){
		"context":    func(d *Device) (submitter, error) { return d.NewContext(ContextOptions{}) },
		"user queue": func(d *Device) (submitter, error) { return d.NewUserQueue(UserQueueOptions{}) },
	}
	closes := map[string]func(*Device, submitter) error{
		"queue":   func(_ *Device, q submitter) error { return q.Close() },
		"device":  func(d *Device, _ submitter) error { return d.Close() },
		"session": func(d *Device, _ submitter) error { return d.s.Close() },
	}
	for where, options := range map[string][]Option{"here": nil, "daemon": {WithDaemon(daemon(t))}} {
		for kind, open := range queues {
			for what, end := range closes {
				t.Run(where+" "+kind+" "+what, func(t *testing.T) {
					for range 8 {
						d := openDevice(t, options...)
						q, err := open(d)
						want(t, "queue", err, nil)
						var submitting, busy sync.WaitGroup
						for range 3 {
							busy.Add(1)
							submitting.Go(func() {
								n, err := 0, error(nil)
								for ; err == nil || errors.Is(err, abi.StatusNoMemory); n++ { // the queue is full
									if n == 20 {
										busy.Done()
									}
									_, err = q.Submit(commands())
								}
								if n <= 20 || !errors.Is(err, ErrClosed) {
									t.Errorf("after %d submissions: %v", n, err)
								}
								if n <= 20 {
									busy.Done()
								}
							})
						}
						busy.Wait()
						want(t, "close", end(d, q), nil)
						submitting.Wait()
					}
				})
			}
		}
	}
}
