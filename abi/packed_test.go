package abi

import "testing"

func TestPackedNumbersAreLittleEndian(t *testing.T) {
	var q QueryClockCalibration
	q.NodeOrdinal.Set(0x01020304)
	q.ClockData.GpuFrequency.Set(0x1122334455667788)
	if q.NodeOrdinal != (Packed32{4, 3, 2, 1}) || q.ClockData.GpuFrequency != (Packed64{0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11}) {
		t.Errorf("stored %v, %v", q.NodeOrdinal, q.ClockData.GpuFrequency)
	}
	if q.NodeOrdinal.Get() != 0x01020304 || q.ClockData.GpuFrequency.Get() != 0x1122334455667788 {
		t.Errorf("read %#x, %#x", q.NodeOrdinal.Get(), q.ClockData.GpuFrequency.Get())
	}
	var n NodeMetadataWchar16
	n.NodeData.FriendlyName[1].Set('D')
	if n.NodeData.FriendlyName[1].Get() != 'D' || n.NodeData.FriendlyName[1][0] != 'D' {
		t.Errorf("the name is %v", n.NodeData.FriendlyName[:2])
	}
}
