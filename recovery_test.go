package dxgsync

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/server"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// quick finds hung engines within a millisecond.
var quick = TDR{Delay: time.Millisecond}

// hasty runs a test where engines are found hung quickly, with two sessions of one kernel
// where there is a daemon, and one twice where there is none.
func hasty(t *testing.T, test func(t *testing.T, mine, other *Session)) {
	t.Run("here", func(t *testing.T) {
		s := openDevice(t, WithTDR(quick)).s
		test(t, s, s)
	})
	t.Run("daemon", func(t *testing.T) {
		address := fmt.Sprintf("@dxgsync-test-%d-tdr", os.Getpid())
		daemon, err := server.NewDaemon(kernel.Config{TDR: vidsch.TDR{Delay: int64(quick.Delay)}}, server.Config{KernelID: 1})
		if err == nil {
			err = daemon.Open(address)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { daemon.Close() })
		test(t, openDevice(t, WithDaemon(address)).s, openDevice(t, WithDaemon(address)).s)
	})
}

func wantLoss(t *testing.T, err error, state abi.DeviceExecutionState) *LossError {
	t.Helper()
	var loss *LossError
	if !errors.As(err, &loss) || loss.State != state {
		t.Fatalf("%v, want %v", err, state)
	}
	want(t, "the loss", err, ErrLost)
	want(t, "the loss", err, abi.StatusDeviceRemoved)
	return loss
}

// A hung device is lost, told so everywhere, and made anew; another that waits behind it
// on the same engine goes on.
func TestRecoveryFromAHang(t *testing.T) {
	hasty(t, func(t *testing.T, mine, other *Session) {
		innocent := newDevice(t, other)
		for _, hardware := range []bool{false, true} {
			guilty := newDevice(t, mine)
			var q queue = newContext(t, guilty, 0)
			if hardware {
				var err error
				if q, err = guilty.NewHwQueue(HwQueueOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			p := submit(t, q, commands().Hang())
			behind := submit(t, newContext(t, innocent, 0), commands())
			wantLoss(t, guilty.WaitIdle(bg), abi.DeviceExecutionHung)
			if !p.Fence.Lost() {
				t.Error("the progress fence is not lost")
			}
			want(t, "the innocent's end", behind.Wait(bg), nil)
			if behind.Fence.Lost() || innocent.Err() != nil {
				t.Errorf("the innocent: %v", innocent.Err())
			}
			wantLoss(t, second(q.Submit(commands())), abi.DeviceExecutionHung)
			wantLoss(t, q.Wait(p), abi.DeviceExecutionHung)
			want(t, "close", guilty.Close(), nil)

			again := newDevice(t, mine)
			want(t, "the work again", submit(t, newContext(t, again, 0), commands()).Wait(bg), nil)
			want(t, "close", again.Close(), nil)
		}
	})
}

func TestFaults(t *testing.T) {
	bothDoors(t, func(t *testing.T, d *Device) {
		s := d.s
		fault, err := d.Fault()
		if fault != nil || err != nil {
			t.Fatal(fault, err)
		}
		for _, c := range []struct {
			command cmdbuf.Command
			state   abi.DeviceExecutionState
			fault   *Fault
			text    string
		}{
			{
				cmdbuf.Write64{VA: 0x40},
				abi.DeviceExecutionDMAPageFault, &Fault{0x40, true},
				"dxgsync: device lost: its work touched what is not mapped (ERROR_DMAPAGEFAULT): write to 0x40",
			},
			{
				cmdbuf.Fault{Kind: cmdbuf.FaultRead, Address: 0x80},
				abi.DeviceExecutionDMAPageFault, &Fault{0x80, false},
				"dxgsync: device lost: its work touched what is not mapped (ERROR_DMAPAGEFAULT): read from 0x80",
			},
			{cmdbuf.Fault{}, abi.DeviceExecutionDMAFault, nil, "dxgsync: device lost: its commands could not be executed (ERROR_DMAFAULT)"},
		} {
			d := newDevice(t, s)
			submit(t, newContext(t, d, 0), commands().Add(c.command))
			loss := wantLoss(t, d.WaitIdle(bg), c.state)
			if loss.Error() != c.text {
				t.Errorf("%q, want %q", loss.Error(), c.text)
			}
			fault, err := d.Fault()
			if err != nil || (fault == nil) != (c.fault == nil) || fault != nil && *fault != *c.fault {
				t.Errorf("%v: %v, %v", c.command, fault, err)
			}
		}
		want(t, "another device", d.Err(), nil)
	})
}

func TestTDROff(t *testing.T) {
	d := openDevice(t, WithTDR(TDR{Off: true, Delay: 1}))
	p := submit(t, newContext(t, d, 0), commands().Hang())
	want(t, "another engine", submit(t, newContext(t, d, 1), commands()).Wait(bg), nil)
	if p.Fence.Lost() || d.Err() != nil {
		t.Error(d.Err())
	}
}
