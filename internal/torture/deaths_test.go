package torture

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/dxgsync/dxgsync"
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/softgpu"
	"github.com/dxgsync/dxgsync/internal/vidsch"
)

// deathsEnv is how many processes are killed.
const deathsEnv = "DXGSYNC_DEATHS"

// patient is a TDR that a machine with much to do does not run into.
var patient = vidsch.TDR{Delay: int64(50 * time.Millisecond), DdiDelay: int64(patience), LimitCount: math.MaxInt32}

// A mortal is a process that is going to be killed.
type mortal struct {
	kind    byte
	cmd     *exec.Cmd
	orders  *os.File
	reports *os.File
}

// A survivor is what this process has, and goes on with.
type survivor struct {
	*theatre
	d     *dxgsync.Device
	fence *dxgsync.NativeFence // that the mortals have, too
	file  *os.File             // of it
	other *dxgsync.HwQueue     // waits for fences
	queue *dxgsync.UserQueue   // goes on
}

func newSurvivor(th *theatre, s *dxgsync.Session) *survivor {
	th.t.Helper()
	v := &survivor{theatre: th}
	var err error
	if v.d, err = s.NewDevice(); err == nil {
		v.fence, err = v.d.NewNativeFence(dxgsync.NativeFenceOptions{Shared: true})
	}
	if err == nil {
		v.file, err = v.fence.Share()
	}
	if err == nil {
		v.other, err = v.d.NewHwQueue(dxgsync.HwQueueOptions{})
	}
	if err == nil {
		v.queue, err = v.d.NewUserQueue(dxgsync.UserQueueOptions{})
	}
	if err != nil {
		th.t.Fatal(err)
	}
	return v
}

// bear starts a mortal.
func (v *survivor) bear(kind byte) *mortal {
	v.t.Helper()
	reports, theirReports, err := os.Pipe()
	if err != nil {
		v.t.Fatal(err)
	}
	theirOrders, orders, err := os.Pipe()
	if err != nil {
		v.t.Fatal(err)
	}
	m := &mortal{kind, start(v.t, "mortal", v.socket, v.file, theirReports, theirOrders), orders, reports}
	theirReports.Close()
	theirOrders.Close()
	if _, err := orders.Write([]byte{kind}); err != nil {
		v.t.Fatal(err)
	}
	return m
}

// kill kills it when it is ready, and looks what becomes of whom it had to do with.
func (v *survivor) kill(m *mortal) error {
	defer m.orders.Close()
	defer m.reports.Close()
	_ = m.reports.SetReadDeadline(time.Now().Add(patience))
	if _, err := m.reports.Read(make([]byte, 1)); err != nil {
		return fmt.Errorf("it is not ready: %w", err)
	}
	switch m.kind {
	case promises:
		return v.breakPromise(m)
	case owes:
		// What somebody else has queued is not what a fence of ours stands for: the GPU
		// waits on, and goes on when we signal it.
		next := v.fence.Value() + 1
		p, err := v.other.Submit(new(dxgsync.CommandBuffer).WaitNative(v.fence, next))
		if err != nil {
			return err
		}
		kill(m.cmd)
		if err := v.goOn(); err != nil {
			return err
		}
		if v.fence.Value() != next-1 || v.other.Progress().Value() >= p.Value {
			return fmt.Errorf("our fence is at %d, and the wait for %d over", v.fence.Value(), next)
		}
		if err := v.fence.Signal(next); err != nil {
			return err
		}
		return v.wait(p)
	case waits:
		if err := v.monitored(never - 1); err != nil {
			return err
		}
		kill(m.cmd)
		return v.monitored(math.MaxUint64)
	}
	kill(m.cmd)
	return nil
}

