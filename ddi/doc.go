// Package ddi is the contract between dxgsync and a display miniport driver: what a
// driver offers (Driver, named after the DxgkDdi… calls) and what it may call back
// (Callbacks, named after the DxgkCb… calls). A driver for a GPU of any kind, real or
// not, is a type with the methods of Driver.
//
// The contract has a family of calls for each interface that Driver is made of. Every
// method is required; what a driver can do is a bit of Caps, and calls of a family whose
// bit is not set do not come. Refusals has the methods of everything a driver leaves
// away. A whole driver in less than 150 lines, as a start for one of your own, is
// examples/driver.
//
// # What the kernel promises
//
//   - StartDevice is the first call and StopDevice the last; each comes once. Before
//     StopDevice everything that was created has been destroyed.
//   - It holds no lock of its own in any call. Calls whose answer decides a create
//     (CreateDevice, CreateContext, CreateHwQueue, CreateCpuEvent, CreateDoorbell,
//     CreatePeriodicFrameNotification) come before it takes its lock; all others are
//     done after it dropped it.
//   - Create and Destroy calls may come from several goroutines at once. Advance is
//     called by one at a time. The calls of Commands, Recovery and Power, and those of
//     HwQueues and Doorbells that are no Create, come one at a time for each adapter, in
//     the order of what the kernel decided; a Destroy call of something comes after all
//     others that name it.
//   - It makes no call from inside a callback.
//   - What was created is destroyed once, also when the create it belonged to failed
//     later for another reason, when its process died, and when the adapter stops.
//   - A DxgCpuEvent or NotificationID that was destroyed is not used again before all
//     other numbers have been.
//   - It asks Next again after every call and every Rearm, and calls Advance when that
//     moment has come. Advance may come late, early and more often than that.
//
// # What the driver promises
//
//   - It guards its own state, and holds no lock that a Create call needs while it
//     calls back.
//   - Callbacks come from any of its goroutines, and from inside Advance, which is the
//     driver's own time; never from inside another call. Otherwise a create that waits
//     for the driver could meet a signal that waits for the create.
//   - It has no timer: whatever depends on time happens in Advance, on the clock that
//     Callbacks.Now reads. So the same driver runs in real time and in a simulation. A
//     driver of real hardware may call back when its hardware does.
//   - No callback names an object whose Destroy call has returned: Destroy waits for
//     callbacks under way. A driver that breaks this harms nobody, the kernel ignores
//     the late one; but it must not rely on that.
//   - A callback may name an object whose Create call has not returned yet. The kernel
//     may ignore it.
//   - No call blocks, but for such a callback under way.
//
// Source: objects.md §5.4, §5.6; gpu.md §6, §10; the pages of the DXGKDDI_… and
// DXGKCB_… functions. Handles of the adapter, which every DxgkDdi call has, are left
// out: the receiver is the adapter.
package ddi
