package main

import (
	gocontext "context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"

	"github.com/dxgsync/dxgsync"
	"github.com/dxgsync/dxgsync/abi"
	"golang.org/x/sys/unix"
)

// probe is a program for run to run. Its first argument says what it does:
//
//	parent SIGNAL   sends the signal to its parent and waits to get it
//	terminal        counts the interrupts that one Ctrl-C brings
//	stop            stops itself and ends when it is continued
//	work COMMAND…   has a GPU context, runs a command, then submits a packet
//	ring COMMAND…   has two queues that take turns with a native fence, runs a command while
//	                one waits for the other, and goes on
//	hold COMMAND…   holds a shared fence at 5, waits for 8, and runs a command meanwhile
func probe() {
	switch os.Args[1] {
	case "parent":
		n, _ := strconv.Atoi(os.Args[2])
		s := unix.Signal(n)
		c := make(chan os.Signal, 1)
		signal.Notify(c, s)
		_ = unix.Kill(os.Getppid(), s)
		fmt.Println("got", <-c)
	case "terminal":
		c := make(chan os.Signal, 16)
		signal.Notify(c, unix.SIGINT, unix.SIGUSR1)
		fmt.Println("ready")
		count := 0
		for s := range c {
			if s == unix.SIGUSR1 { // behind whatever else the parent has passed on
				fmt.Println("interrupts:", count)
				return
			}
			if count++; count == 1 {
				_ = unix.Kill(os.Getppid(), unix.SIGUSR1)
			}
		}
	case "stop":
		_ = unix.Kill(os.Getpid(), unix.SIGSTOP)
		fmt.Println("continued")
	case "hold", "work", "ring":
		do := map[string]func(*dxgsync.Device, []string) error{"hold": hold, "work": work, "ring": ring}[os.Args[1]]
		if err := onDevice(do, os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// onDevice does it on a device of the daemon.
func onDevice(do func(*dxgsync.Device, []string) error, command []string) error {
	s, err := dxgsync.Open(dxgsync.WithDaemon(dxgsync.DefaultAddress))
	if err != nil {
		return err
	}
	defer s.Close()
	d, err := s.NewDevice()
	if err != nil {
		return err
	}
	return do(d, command)
}

// runBeside runs a command with our process id in PROBE, and more.
func runBeside(command []string, more ...string) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(append(os.Environ(), fmt.Sprintf("PROBE=%d", os.Getpid())), more...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}

// hold has a shared fence at 5 and a wait for 8 while it runs a command.
func hold(d *dxgsync.Device, command []string) error {
	f, err := d.NewFence(dxgsync.FenceOptions{Initial: 5, Shared: true})
	if err != nil {
		return err
	}
	event, err := f.Notify(8)
	if err != nil {
		return err
	}
	defer event.Close()
	return runBeside(command)
}

// work has a context, runs a command with its process id in PROBE and the context in
// CONTEXT, submits a packet with a signal behind it, and says what became of them.
func work(d *dxgsync.Device, command []string) error {
	context, err := d.NewContext(dxgsync.ContextOptions{})
	if err != nil {
		return err
	}
	f, err := d.NewFence(dxgsync.FenceOptions{})
	if err != nil {
		return err
	}
	if err := runBeside(command, fmt.Sprintf("CONTEXT=%v", context.Handle())); err != nil {
		return err
	}
	s := d.Session()
	rec := abi.SubmitCommand{BroadcastContextCount: 1}
	rec.BroadcastContext[0] = context.Handle()
	if st := s.SubmitCommand(&rec, nil, nil); st.OK() {
		if st := s.SignalSynchronizationObjectFromGpu(&abi.SignalSynchronizationObjectFromGpu{HContext: context.Handle(), ObjectCount: 1}, []abi.Handle{f.Handle()}, []uint64{7}); !st.OK() && st != abi.StatusDeviceRemoved { // it may be lost by now
			return st
		}
		if err := f.Wait(gocontext.Background(), 7); err != nil && !errors.Is(err, abi.StatusDeviceRemoved) {
			return err
		}
	} else {
		fmt.Println("submit:", st)
	}
	state := abi.GetDeviceState{HDevice: d.Handle(), StateType: abi.DeviceStateExecution}
	if st := s.GetDeviceState(&state); !st.OK() {
		return st
	}
	fmt.Println("fence at", f.Value(), "device", *state.ExecutionState())
	return nil
}

// ring has two queues that it fills by itself. The first waits for 7, which the second
// signals, and then for 8, which this program signals when the command has ended. The
// command has the process id in PROBE, the first queue in QUEUE.
func ring(d *dxgsync.Device, command []string) error {
	f, err := d.NewNativeFence(dxgsync.NativeFenceOptions{})
	if err != nil {
		return err
	}
	var queues [2]*dxgsync.UserQueue
	for i := range queues {
		if queues[i], err = d.NewUserQueue(dxgsync.UserQueueOptions{}); err != nil {
			return err
		}
	}
	turn, err := queues[0].Submit(new(dxgsync.CommandBuffer).WaitNative(f, 7))
	if err != nil {
		return err
	}
	last, err := queues[0].Submit(new(dxgsync.CommandBuffer).WaitNative(f, 8))
	if err != nil {
		return err
	}
	if _, err := queues[1].Submit(new(dxgsync.CommandBuffer).SignalNative(f, 7)); err != nil {
		return err
	}
	if err := turn.Wait(gocontext.Background()); err != nil {
		return err
	}
	if err := runBeside(command, fmt.Sprintf("QUEUE=%v", queues[0].Handle())); err != nil {
		return err
	}
	if err := f.Signal(8); err != nil {
		return err
	}
	return last.Wait(gocontext.Background())
}
