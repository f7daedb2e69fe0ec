package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"

	"github.com/dxgsync/dxgsync"
)

func upload(o options) error {
	session, device, err := open()
	if err != nil {
		return err
	}
	defer session.Close()
	defer device.Close()
	gpu, err := onNode(device, copies)
	if err != nil {
		return err
	}
	ready, readyFile, err := newFence(device)
	if err != nil {
		return err
	}
	done, doneFile, err := newFence(device)
	if err != nil {
		return err
	}
	memory, err := device.NewSharedBuffer(slots * frameSize)
	if err != nil {
		return fmt.Errorf("make the slots: %w", err)
	}
	memoryFile, err := memory.Share()
	if err != nil {
		return fmt.Errorf("share the slots: %w", err)
	}
	picture, err := device.NewBuffer(frameSize)
	if err != nil {
		return fmt.Errorf("make a picture: %w", err)
	}

	log("upload", "start", 0, "node=copy")
	child, err := startRender(o, []*os.File{readyFile, doneFile, memoryFile})
	if err != nil {
		return err
	}
	for n := uint64(1); n <= o.frames; n++ {
		if err := queueUpload(gpu, picture, memory, ready, done, n); err != nil {
			return fmt.Errorf("queue frame %d: %w", n, err)
		}
	}
	if err := child.Wait(); err != nil {
		return fmt.Errorf("render: %w", err)
	}
	if err := device.WaitIdle(context.Background()); err != nil {
		return err
	}
	log("upload", "exit", done.Value(), "device="+state(device))
	return nil
}

// queueUpload queues the copy of a frame, for when its slot is free.
func queueUpload(gpu *dxgsync.Context, picture, memory *dxgsync.Buffer, ready, done *dxgsync.Fence, n uint64) error {
	if n > slots {
		if err := gpu.Wait(done.At(n - slots)); err != nil {
			return err
		}
	}
	cb := new(dxgsync.CommandBuffer).Fill(picture, pattern(n)).Delay(gpuTime).Copy(slot(memory, n), picture)
	if _, err := gpu.Submit(cb); err != nil {
		return err
	}
	say := func(context.Context) error {
		log("upload", "copied", n, "")
		return nil
	}
	if _, err := gpu.Do(say); err != nil {
		return err
	}
	return gpu.Signal(ready.At(n))
}

// newFence makes a fence and the file that stands for it.
func newFence(d *dxgsync.Device) (*dxgsync.Fence, *os.File, error) {
	f, err := d.NewFence(dxgsync.FenceOptions{Shared: true})
	if err != nil {
		return nil, nil, fmt.Errorf("make a fence: %w", err)
	}
	file, err := f.Share()
	if err != nil {
		return nil, nil, fmt.Errorf("share a fence: %w", err)
	}
	return f, file, nil
}

// startRender starts this program again as the other process, with the files inherited,
// and closes them here.
func startRender(o options, files []*os.File) (*exec.Cmd, error) {
	const first = 3 // of the numbers that ExtraFiles get
	args := []string{"--render", "--frames", strconv.FormatUint(o.frames, 10), "--hang", strconv.FormatUint(o.hang, 10)}
	for i, name := range fdFlags {
		args = append(args, "--"+name, strconv.Itoa(first+i))
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, args...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = os.Stdout, os.Stderr, files
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start render: %w", err)
	}
	for _, file := range files {
		_ = file.Close()
	}
	return cmd, nil
}
