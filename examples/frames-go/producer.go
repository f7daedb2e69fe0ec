package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"github.com/dxgsync/dxgsync"
)

func produce(o options) error {
	ctx := context.Background()
	session, err := dxgsync.Open(dxgsync.WithDaemon(dxgsync.DefaultAddress))
	if err != nil {
		return err
	}
	defer session.Close()
	device, err := session.NewDevice()
	if err != nil {
		return fmt.Errorf("make a device: %w", err)
	}
	defer device.Close()

	var f fences
	var files []*os.File
	for _, p := range []**dxgsync.Fence{&f.ready, &f.done, &f.quit} {
		if *p, err = device.NewFence(dxgsync.FenceOptions{Shared: true}); err != nil {
			return fmt.Errorf("make a fence: %w", err)
		}
		file, err := (*p).Share()
		if err != nil {
			return fmt.Errorf("share a fence: %w", err)
		}
		files = append(files, file)
	}
	frames, file, err := newPicture()
	if err != nil {
		return err
	}
	files = append(files, file)

	log("producer", "start", 0, fmt.Sprintf("frames=%d", o.frames), "lang=go")
	consumer, err := startConsumer(o, files)
	if err != nil {
		return err
	}

	// Whatever happens to the consumer ends the waits.
	ctx, cancel := context.WithCancelCause(ctx)
	exited := make(chan error, 1)
	go func() {
		err := consumer.Wait()
		cancel(fmt.Errorf("consumer ended early: %w", orExited(err)))
		exited <- err
	}()

	for n := uint64(1); n <= o.frames; n++ {
		if n > slots {
			if err := f.done.Wait(ctx, n-slots); err != nil {
				return fmt.Errorf("wait for a free slot: %w", err)
			}
		}
		if f.lost() {
			return errLost
		}
		time.Sleep(o.pace)
		frames.fill(n)
		log("producer", "wrote", n, fmt.Sprintf("slot=%d", n%slots))
		if err := f.ready.Signal(n); err != nil {
			return fmt.Errorf("signal frame %d: %w", n, err)
		}
	}

	// The last wait through an event, as a program with a poll loop would do it.
	drained, err := f.done.Notify(o.frames)
	if err != nil {
		return fmt.Errorf("ask for an event: %w", err)
	}
	context.AfterFunc(ctx, func() { _ = drained.Close() }) // ends the read
	if _, err := drained.Read(make([]byte, 8)); err != nil {
		return context.Cause(ctx)
	}
	if f.lost() {
		return errLost
	}
	log("producer", "drained", o.frames)
	if err := f.quit.Signal(1); err != nil {
		return fmt.Errorf("signal the end: %w", err)
	}
	if err := <-exited; err != nil {
		return fmt.Errorf("consumer: %w", err)
	}
	log("producer", "exit", o.frames)
	return nil
}

// startConsumer starts the other process with the files inherited, and closes
// them here.
func startConsumer(o options, files []*os.File) (*exec.Cmd, error) {
	const first = 3 // of the numbers that ExtraFiles get
	args := append(append([]string{}, o.rest[1:]...), "consumer", "--frames", strconv.FormatUint(o.frames, 10))
	for i, name := range fdFlags {
		args = append(args, "--"+name, strconv.Itoa(first+i))
	}
	cmd := exec.Command(o.rest[0], args...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdout, os.Stderr, files
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the consumer: %w", err)
	}
	for _, file := range files {
		_ = file.Close()
	}
	return cmd, nil
}

func orExited(err error) error {
	if err == nil {
		return os.ErrProcessDone
	}
	return err
}
