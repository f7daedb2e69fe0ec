// Package vidsch schedules the GPU work of one adapter: contexts and hardware queues
// with their packets, engines that run command buffers, preemption, and what is done
// about an engine that does not answer.
//
// It knows neither synchronization objects nor processes: a packet that waits is a Gate,
// one that signals is a Signal, and who is told of a loss is the Owner. Nothing here locks,
// blocks or reads a clock by itself: the kernel's lock guards every Scheduler, and what
// the driver is to be asked collects in Calls, which the kernel makes in order without
// its lock.
//
// # Order
//
// The packets of a queue are looked at in the order in which they were submitted. The
// first one goes when what came before has got far enough:
//
//	buffer   everything before has been given to the GPU   → given to the GPU
//	wait     everything before is complete                 → passed when its Gate opens
//	signal   everything before is complete; was given to   → takes effect
//	         the GPU (AtSubmission); was read by it (AtRead)
//
// What is at the GPU of one engine runs first in, first out. Which queue's buffer is given
// to an engine next is decided by priority, then by how long it has been first in its
// queue. Source: gpu.md §2, §3, §7; OQ-9, OQ-66.
package vidsch
