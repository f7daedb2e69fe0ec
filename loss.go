package dxgsync

import (
	"errors"
	"fmt"

	"github.com/dxgsync/dxgsync/abi"
)

// ErrLost is what every [LossError] is, for errors.Is.
var ErrLost = errors.New("dxgsync: device lost")

// A LossError says that a device can do no more, and why. Close it, make another one
// with everything on it, and go on: [abi.DeviceExecutionReset] is the fault of somebody
// else, and so is [abi.DeviceExecutionStopped], after which the adapter is gone, too.
type LossError struct {
	State abi.DeviceExecutionState
	// Fault is the access that no mapping allows, with
	// [abi.DeviceExecutionDMAPageFault].
	Fault *Fault
	// Status is what the call answered.
	Status abi.Status
}

// A Fault is an access of the GPU that no mapping allows.
type Fault struct {
	Address uint64 // the GPU virtual address
	Write   bool
}

// String returns the fault in words.
func (f *Fault) String() string {
	if f.Write {
		return fmt.Sprintf("write to %#x", f.Address)
	}
	return fmt.Sprintf("read from %#x", f.Address)
}

var lossReasons = map[abi.DeviceExecutionState]string{
	abi.DeviceExecutionReset:        "the adapter was reset because of another",
	abi.DeviceExecutionHung:         "its work hung the GPU",
	abi.DeviceExecutionStopped:      "the adapter stopped",
	abi.DeviceExecutionOutOfMemory:  "its memory could not be made resident",
	abi.DeviceExecutionDMAFault:     "its commands could not be executed",
	abi.DeviceExecutionDMAPageFault: "its work touched what is not mapped",
}

// Error says why, with the state's name in WDDM.
func (e *LossError) Error() string {
	text := fmt.Sprintf("dxgsync: device lost: %s (%v)", lossReasons[e.State], e.State)
	if e.Fault != nil {
		text += ": " + e.Fault.String()
	}
	return text
}

// Is reports whether target is [ErrLost], [abi.StatusDeviceRemoved], or the status that
// the call answered.
func (e *LossError) Is(target error) bool {
	return target == ErrLost || target == abi.StatusDeviceRemoved || target == error(e.Status)
}

// State returns [abi.DeviceExecutionActive], or why the device can do no more.
//
// Errors: [abi.StatusDeviceRemoved] when the adapter or the daemon is gone;
// [ErrClosed].
//
// D3DKMTGetDeviceState with D3DKMT_DEVICESTATE_EXECUTION.
func (d *Device) State() (abi.DeviceExecutionState, error) {
	rec, err := d.ask(abi.DeviceStateExecution)
	if err != nil {
		return 0, err
	}
	return *rec.ExecutionState(), nil
}

// pageFaultWrite is DXGK_PAGE_FAULT_WRITE.
const pageFaultWrite = 1

// Fault returns where the device's work touched what is not mapped; nil when that has
// not happened.
//
// Errors: as [Device.State].
//
// D3DKMTGetDeviceState with D3DKMT_DEVICESTATE_PAGE_FAULT.
func (d *Device) Fault() (*Fault, error) {
	if state, err := d.State(); err != nil || state != abi.DeviceExecutionDMAPageFault {
		return nil, err
	}
	rec, err := d.ask(abi.DeviceStatePageFault)
	if err != nil {
		return nil, err
	}
	f := rec.PageFaultState()
	return &Fault{Address: f.FaultedVirtualAddress, Write: f.PageFaultFlags&pageFaultWrite != 0}, nil
}

// Err returns nil while the device can work; a [LossError] when it is lost;
// [abi.StatusDeviceRemoved] after the loss of the daemon; [ErrClosed].
func (d *Device) Err() error { return d.loss(abi.StatusDeviceRemoved) }

func (d *Device) ask(kind abi.DeviceStateType) (*abi.GetDeviceState, error) {
	if d.closed.Load() {
		return nil, ErrClosed
	}
	rec := &abi.GetDeviceState{HDevice: d.handle, StateType: kind}
	if st := d.s.GetDeviceState(rec); st != abi.StatusSuccess {
		return nil, d.s.failure(st)
	}
	return rec, nil
}

// loss says why the device is lost, of which st told; nil: it is not.
func (d *Device) loss(st abi.Status) error {
	state, err := d.State()
	if err != nil || state == abi.DeviceExecutionActive {
		return err
	}
	fault, _ := d.Fault() // it is there, or the state was enough
	return &LossError{State: state, Fault: fault, Status: st}
}

// failure turns the status of a call about the device into an error.
func (d *Device) failure(st abi.Status) error {
	if st != abi.StatusSuccess && d.closed.Load() {
		return ErrClosed
	}
	if st == abi.StatusDeviceRemoved || st == abi.StatusGraphicsGpuExceptionOnDevice {
		if err := d.loss(st); err != nil {
			return err
		}
	}
	return d.s.failure(st)
}
