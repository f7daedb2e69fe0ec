package softgpu

import (
	"encoding/binary"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/ddi"
)

// Layout of a log, in bytes. Source: DXGK_NATIVE_FENCE_LOG_BUFFER.
const (
	logHeader = 40
	logEntry  = 48
)

// A fenceLog is where a hardware queue logs one kind of events; without entries nowhere.
type fenceLog struct {
	va      uint64
	system  bool // va is of the system process
	entries uint32
}

// An event is an entry of a log, with times in ticks of the GPU's clock.
type event struct {
	value         uint64
	fence         uint32
	op            abi.NativeFenceLogOperation
	observed, end uint64
}

// SetNativeFenceLogBuffer has a hardware queue use another log. When it returns, the one
// before is not written any more. An unknown queue or type is ignored.
func (g *GPU) SetNativeFenceLogBuffer(args ddi.SetNativeFenceLogBufferArgs) {
	defer g.quiet()()
	q := g.queues[args.HwQueue]
	if q == nil {
		return
	}
	l := fenceLog{va: args.LogBufferGpuVa, entries: args.NumberOfEntries}
	if args.LogBufferSystemProcessGpuVa != 0 {
		l.va, l.system = args.LogBufferSystemProcessGpuVa, true
	}
	switch args.Type {
	case abi.NativeFenceLogWaits:
		q.waits = l
	case abi.NativeFenceLogSignals:
		q.signals = l
	}
}

// UpdateNativeFenceLogs has nothing to do: what is logged is in memory before the
// interrupt.
func (*GPU) UpdateNativeFenceLogs([]ddi.KmdHwQueue) {}

// log appends an entry, as an engine sees memory of a process, and tells whether it could.
// The place of the next one is in the log's header, where a program may have written
// anything. The caller holds calling, not mu.
func (g *GPU) log(l fenceLog, engine uint32, m ddi.AddressSpace, e event) bool {
	if l.entries == 0 {
		return false
	}
	if l.system {
		m = g.system
	}
	word, f := m.Load64(engine, l.va)
	if f != nil {
		return false
	}
	index, wraps := uint32(word), uint32(word>>32)
	if index >= l.entries {
		index = 0
	}
	b := g.scratch[:logEntry]
	clear(b)
	binary.LittleEndian.PutUint64(b[0:], e.value)
	binary.LittleEndian.PutUint32(b[8:], e.fence)
	binary.LittleEndian.PutUint32(b[12:], uint32(e.op))
	binary.LittleEndian.PutUint64(b[24:], e.observed)
	binary.LittleEndian.PutUint64(b[40:], e.end)
	if m.Write(engine, l.va+logHeader+logEntry*uint64(index), b) != nil {
		return false
	}
	if index++; index == l.entries {
		index, wraps = 0, wraps+1
	}
	return m.Store64(engine, l.va, uint64(wraps)<<32|uint64(index)) == nil
}
