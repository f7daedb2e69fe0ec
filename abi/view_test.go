package abi

import "testing"

func TestViewIsTheRecordItself(t *testing.T) {
	record := make([]byte, OpCreateDevice.Size)
	View[CreateDevice](record).HDevice = 0x40000440
	if record[0x0C] != 0x40 || record[0x0D] != 4 || record[0x0F] != 0x40 {
		t.Errorf("bytes 0x0C to 0x0F are % x", record[0x0C:0x10])
	}
}

func TestViewRefusesWhatIsNoRecord(t *testing.T) {
	room := make([]byte, 128)
	for name, record := range map[string][]byte{
		"none":        nil,
		"too short":   room[:63],
		"not aligned": room[4:72],
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: View returned", name)
				}
			}()
			View[CreateDevice](record)
		}()
	}
}

// Every union is seen at its place: what a view stores is read through the record.
func TestUnionsAreSeenInPlace(t *testing.T) {
	var c CreateSynchronizationObject2
	c.Info.MonitoredFence().FenceValueGPUVirtualAddress = 7
	if c.Info.Union[2] != 7 {
		t.Errorf("the union is %v", c.Info.Union)
	}
	c.Info.Semaphore().InitialCount = 3
	if c.Info.Union[0] != 3<<32 {
		t.Errorf("the union is %v", c.Info.Union)
	}
	var s GetDeviceState
	*s.ExecutionState() = DeviceExecutionHung
	if uint32(s.State[0]) != 3 {
		t.Errorf("the state is %v", s.State)
	}
}
