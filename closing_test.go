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
