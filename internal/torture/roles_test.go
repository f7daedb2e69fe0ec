// Package torture runs real processes against a real daemon and kills them: no
// survivor may be stuck, whatever died where.
package torture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/dxgsync/dxgsync"
	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/server"
)

// The test binary starts itself again in one of these roles. Descriptors from 3
// on are NT handles of shared fences, or for the daemon a pipe that it closes when
// it is ready.
var roles = map[string]func(socket string) error{
	"daemon":    daemon,
	"signaller": signaller,
	"waiter":    waiter,
	"crowd":     crowd,
	"cycler":    cycle,
	"victim":    beVictim,
	"link":      link,
	"mortal":    beMortal,
	"vandal":    beVandal,
}

func TestMain(m *testing.M) {
	if role := os.Getenv("TORTURE_ROLE"); role != "" {
		if err := roles[role](os.Getenv("TORTURE_SOCKET")); err != nil {
			fmt.Fprintf(os.Stderr, "%s %d: %v\n", role, os.Getpid(), err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// daemon serves until it is killed.
func daemon(socket string) error {
	d, err := server.NewDaemon(kernel.Config{}, server.Config{})
	if err != nil {
		return err
	}
	l, err := server.Listen(socket, 0o600)
	if err != nil {
		return err
	}
	if err := os.NewFile(3, "ready").Close(); err != nil {
		return err
	}
	return d.Serve(l)
}

// join opens the daemon, a device and the fences passed as descriptors 3, 4, ….
func join(socket string, n int) (*dxgsync.Device, []*dxgsync.Fence, error) {
	s, err := dxgsync.Open(dxgsync.WithDaemon(socket))
	if err != nil {
		return nil, nil, err
	}
	d, err := s.NewDevice()
	if err != nil {
		return nil, nil, err
	}
	fences := make([]*dxgsync.Fence, n)
	for i := range fences {
		if fences[i], err = d.OpenShared(os.NewFile(uintptr(3+i), "fence"), dxgsync.OpenOptions{}); err != nil {
			return nil, nil, fmt.Errorf("open fence %d: %w", i, err)
		}
	}
	return d, fences, nil
}

// over says whether err, or a value, means that the daemon is gone; then all fences
// come to read Lost. A value may be another survivor's doing, who has not come to
// the next fence yet; after DEVICE_REMOVED our own process has raised all of them.
func over(err error, fences ...*dxgsync.Fence) (bool, error) {
	lost := errors.Is(err, abi.StatusDeviceRemoved)
	for _, f := range fences {
		lost = lost || f.Value() == dxgsync.Lost
	}
	if !lost {
		return false, err
	}
	for i, f := range fences {
		if err := f.Wait(context.Background(), dxgsync.Lost); err != nil && !errors.Is(err, abi.StatusDeviceRemoved) {
			return true, err
		}
		if v := f.Value(); v != dxgsync.Lost {
			return true, fmt.Errorf("the daemon is gone, and fence %d reads %d", i, v)
		}
	}
	return true, nil
}

// signaller raises the first fence by one, waits until the waiter has acknowledged
// on the second, and so on. It ends well when the daemon goes.
func signaller(socket string) error {
	_, f, err := join(socket, 2)
	if err != nil {
		return err
	}
	work, ack := f[0], f[1]
	for v := work.Value(); ; v++ {
		err := ack.Wait(context.Background(), v)
		if err == nil && work.Value() != dxgsync.Lost {
			err = work.Signal(v + 1)
		}
		if errors.Is(err, abi.StatusInvalidParameter) && work.Value() == dxgsync.Lost {
			err = abi.StatusDeviceRemoved // raised under our hands
		}
		if gone, err := over(err, work, ack); gone || err != nil {
			return err
		}
	}
}

// waiter acknowledges on the second fence every value of the first.
func waiter(socket string) error {
	_, f, err := join(socket, 2)
	if err != nil {
		return err
	}
	work, ack := f[0], f[1]
	for v := work.Value(); ; v++ {
		err := work.Wait(context.Background(), v)
		if err == nil && work.Value() != dxgsync.Lost && ack.Value() < v {
			err = ack.Signal(v)
		}
		if errors.Is(err, abi.StatusInvalidParameter) && ack.Value() == dxgsync.Lost {
			err = abi.StatusDeviceRemoved
		}
		if gone, err := over(err, work, ack); gone || err != nil {
			return err
		}
	}
}
