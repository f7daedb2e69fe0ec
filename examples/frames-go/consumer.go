package main

import (
	"context"
	"fmt"
	"os"

	"github.com/dxgsync/dxgsync"
)

func consume(o options) error {
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
	for i, p := range []**dxgsync.Fence{&f.ready, &f.done, &f.quit} {
		file := os.NewFile(uintptr(o.fds[i]), fdFlags[i])
		if *p, err = device.OpenShared(file, dxgsync.OpenOptions{}); err != nil {
			return fmt.Errorf("open %s: %w", fdFlags[i], err)
		}
		_ = file.Close()
	}
	file := os.NewFile(uintptr(o.fds[3]), fdFlags[3])
	frames, err := mapPicture(file)
	if err != nil {
		return err
	}
	_ = file.Close()

	log("consumer", "start", 0, "lang=go")
	n := uint64(1)
	for ; ; n++ {
		if _, err := dxgsync.WaitAny(ctx, f.ready.At(n), f.quit.At(1)); err != nil {
			return fmt.Errorf("wait for frame %d: %w", n, err)
		}
		if f.lost() {
			return errLost
		}
		ready := f.ready.Value()
		if ready < n {
			break // quit, and nothing is left
		}
		if err := frames.check(n); err != nil {
			return err
		}
		log("consumer", "read", n, fmt.Sprintf("slot=%d", n%slots), fmt.Sprintf("lag=%d", ready-n))
		if err := f.done.Signal(n); err != nil {
			return fmt.Errorf("signal frame %d read: %w", n, err)
		}
	}
	if n-1 != o.frames {
		return fmt.Errorf("%d frames came, not %d", n-1, o.frames)
	}
	log("consumer", "exit", n-1)
	return nil
}
