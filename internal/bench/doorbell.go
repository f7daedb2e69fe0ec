package bench

import (
	"runtime"
	"time"

	"github.com/dxgsync/dxgsync"
)

// A submitter is a queue that is submitted to by a call, or by ringing a doorbell.
type submitter interface {
	Submit(*dxgsync.CommandBuffer) (dxgsync.Point, error)
}

// submitToRun measures from the submission of an empty buffer to a hardware queue until its
// progress is there.
func submitToRun(d *dxgsync.Device, _ [2]*dxgsync.Fence) (float64, error) {
	q, err := d.NewHwQueue(dxgsync.HwQueueOptions{})
	if err != nil {
		return 0, err
	}
	return toRun(q)
}

// ringToRun measures the same for a doorbell.
func ringToRun(d *dxgsync.Device, _ [2]*dxgsync.Fence) (float64, error) {
	q, err := d.NewUserQueue(dxgsync.UserQueueOptions{})
	if err != nil {
		return 0, err
	}
	return toRun(q)
}

func toRun(q submitter) (float64, error) {
	cb := new(dxgsync.CommandBuffer)
	return typical(func() error {
		p, err := q.Submit(cb)
		if err != nil {
			return err
		}
		for p.Fence.Value() < p.Value { // a wait would have somebody wake us
			runtime.Gosched()
		}
		return nil
	})
}

// typical is the median of many steps, in nanoseconds: on a machine that does other
// things too, the mean of what takes two processors at once is that of its time slices.
func typical(step func() error) (float64, error) {
	const warm, steps = 500, 5000
	took := make([]float64, 0, steps)
	for i := range warm + steps {
		begin := time.Now()
		if err := step(); err != nil {
			return 0, err
		}
		if i >= warm {
			took = append(took, float64(time.Since(begin).Nanoseconds()))
		}
	}
	ns, _ := median(took)
	return ns, nil
}
