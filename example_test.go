package dxgsync_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"time"

	"github.com/dxgsync/dxgsync"
	"github.com/dxgsync/dxgsync/abi"
)

// device is where the examples begin: a device of a kernel in this process.
func device() *dxgsync.Device {
	session, err := dxgsync.Open()
	if err != nil {
		log.Fatal(err)
	}
	device, err := session.NewDevice()
	if err != nil {
		log.Fatal(err)
	}
	return device
}

func fence(d *dxgsync.Device, opts dxgsync.FenceOptions) *dxgsync.Fence {
	f, err := d.NewFence(opts)
	if err != nil {
		log.Fatal(err)
	}
	return f
}

func Example() {
	ctx := context.Background()
	session, err := dxgsync.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	device, err := session.NewDevice()
	if err != nil {
		log.Fatal(err)
	}
	ready, err := device.NewFence(dxgsync.FenceOptions{})
	if err != nil {
		log.Fatal(err)
	}

	var buffer string
	go func() {
		buffer = "filled"
		_ = ready.Signal(1)
	}()
	if err := ready.Wait(ctx, 1); err != nil {
		log.Fatal(err)
	}
	fmt.Println(buffer)
	// Output: filled
}

func ExampleOpen() {
	session, err := dxgsync.Open(dxgsync.WithAdapter("amd"), dxgsync.WithAdapter("intel"))
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	adapters, err := session.Adapters()
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range adapters {
		info, err := a.Info()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("vendor %#x\n", info.VendorID)
		_ = a.Close()
	}
	// Output:
	// vendor 0x1002
	// vendor 0x8086
}

func ExampleWithDaemon() {
	// Finds the daemon of `dxgsync serve`, or the kernel of `dxgsync run`.
	session, err := dxgsync.Open(dxgsync.WithDaemon(dxgsync.DefaultAddress))
	if err != nil {
		fmt.Println("no daemon here")
		return
	}
	defer session.Close()
}

func ExampleAdapter_NewDevice() {
	session, err := dxgsync.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	adapters, err := session.Adapters()
	if err != nil {
		log.Fatal(err)
	}
	device, err := adapters[0].NewDevice(dxgsync.DeviceOptions{})
	if err != nil {
		log.Fatal(err)
	}
	state, err := device.State()
	fmt.Println(state, err)
	// Output: ACTIVE <nil>
}

func ExampleDevice_NewFence() {
	d := device()
	defer d.Session().Close()
	f := fence(d, dxgsync.FenceOptions{Initial: 40})
	fmt.Println(f.Value())
	// Output: 40
}

