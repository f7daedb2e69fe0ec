package bench

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/host"
	"github.com/dxgsync/dxgsync/internal/softgpu"
)

// vsyncJitter drives a display in real time, as a kernel with a timer would, for some
// seconds. It returns the distance of notifications from their ideal moment that one
// in a hundred exceeds, in nanoseconds.
func vsyncJitter(hz, seconds int) func() (float64, error) {
	return func() (float64, error) {
		p, err := adapter.Load("neutral")
		if err != nil {
			return 0, err
		}
		p.Displays[0].Refresh = uint32(hz) * 1000
		alarm, err := host.NewAlarm()
		if err != nil {
			return 0, err
		}
		defer alarm.Close()
		d := &vsyncs{begin: time.Now(), hz: int64(hz), start: -1}
		gpu := softgpu.New(p)
		if s := gpu.StartDevice(d); s != abi.StatusSuccess {
			return 0, fmt.Errorf("start the GPU: %w", s)
		}
		defer gpu.StopDevice()
		n, s := gpu.CreatePeriodicFrameNotification(ddi.CreatePeriodicFrameNotificationArgs{})
		if s != abi.StatusSuccess {
			return 0, fmt.Errorf("create a notification: %w", s)
		}
		for len(d.late) < hz*seconds {
			at, _ := gpu.Next()
			alarm.Set(time.Duration(at - d.Now()))
			if err := alarm.Wait(); err != nil {
				return 0, err
			}
			gpu.Advance(d.Now())
		}
		if s := gpu.DestroyPeriodicFrameNotification(n); s != abi.StatusSuccess {
			return 0, fmt.Errorf("destroy a notification: %w", s)
		}
		return percentile(d.late, 99), nil
	}
}

// vsyncs are the callbacks of a GPU that note how late each vertical sync of target 0
// was. The first interval begins when the clock is first read.
type vsyncs struct {
	ddi.Callbacks // nil: what else there is, this GPU does not call

	begin time.Time
	hz    int64
	start int64 // when the target was switched on; -1: not yet
	count int64
	late  []float64
}

func (v *vsyncs) NotifyInterrupt(i ddi.Interrupt) {
	now := v.Now()
	v.count += int64(i.(ddi.PeriodicMonitoredFenceSignaled).Count)
	v.late = append(v.late, math.Abs(float64(now-v.start-v.count*1e9/v.hz)))
}

func (v *vsyncs) IsFeatureEnabled(abi.FeatureID) bool { return false }

func (v *vsyncs) Now() int64 {
	now := int64(time.Since(v.begin))
	if v.start < 0 {
		v.start = now
	}
	return now
}

func (v *vsyncs) SignalEvent(ddi.DxgCpuEvent) abi.Status { return abi.StatusInvalidParameter }
func (v *vsyncs) Rearm()                                 {}

// percentile is the smallest of the values that p percent of them do not exceed.
func percentile(values []float64, p int) float64 {
	s := slices.Sorted(slices.Values(values))
	return s[(len(s)*p+99)/100-1]
}
