package decode

import (
	"reflect"
	"strings"

	"github.com/dxgsync/dxgsync/abi"
)

// A member is one reading of a union.
type member struct {
	name   string
	offset int // in the record that has the union
	typ    reflect.Type
}

// members finds the readings of a record's unions: its methods that return a pointer
// into the record, as package abi makes them for each.
func members(t reflect.Type) []member {
	p := reflect.New(t)
	base := p.Pointer()
	var all []member
	for i := range p.NumMethod() {
		m := p.Method(i)
		if mt := m.Type(); mt.NumIn() != 0 || mt.NumOut() != 1 || mt.Out(0).Kind() != reflect.Pointer {
			continue
		}
		at := m.Call(nil)[0]
		if off := at.Pointer() - base; off < t.Size() {
			all = append(all, member{p.Type().Method(i).Name, int(off), at.Type().Elem()})
		}
	}
	return all
}

// within are the members of the union at a range of the record.
func within(all []member, offset, size int) []member {
	var some []member
	for _, m := range all {
		if m.offset >= offset && m.offset < offset+size {
			some = append(some, m)
		}
	}
	return some
}

func isUnion(field string) bool { return strings.HasPrefix(field, "Union") || field == "State" }

// ofKind is the member of a sync object's union by its Type.
var ofKind = map[uint32]string{
	uint32(abi.SynchronizationMutex):   "SynchronizationMutex",
	uint32(abi.Semaphore):              "Semaphore",
	uint32(abi.Fence):                  "Fence",
	uint32(abi.CPUNotification):        "CPUNotification",
	uint32(abi.MonitoredFence):         "MonitoredFence",
	uint32(abi.PeriodicMonitoredFence): "PeriodicMonitoredFence",
}

// A choice says by which field of a record the member of its union is chosen.
type choice struct {
	field string
	pick  func(v uint32, name string) bool
}

func by(names map[uint32]string) func(uint32, string) bool {
	return func(v uint32, name string) bool { return names[v] == name }
}

// byEvent: the event with EnqueueCpuEvent, the values without.
func byEvent(v uint32, name string) bool {
	return (name == "CpuEventHandle") == (v&uint32(abi.SignalEnqueueCpuEvent) != 0)
}

// choices are the records whose union is chosen by another field. The members of all
// others are shown one beside the other.
var choices = map[reflect.Type]choice{
	reflect.TypeFor[abi.SynchronizationObjectInfo]():  {"Type", by(ofKind)},
	reflect.TypeFor[abi.SynchronizationObjectInfo2](): {"Type", by(ofKind)},
	reflect.TypeFor[abi.GetDeviceState](): {"StateType", by(map[uint32]string{
		uint32(abi.DeviceStateExecution):    "ExecutionState",
		uint32(abi.DeviceStatePresent):      "PresentState",
		uint32(abi.DeviceStateReset):        "ResetState",
		uint32(abi.DeviceStatePresentDWM):   "PresentStateDWM",
		uint32(abi.DeviceStatePageFault):    "PageFaultState",
		uint32(abi.DeviceStatePresentQueue): "PresentQueueState",
	})},
	reflect.TypeFor[abi.UpdateGpuVirtualAddressOperation](): {"OperationType", by(map[uint32]string{
		0: "Map", 1: "Unmap", 2: "Copy", 3: "MapProtect",
	})},
	reflect.TypeFor[abi.SignalSynchronizationObject2]():        {"Flags", byEvent},
	reflect.TypeFor[abi.SignalSynchronizationObjectFromGpu2](): {"Flags", byEvent},
}