// A loop that does something once per frame of the first output, 2 ms before it.
func ExampleDevice_NewPeriodicFence() {
	d := device()
	defer d.Session().Close()
	frames, err := d.NewPeriodicFence(dxgsync.PeriodicFenceOptions{Before: 2 * time.Millisecond})
	if err != nil {
		log.Fatal(err)
	}
	defer frames.Close()
	for range 3 {
		if err := frames.Wait(context.Background(), frames.Value()+1); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(frames.Value() >= 3)
	// Output: true
}

func ExampleDevice_NewContext() {
	d := device()
	defer d.Session().Close()
	context, err := d.NewContext(dxgsync.ContextOptions{Node: 0})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(context.Close())
	// Output: <nil>
}

func ExampleFence_Signal() {
	d := device()
	defer d.Session().Close()
	f := fence(d, dxgsync.FenceOptions{})
	fmt.Println(f.Signal(5), f.Value())
	err := f.Signal(4)
	fmt.Println(errors.Is(err, abi.StatusInvalidParameter), f.Value())
	// Output:
	// <nil> 5
	// true 5
}

func ExampleDevice_Signal() {
	d := device()
	defer d.Session().Close()
	a, b := fence(d, dxgsync.FenceOptions{}), fence(d, dxgsync.FenceOptions{})
	fmt.Println(d.Signal(a.At(1), b.At(2)), a.Value(), b.Value())
	// Output: <nil> 1 2
}

func ExampleFence_Rewind() {
	d := device()
	defer d.Session().Close()
	f := fence(d, dxgsync.FenceOptions{Initial: 100})
	fmt.Println(f.Rewind(1), f.Value())
	// Output: <nil> 1
}

func ExampleFence_Wait() {
	d := device()
	defer d.Session().Close()
	f := fence(d, dxgsync.FenceOptions{})
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	err := f.Wait(ctx, 1)
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output: true
}

func ExampleFence_Lost() {
	d := device()
	defer d.Session().Close()
	f := fence(d, dxgsync.FenceOptions{Initial: dxgsync.Lost})
	err := f.Wait(context.Background(), 7)
	fmt.Println(err, f.Lost()) // satisfied, but by a loss
	// Output: <nil> true
}

func ExampleWaitAny() {
	d := device()
	defer d.Session().Close()
	frame, quit := fence(d, dxgsync.FenceOptions{}), fence(d, dxgsync.FenceOptions{})
	go func() { _ = quit.Signal(1) }()
	i, err := dxgsync.WaitAny(context.Background(), frame.At(1), quit.At(1))
	fmt.Println(i, err)
	// Output: 1 <nil>
}

func ExampleWaitAll() {
	d := device()
	defer d.Session().Close()
	left, right := fence(d, dxgsync.FenceOptions{}), fence(d, dxgsync.FenceOptions{})
	go func() { _ = left.Signal(1) }()
	go func() { _ = right.Signal(1) }()
	err := dxgsync.WaitAll(context.Background(), left.At(1), right.At(1))
	fmt.Println(err)
	// Output: <nil>
}

func ExampleFence_Notify() {
	d := device()
	defer d.Session().Close()
	f := fence(d, dxgsync.FenceOptions{})
	event, err := f.Notify(3)
	if err != nil {
		log.Fatal(err)
	}
	defer event.Close()
	go func() { _ = f.Signal(3) }()
	n, err := event.Read(make([]byte, 8)) // or poll it with other descriptors
	fmt.Println(n, err)
	// Output: 8 <nil>
}

func ExampleFence_Share() {
	d := device()
	defer d.Session().Close()
	f := fence(d, dxgsync.FenceOptions{Shared: true})
	file, err := f.Share()
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	// The child finds the fence in its descriptor 3.
	child := exec.Command("child", "--fence-fd", "3")
	child.ExtraFiles = []*os.File{file}
	// Output:
}

func ExampleDevice_OpenShared() {
	d := device()
	defer d.Session().Close()
	file, err := fence(d, dxgsync.FenceOptions{Shared: true, Initial: 6}).Share()
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	// Usually in another process: os.NewFile(3, "fence").
	view, err := d.OpenShared(file, dxgsync.OpenOptions{Flags: abi.SyncObjectNoSignal})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(view.Value(), errors.Is(view.Signal(7), abi.StatusAccessDenied))
	// Output: 6 true
}

// Two users pass a mutex to and fro, each with the other's key.
func ExampleSession_NewKeyedMutex() {
	ctx := context.Background()
	session, err := dxgsync.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	const producer, consumer = 0, 1
	mutex, err := session.NewKeyedMutex(dxgsync.KeyedMutexOptions{Key: producer})
	if err != nil {
		log.Fatal(err)
	}
	defer mutex.Close()

	var frame string
	go func() {
		for _, name := range []string{"red", "green", "blue"} {
			fence, _ := mutex.Acquire(ctx, producer)
			frame = name
			_ = mutex.Release(consumer, fence+1)
		}
	}()
	for range 3 {
		fence, err := mutex.Acquire(ctx, consumer)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(fence, frame)
		_ = mutex.Release(producer, fence)
	}
	// Output:
	// 1 red
	// 2 green
	// 3 blue
}

// Usually the view of another process, which got the handle as a number.
func ExampleSession_OpenSharedKeyedMutex() {
	session, err := dxgsync.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	mine, err := session.NewKeyedMutex(dxgsync.KeyedMutexOptions{})
	if err != nil {
		log.Fatal(err)
	}
	theirs, err := session.OpenSharedKeyedMutex(mine.SharedHandle(), dxgsync.KeyedMutexOptions{})
	if err != nil {
		log.Fatal(err)
	}
	_, err = theirs.TryAcquire(0)
	fmt.Println("acquired:", err == nil)
	_, err = mine.TryAcquire(0)
	fmt.Println("owned:", errors.Is(err, abi.StatusTimeout))
	_ = theirs.Close() // without a release
	_, err = mine.TryAcquire(0)
	fmt.Println("abandoned:", errors.Is(err, abi.StatusAbandoned))
	// Output:
	// acquired: true
	// owned: true
	// abandoned: true
}

// A fence with a name can be opened by whoever knows it.
func Example_named() {
	d := device()
	defer d.Session().Close()
	file, err := fence(d, dxgsync.FenceOptions{Shared: true, Initial: 6}).ShareWith(dxgsync.ShareOptions{
		Name:     "Frames",
		Security: dxgsync.SecurityMode(0o640), // the group may wait
	})
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close() // until then the name is there

	// Usually in another process, on the same daemon.
	view, err := d.OpenNamed("Frames", dxgsync.AccessWait, dxgsync.OpenOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(view.Value(), errors.Is(view.Signal(7), abi.StatusAccessDenied))
	_, err = d.OpenNamed("Sound", dxgsync.AccessWait, dxgsync.OpenOptions{})
	fmt.Println(errors.Is(err, abi.StatusObjectNameNotFound))
	// Output:
	// 6 true
	// true
}

func ExampleFence_Close() {
	d := device()
	defer d.Session().Close()
	f := fence(d, dxgsync.FenceOptions{})
	fmt.Println(f.Close())
	fmt.Println(errors.Is(f.Signal(1), os.ErrClosed))
	// Output:
	// <nil>
	// true
}

// The raw calls take WDDM's own records.
func ExampleSession_CreateSynchronizationObject2() {
	session, err := dxgsync.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	device, err := session.NewDevice()
	if err != nil {
		log.Fatal(err)
	}
	var create abi.CreateSynchronizationObject2
	create.HDevice = device.Handle()
	create.Info.Type = abi.MonitoredFence
	status := session.CreateSynchronizationObject2(&create)
	fmt.Println(status == abi.StatusSuccess, create.HSyncObject != 0)
	signal := abi.SignalSynchronizationObjectFromCpu{HDevice: device.Handle()}
	status = session.SignalSynchronizationObjectFromCpu(&signal, []abi.Handle{create.HSyncObject}, []uint64{5})
	fmt.Println(status == abi.StatusSuccess)
	wait := abi.WaitForSynchronizationObjectFromCpu{HDevice: device.Handle()}
	status = session.WaitForSynchronizationObjectFromCpu(&wait, []abi.Handle{create.HSyncObject}, []uint64{5})
	fmt.Println(status == abi.StatusSuccess)
	// Output:
	// true true
	// true
	// true
}
