// Package sim is a seeded world: a kernel with a clock that is told, drivers that do
// what they are told, several processes, and beside them a model of what the
// specification says. A program is a list of random calls and events; after each of
// them everything that can be seen of the kernel must be as in the model: the status
// of the call, values of fences, states of objects and devices, which events are set
// and how often, what is queued and what is at the GPU, when something is due.
//
// The model (model*.go) is written from the specification with plain lists and looks
// at everything again after each change. It shares no code with syncobj and vidsch.
// Where the specification leaves an order open, both follow the same sentences:
//
//   - Queues for which something has happened are looked at in the order in which it
//     did, each as far as it can go; those of the first adapter first.
//   - Waits that one value ends end from the lowest target up. Equal targets have no
//     order, so programs wait for a value with targets that differ by less than a step
//     between values.
//   - An engine takes the first buffer of the queue with the highest priority, of equal
//     ones that which has been in line longest.
//
// Of native fences the model derives from the waits which monitored value each driver must
// have been told, and from each store whom it must have been told of. A driver interrupts
// when a value is above that, naming the fences or none, late or without a reason; it may
// have its GPU store a value before it takes the next monitored value. Packets' waits are
// the kernel's: these drivers have no waits of their own.
//
// # Replay
//
// A failure prints the seed and the program, shrunk to the actions that are needed.
// Environment variables change what TestAgainstModel runs:
//
//	DXGSYNC_SIM_SEED      this seed only
//	DXGSYNC_SIM_PROGRAMS  how many programs, instead of ten thousand
//	DXGSYNC_SIM_STEPS     how many actions each has, instead of 60
package sim