// breakPromise kills the creator of a fence that our GPU waits for: the fence is lost, and
// the wait is over.
func (v *survivor) breakPromise(m *mortal) error {
	file, err := v.d.Session().OpenName(promised(m.cmd.Process.Pid), genericAll)
	if err != nil {
		return err
	}
	defer file.Close()
	f, err := v.d.OpenSharedNative(file, dxgsync.OpenNativeOptions{})
	if err != nil {
		return err
	}
	p, err := v.other.Submit(new(dxgsync.CommandBuffer).WaitNative(f, 1))
	if err != nil {
		return err
	}
	kill(m.cmd)
	if err := v.wait(p); err != nil {
		return err
	}
	if !f.Lost() {
		return fmt.Errorf("the fence is at %d", f.Value())
	}
	return f.Close()
}

// monitored waits until the monitored value of our fence is something.
func (v *survivor) monitored(want uint64) error {
	return until(func() error {
		for _, n := range v.daemon.Kernel.Snapshot().Natives {
			if n.Value == v.fence.Value() && n.Monitored == want && n.Opens > 0 {
				return nil
			}
		}
		return fmt.Errorf("no fence has the monitored value %#x", want)
	})
}

// wait waits for our own work.
func (v *survivor) wait(p dxgsync.Point) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := p.Wait(ctx); err != nil {
		return err
	}
	if p.Fence.Lost() {
		return errors.New("our device is lost")
	}
	return nil
}

// goOn does something by doorbell.
func (v *survivor) goOn() error {
	p, err := v.queue.Submit(new(dxgsync.CommandBuffer).WaitNative(v.fence, 0))
	if err != nil {
		return err
	}
	return v.wait(p)
}

// Processes that use native fences and doorbells are killed, whatever they are doing. What
// their fences stood for is lost, what they owe stays owed, others go on, and nothing is left.
func TestNativeDeaths(t *testing.T) {
	total := defaultDeaths
	if testing.Short() {
		total /= 10
	}
	if text := os.Getenv(deathsEnv); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("%s is %q, want a number of processes", deathsEnv, text)
		}
		total = n
	}
	th := newTheatre(t, patient)
	defer th.hangs.Close()
	defer th.report.Close()
	held := [2]softgpu.Holdings{th.gpu(0).Holdings(), th.gpu(1).Holdings()}
	var before map[string]int
	goroutines := 0
	run := func(total int) {
		s, err := dxgsync.Open(dxgsync.WithDaemon(th.socket))
		if err != nil {
			t.Fatal(err)
		}
		v := newSurvivor(th, s)
		var next []*mortal // that are on their way
		for n := range total {
			for len(next) < 3 {
				next = append(next, v.bear(byte((n+len(next))%mortalKinds)))
			}
			m := next[0]
			next = next[1:]
			if err := errors.Join(v.kill(m), v.goOn()); err != nil {
				state, _ := v.d.State()
				t.Fatalf("death %d, of kind %d: %v; our device is %v", n, m.kind, err, state)
			}
		}
		for _, m := range next {
			kill(m.cmd)
			m.orders.Close()
			m.reports.Close()
		}
		if state, err := v.d.State(); err != nil || state != abi.DeviceExecutionActive {
			t.Errorf("our device is %v, %v", state, err)
		}
		if err := errors.Join(v.queue.Close(), v.other.Close(), v.fence.Close(), v.file.Close(), v.d.Close(), s.Close()); err != nil {
			t.Error(err)
		}
		if err := until(func() error { return th.empty(0, held) }); err != nil {
			t.Error("all have left:", err)
		}
	}
	run(mortalKinds) // whatever is made once, is made now
	before, err := holdings("self")
	if err != nil {
		t.Fatal(err)
	}
	goroutines = runtime.NumGoroutine()
	began := time.Now()
	run(total)
	t.Logf("%d deaths in %v", total, time.Since(began).Round(time.Millisecond))
	if err := until(func() error {
		runtime.GC()
		if n := runtime.NumGoroutine(); n > goroutines {
			return fmt.Errorf("%d goroutines, there were %d", n, goroutines)
		}
		return same(before, "self")
	}); err != nil {
		t.Error(err)
	}
}
