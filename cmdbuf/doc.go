// Package cmdbuf is the format of the command buffers that the software GPU executes:
// programs write them with Buffer, the GPU and tools read them with Reader and Decode.
// C programs have the same in <dxgsync/softgpu.h>.
//
// A buffer is a header of 8 bytes, by which the GPU tells it from buffers that were
// written for other GPUs, and commands behind each other: opcode and size in bytes, 32
// bits each, then the fields of the command, 64 bits each. Everything is little endian,
// and aligned to 8 bytes within the buffer. The length of a buffer is that of its
// submission; it needs no end mark.
//
//	buf := cmdbuf.New().Write64(data, 42).Signal(fence, 1).Bytes()
//
// docs/command-buffers.md is the page of the format, with an example byte by byte. The
// version in the header changes when a command changes; new commands keep it.
package cmdbuf
