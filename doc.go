// Package dxgsync gives Go programs the GPU synchronization objects of the Windows
// Display Driver Model (WDDM) on Linux: monitored fences, 64-bit values that rise,
// shared between goroutines and processes at the speed of memory.
//
// # Fences
//
// A [Fence] stands for progress: frame 17 is ready, buffer 40 is free. Whoever
// makes the progress signals the number; whoever needs it waits for the number:
//
//	session, err := dxgsync.Open()
//	device, err := session.NewDevice()
//	ready, err := device.NewFence(dxgsync.FenceOptions{})
//
//	go func() { fill(buffer); ready.Signal(1) }()
//
//	err = ready.Wait(ctx, 1) // buffer is filled
//
// What was written to memory before a signal is there after the wait that it
// satisfies. Any number of goroutines may wait for any values; a signal wakes those
// whose value was reached, and no others. Thousands of waiting goroutines use no
// more than a thread. [WaitAny] and [WaitAll] wait for several fences, a context
// bounds every wait, and [Fence.Notify] gives an eventfd for a poll loop.
//
// # Kernels, sessions, processes
//
// The objects live in a kernel. [Open] makes one inside the process, which is all
// that goroutines need. For several processes there is a daemon (dxgsync serve, or
// dxgsync run around the programs): [WithDaemon] joins it. A process hands a fence
// to another with [Fence.Share], a file to pass on by inheritance or over a Unix
// socket, which [Device.OpenShared] opens there. Or it gives the fence a name with
// [Fence.ShareWith], and [Device.OpenNamed] finds it, as far as its [Security] allows.
// Programs in C use the same fences through libdxg.so.
//
// Between processes, too, a signal that nobody waits for and a wait that is already
// satisfied touch shared memory only. Processes of one Unix user trust each other;
// processes of other users get a read-only view and signal through the daemon.
//
// # Frames and turns
//
// [Device.NewPeriodicFence] makes a fence that advances by itself, once per refresh of
// an output. A [KeyedMutex] is for things that goroutines or processes use in turn:
// each release says by a key whose turn is next.
//
// # Work for a GPU
//
// [Device.NewContext] makes a queue of work on one node of the GPU, here one in
// software. Submitting to it returns at once; it does in order what it is given: command
// buffers ([Context.Submit]), waits ([Context.Wait]) that hold what comes after them and
// nobody else, signals ([Context.Signal]), and functions ([Context.Do]) for programs
// that want the queues and have no GPU in mind. A [HwQueue] does the same in hardware.
//
//	done, err := context.Submit(new(dxgsync.CommandBuffer).Copy(picture, upload))
//	err = other.Wait(done)   // another context
//	err = done.Wait(ctx)     // this goroutine
//
// A [Buffer] is memory of both: bytes for the program, an address for the GPU.
//
// # GPU to GPU
//
// What a Context waits for and signals goes through the kernel. A [NativeFence] needs none:
// command buffers wait for it and signal it by themselves, engine to engine and process to
// process, and a CPU is interrupted only when one waits. With a [UserQueue] not even the
// submission is a call: it rings a doorbell, which the GPU looks at.
//
//	turn, err := device.NewNativeFence(dxgsync.NativeFenceOptions{Shared: true})
//	queue, err := device.NewUserQueue(dxgsync.UserQueueOptions{})
//	done, err := queue.Submit(new(dxgsync.CommandBuffer).WaitNative(turn, 1).SignalNative(turn, 2))
//
// Not every adapter has them; [Adapter.Feature] tells.
//
// # Loss
//
// Work that hangs the GPU or touches what is not mapped loses its device: what was
// queued is dropped, and its fences are lost, unless made or opened with
// SyncObjectNoSignalMaxValueOnTdr. Calls return a [LossError] that says why, and
// [Device.WaitIdle] does. Devices of others go on. Close it, make another, go on; see the
// example Recovery.
//
// When a process dies, the fences that its devices created are lost: their value
// becomes [Lost], the highest there is, and every wait is satisfied. So nobody
// hangs, but arrival and loss look alike, as in WDDM; ask [Fence.Lost] after a wait
// where it matters. A program that is done closes its devices, which leaves the
// values of shared fences alone. A keyed mutex whose owner dies is abandoned, and
// says so with [abi.StatusAbandoned] for ever after. When the daemon itself dies, values become Lost,
// too, and waits and calls return [abi.StatusDeviceRemoved].
//
// # Errors
//
// An error is an [abi.Status], the NTSTATUS that WDDM gives, or [ErrClosed], or a
// context's cause. Compare with errors.Is.
//
// # Raw calls
//
// Every D3DKMT call is also there under its own name as a method of [Session], with
// the public records of package abi. Both levels mix: handles are the same.
package dxgsync
