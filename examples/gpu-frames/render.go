package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"github.com/dxgsync/dxgsync"
	"github.com/dxgsync/dxgsync/abi"
)

func render(o options) error {
	session, device, err := open()
	if err != nil {
		return err
	}
	defer session.Close()
	var files [len(fdFlags)]*os.File
	for i, name := range fdFlags {
		if o.fds[i] < 0 {
			return errUsage
		}
		files[i] = os.NewFile(uintptr(o.fds[i]), name)
	}
	log("render", "start", 0, "node=compute")
	for {
		at, err := renderOn(device, o, files)
		if err == nil {
			log("render", "exit", at, "device="+state(device))
			return device.Close()
		}
		if !errors.Is(err, dxgsync.ErrLost) {
			return err
		}
		// Nothing of the device can be used any more. What it had done counts.
		log("render", "lost", at+1, "device="+state(device))
		if err := device.Close(); err != nil {
			return err
		}
		if device, err = session.NewDevice(); err != nil {
			return fmt.Errorf("make another device: %w", err)
		}
		log("render", "again", at+1, "")
		o.hang = 0
	}
}

// renderOn queues all frames that are not done on a device and waits for their end. It
// returns the last frame that is done.
func renderOn(d *dxgsync.Device, o options, files [len(fdFlags)]*os.File) (uint64, error) {
	gpu, err := onNode(d, computes)
	if err != nil {
		return 0, err
	}
	ready, err := d.OpenShared(files[0], dxgsync.OpenOptions{Flags: abi.SyncObjectNoSignal})
	if err != nil {
		return 0, fmt.Errorf("open ready: %w", err)
	}
	done, err := d.OpenShared(files[1], dxgsync.OpenOptions{Flags: abi.SyncObjectNoSignalMaxValueOnTdr})
	if err != nil {
		return 0, fmt.Errorf("open done: %w", err)
	}
	memory, err := d.OpenBuffer(files[2])
	if err != nil {
		return 0, fmt.Errorf("open the slots: %w", err)
	}
	var jobs []*dxgsync.Job
	for n := done.Value() + 1; n <= o.frames; n++ {
		job, err := queueRender(gpu, memory, ready, done, n, n == o.hang)
		if err != nil {
			return done.Value(), err
		}
		jobs = append(jobs, job)
	}
	if err := d.WaitIdle(context.Background()); err != nil {
		return done.Value(), err
	}
	for _, job := range jobs {
		if err := job.Wait(context.Background()); err != nil {
			return done.Value(), err
		}
	}
	return done.Value(), nil
}

// queueRender queues the work on a frame, for when it is there.
func queueRender(gpu *dxgsync.Context, memory *dxgsync.Buffer, ready, done *dxgsync.Fence, n uint64, hang bool) (*dxgsync.Job, error) {
	if err := gpu.Wait(ready.At(n)); err != nil {
		return nil, err
	}
	from := memory.Range(int(n%slots)*frameSize, frameSize/2) // the other half is left as it came
	cb := new(dxgsync.CommandBuffer).Delay(gpuTime)
	if hang {
		cb.Hang()
	}
	if _, err := gpu.Submit(cb.Fill(from, rendered(n))); err != nil {
		return nil, err
	}
	job, err := gpu.Do(func(context.Context) error {
		log("render", "rendered", n, "")
		return checkFrame(memory, n)
	})
	if err != nil {
		return nil, err
	}
	return job, gpu.Signal(done.At(n))
}

// checkFrame says whether a slot has what both stages have made of a frame.
func checkFrame(memory *dxgsync.Buffer, n uint64) error {
	at := int(n%slots) * frameSize
	frame := memory.Bytes()[at : at+frameSize]
	for i := 0; i < frameSize; i += 4 {
		want := pattern(n)
		if i < frameSize/2 {
			want = rendered(n)
		}
		if got := binary.LittleEndian.Uint32(frame[i:]); got != want {
			return fmt.Errorf("frame %d: word %d is %#x, want %#x", n, i/4, got, want)
		}
	}
	return nil
}

// state is a device's state in a word.
func state(d *dxgsync.Device) string {
	s, err := d.State()
	if err != nil {
		return err.Error()
	}
	return s.String()
}
