package dxgsync_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/dxgsync/dxgsync"
	"github.com/dxgsync/dxgsync/abi"
)

// must is for examples that have nothing to say about errors.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func ExampleContext_Submit() {
	d := device()
	defer d.Session().Close()
	picture := must(d.NewBuffer(64))
	gpu := must(d.NewContext(dxgsync.ContextOptions{}))

	done := must(gpu.Submit(new(dxgsync.CommandBuffer).Fill(picture, 0x2A2A2A2A)))
	check(done.Wait(context.Background()))
	fmt.Println(picture.Bytes()[63])
	// Output: 42
}

// What a context waits for holds nobody else.
func ExampleContext_Wait() {
	ctx := context.Background()
	d := device()
	defer d.Session().Close()
	ready, shown := fence(d, dxgsync.FenceOptions{}), fence(d, dxgsync.FenceOptions{})
	gpu := must(d.NewContext(dxgsync.ContextOptions{}))
	check(gpu.Wait(ready.At(1)))
	check(gpu.Signal(shown.At(1)))

	fmt.Println(shown.Value())
	check(ready.Signal(1))
	check(shown.Wait(ctx, 1))
	fmt.Println(shown.Value())
	// Output:
	// 0
	// 1
}

// Queues without a GPU: functions in the place of command buffers.
func ExampleContext_Do() {
	ctx := context.Background()
	d := device()
	defer d.Session().Close()
	left, right := must(d.NewContext(dxgsync.ContextOptions{})), must(d.NewContext(dxgsync.ContextOptions{Node: 1}))
	half := fence(d, dxgsync.FenceOptions{})
	say := func(words string) dxgsync.Work {
		return func(context.Context) error { fmt.Println(words); return nil }
	}

	check(right.Wait(half.At(1)))
	last := must(right.Do(say("then right")))
	must(left.Do(say("left first")))
	failed := must(left.Do(func(context.Context) error { return errors.New("a bad day") }))
	check(left.Signal(half.At(1)))

	check(last.Wait(ctx))
	fmt.Println(failed.Wait(ctx))
	// Output:
	// left first
	// then right
	// a bad day
}

func ExampleDevice_NewHwQueue() {
	d := device()
	defer d.Session().Close()
	q := must(d.NewHwQueue(dxgsync.HwQueueOptions{}))
	for range 3 {
		must(q.Submit(new(dxgsync.CommandBuffer).Delay(time.Microsecond)))
	}
	check(q.Progress().Wait(context.Background(), 3))
	fmt.Println(q.Progress().Value())
	// Output: 3
}

// Two engines take turns; the CPU says when to begin, and hears of the end.
func ExampleDevice_NewNativeFence() {
	ctx := context.Background()
	d := device()
	defer d.Session().Close()
	turn := must(d.NewNativeFence(dxgsync.NativeFenceOptions{}))
	tally := must(d.NewBuffer(8))
	left, right := must(d.NewHwQueue(dxgsync.HwQueueOptions{})), must(d.NewHwQueue(dxgsync.HwQueueOptions{Node: 1}))
	for n := uint64(1); n <= 8; n++ {
		queue, mark := left, uint32('L')
		if n%2 == 0 {
			queue, mark = right, 'R'
		}
		work := new(dxgsync.CommandBuffer).WaitNative(turn, n).Fill(tally.Range(int(n-1), 1), mark)
		must(queue.Submit(work.SignalNative(turn, n+1)))
	}

	check(turn.Signal(1))
	check(turn.Wait(ctx, 9))
	fmt.Printf("%s\n", tally.Bytes())
	// Output: LRLRLRLR
}

// Command buffers go to the GPU without a call.
func ExampleDevice_NewUserQueue() {
	d := device()
	defer d.Session().Close()
	q := must(d.NewUserQueue(dxgsync.UserQueueOptions{}))
	defer q.Close()
	var done dxgsync.Point
	for range 100 {
		done = must(q.Submit(new(dxgsync.CommandBuffer).Delay(time.Microsecond)))
	}
	check(done.Wait(context.Background()))
	fmt.Println(q.Progress().Value())
	// Output: 100
}

