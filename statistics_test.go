package dxgsync

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
)

// Clocks, statistics and processes of an adapter, as both doors tell them.
func TestAskAnAdapter(t *testing.T) {
	doors(t, func(t *testing.T, d *Device) {
		s := d.Session()
		adapters, err := s.Adapters()
		if err != nil {
			t.Fatal(err)
		}
		a := adapters[0]
		now := func() uint64 {
			var ts unix.Timespec
			if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
				t.Fatal(err)
			}
			return uint64(ts.Nano())
		}
		var clock abi.QueryClockCalibration
		clock.HAdapter.Set(uint32(a.Handle()))
		before := now()
		if st := s.QueryClockCalibration(&clock); !st.OK() {
			t.Fatal(st)
		}
		const tolerance = 1_000_000 // nanoseconds, between two ways to read one clock
		cpu := clock.ClockData.CpuClockCounter.Get()
		if after := now(); cpu+tolerance < before || cpu > after+tolerance || clock.ClockData.GpuFrequency.Get() == 0 || clock.ClockData.GpuClockCounter.Get() == 0 {
			t.Errorf("the CPU's clock is at %d, between %d and %d; %+v", cpu, before, after, clock)
		}

		luid := a.LUID()
		var stats abi.QueryStatistics
		stats.Raw[0] = uint64(luid.LowPart) << 32 // type ADAPTER
		stats.Raw[1] = uint64(uint32(luid.HighPart))
		if st := s.QueryStatistics(&stats); !st.OK() || uint32(stats.Raw[3]) == 0 || stats.Raw[3]>>32 == 0 {
			t.Errorf("%v, segments and nodes %#x", st, stats.Raw[3])
		}

		ids := make([]uint32, 8)
		rec := abi.EnumProcesses{AdapterLuid: luid}
		if st := s.EnumProcesses(&rec, ids); !st.OK() || rec.BufferCount != 1 || ids[0] != uint32(os.Getpid()) {
			t.Errorf("%v, %d processes, the first %d", st, rec.BufferCount, ids[0])
		}
		if st := s.EnumProcesses(&rec, nil); !st.OK() || rec.BufferCount != 1 {
			t.Errorf("%v, there are %d processes", st, rec.BufferCount)
		}
	})
}
