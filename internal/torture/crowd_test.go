package torture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync"
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
)

const (
	crowdSize   = 200
	crowdFences = 100 // each: 98 of its own and two of ours
	crowdSteps  = 20
)

// crowd waits for the start, makes its fences, drives all of them with a pair of
// goroutines each, reports on its own fence and stays until the end.
func crowd(socket string) error {
	d, f, err := join(socket, 2)
	if err != nil {
		return err
	}
	begin, done := f[0], f[1]
	ctx := context.Background()
	if err := done.Signal(1); err != nil {
		return err
	}
	if err := begin.Wait(ctx, 1); err != nil {
		return err
	}
	const pairs = (crowdFences - 2) / 2
	errs := make(chan error, 2*pairs)
	for i := range pairs {
		ping, err := d.NewFence(dxgsync.FenceOptions{Shared: i%2 == 0})
		if err != nil {
			return fmt.Errorf("fence %d: %w", 2*i, err)
		}
		pong, err := d.NewFence(dxgsync.FenceOptions{})
		if err != nil {
			return fmt.Errorf("fence %d: %w", 2*i+1, err)
		}
		side := func(mine, theirs *dxgsync.Fence, lag uint64) {
			for v := uint64(1); v <= crowdSteps; v++ {
				if err := theirs.Wait(ctx, v-lag); err != nil {
					errs <- err
					return
				}
				if err := mine.Signal(v); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}
		go side(ping, pong, 1)
		go side(pong, ping, 0)
	}
	for range 2 * pairs {
		if err := <-errs; err != nil {
			return err
		}
	}
	if err := done.Signal(2); err != nil {
		return err
	}
	return begin.Wait(ctx, 2)
}

// 200 processes with 100 fences each on one daemon, all signalling and waiting,
// end cleanly, and a listing is answered in the middle of it.
func TestCrowd(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "socket")
	served := startDaemon(t, socket)
	defer kill(served)
	s, err := dxgsync.Open(dxgsync.WithDaemon(socket))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	d, err := s.NewDevice()
	if err != nil {
		t.Fatal(err)
	}
	share := func() (*dxgsync.Fence, *os.File) {
		f, err := d.NewFence(dxgsync.FenceOptions{Shared: true})
		if err != nil {
			t.Fatal(err)
		}
		file, err := f.Share()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() })
		return f, file
	}
	begin, beginFile := share()
	var ready, finished []dxgsync.Point
	var cmds []*exec.Cmd
	for range crowdSize {
		done, doneFile := share()
		ready = append(ready, done.At(1))
		finished = append(finished, done.At(2))
		cmds = append(cmds, start(t, "crowd", socket, beginFile, doneFile))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 4*patience)
	defer cancel()
	if err := dxgsync.WaitAll(ctx, ready...); err != nil {
		t.Fatal("not all processes came:", err)
	}
	if err := begin.Signal(1); err != nil {
		t.Fatal(err)
	}
	if snap := listing(t, s); len(snap.Processes) < crowdSize+1 || len(snap.Objects) < 1+3*crowdSize {
		t.Errorf("the listing has %d processes and %d objects", len(snap.Processes), len(snap.Objects))
	}
	if err := dxgsync.WaitAll(ctx, finished...); err != nil {
		t.Fatal("not all processes finished:", err)
	}
	if err := begin.Signal(2); err != nil {
		t.Fatal(err)
	}
	for _, c := range cmds {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	// The daemon notices the last hang-ups in its own time; each listing asks again.
	for ctx.Err() == nil {
		if snap := listing(t, s); len(snap.Processes) == 1 {
			if len(snap.Objects) != crowdSize+1 {
				t.Errorf("%d objects left, want our own %d", len(snap.Objects), crowdSize+1)
			}
			return
		}
	}
	t.Error("processes are left in the listing:", errors.Join(ctx.Err()))
}

// listing asks the daemon for everything it holds.
func listing(t *testing.T, s *dxgsync.Session) kernel.Snapshot {
	t.Helper()
	var rec abi.Snapshot
	r := &abi.Request{Op: abi.OpSnapshot, Record: unsafe.Slice((*byte)(unsafe.Pointer(&rec)), unsafe.Sizeof(rec))}
	if st := s.Do(r); !st.OK() || len(r.Out) != 1 {
		t.Fatalf("snapshot: %v, %d files", st, len(r.Out))
	}
	file := os.NewFile(uintptr(r.Out[0].FD), "snapshot")
	defer file.Close()
	var st unix.Stat_t
	if err := unix.Fstat(r.Out[0].FD, &st); err != nil {
		t.Fatal(err)
	}
	text := make([]byte, st.Size)
	if _, err := file.ReadAt(text, 0); err != nil {
		t.Fatal(err)
	}
	var snap kernel.Snapshot
	if err := json.Unmarshal(text, &snap); err != nil {
		t.Fatal(err)
	}
	return snap
}