// An adapter may have native fences, and doorbells, or not.
func ExampleAdapter_Feature() {
	session := must(dxgsync.Open(dxgsync.WithAdapter("intel")))
	defer session.Close()
	for _, a := range must(session.Adapters()) {
		native, rings := must(a.Feature(abi.FeatureNativeFence)), must(a.Feature(abi.FeatureUserModeSubmission))
		fmt.Println(native.Enabled, rings.Enabled)
	}
	// Output: true false
}

func ExampleDevice_Nodes() {
	d := device()
	defer d.Session().Close()
	for _, n := range must(d.Nodes()) {
		fmt.Println(n.Ordinal, n.Engine, n.Name)
	}
	// Output:
	// 0 3D 3D
	// 1 OTHER Compute
	// 2 COPY Copy
}

// Three stages on two nodes: the copy node uploads a frame while the compute node works
// on the one before, and a function shows it. Everything is queued ahead; no goroutine
// paces it.
func Example_pipeline() {
	d := device()
	defer d.Session().Close()
	copying := must(d.NewContext(dxgsync.ContextOptions{Node: 2}))
	computing := must(d.NewContext(dxgsync.ContextOptions{Node: 1}))
	const frames, slots, size = 5, 2, 16
	upload, memory := must(d.NewBuffer(frames*size)), must(d.NewBuffer(slots*size))
	uploaded, shown := fence(d, dxgsync.FenceOptions{}), fence(d, dxgsync.FenceOptions{})
	for n := range frames {
		copy(upload.Bytes()[n*size:], fmt.Sprintf("frame %d.........", n+1))
	}

	for n := uint64(1); n <= frames; n++ {
		from, slot := upload.Range(int(n-1)*size, size), memory.Range(int(n%slots)*size, size)
		if n > slots {
			check(copying.Wait(shown.At(n - slots))) // its slot is free again
		}
		must(copying.Submit(new(dxgsync.CommandBuffer).Copy(slot, from).Signal(uploaded, n)))

		check(computing.Wait(uploaded.At(n)))
		tail := memory.Range(int(n%slots)*size+8, 8)
		must(computing.Submit(new(dxgsync.CommandBuffer).Fill(tail, 0x21212121)))
		must(computing.Do(func(context.Context) error {
			at := int(n%slots) * size
			fmt.Printf("%s\n", memory.Bytes()[at:at+size])
			return nil
		}))
		check(computing.Signal(shown.At(n)))
	}
	check(d.WaitIdle(context.Background()))
	// Output:
	// frame 1.!!!!!!!!
	// frame 2.!!!!!!!!
	// frame 3.!!!!!!!!
	// frame 4.!!!!!!!!
	// frame 5.!!!!!!!!
}

// A command buffer hangs. The engine is reset, the device is lost and made anew, and the
// work goes on where it was.
func Example_recovery() {
	ctx := context.Background()
	session := must(dxgsync.Open(dxgsync.WithTDR(dxgsync.TDR{Delay: time.Millisecond})))
	defer session.Close()

	hang := true // once
	frame := 1
	work := func() error {
		d := must(session.NewDevice())
		defer d.Close()
		gpu := must(d.NewContext(dxgsync.ContextOptions{}))
		for ; frame <= 3; frame++ {
			cb := new(dxgsync.CommandBuffer).Delay(time.Microsecond)
			if frame == 2 && hang {
				hang = false
				cb.Hang()
			}
			if _, err := gpu.Submit(cb); err != nil {
				return err
			}
			if err := d.WaitIdle(ctx); err != nil {
				return err
			}
			fmt.Println("frame", frame)
		}
		return nil
	}
	err := work()
	for errors.Is(err, dxgsync.ErrLost) {
		fmt.Println(err)
		err = work()
	}
	check(err)
	// Output:
	// frame 1
	// dxgsync: device lost: its work hung the GPU (HUNG)
	// frame 2
	// frame 3
}
