package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/wire"
)

// A target is what a fault is for, as it is named on the command line.
type target struct {
	abi.ProvokeFault
	text    string
	what    string // instead of an adapter or a process
	adapter int    // its number, -1 if it has a LUID or it is a process
}

// String names it for people.
func (t target) String() string {
	switch {
	case t.what != "":
		return t.what
	case t.Handle != 0:
		return fmt.Sprintf("%v of process %d", t.Handle, t.PID)
	case t.PID != 0:
		return fmt.Sprintf("process %d", t.PID)
	}
	return "adapter " + t.text
}

// A foundKernel is a kernel with its listing.
type foundKernel struct {
	place place
	*kernel.Snapshot
}

// find finds the one kernel that is meant: the one that was named, else the only one
// there is, else the only one with the process.
func (t *target) find(f lsFlags) (foundKernel, error) {
	places, one, err := choosePlaces(f)
	if err != nil {
		return foundKernel{}, err
	}
	var all, having []foundKernel
	for _, p := range places {
		s, err := inspect(p.Address)
		switch {
		case err == nil:
			all = append(all, foundKernel{p, s})
			if t.PID != 0 && slices.ContainsFunc(s.Processes, t.isProcess) {
				having = append(having, foundKernel{p, s})
			}
		case one || !errors.Is(err, errNobody) && !errors.Is(err, errGone):
			return foundKernel{}, err
		}
	}
	switch {
	case len(having) == 1:
		return having[0], nil
	case len(all) == 1:
		return all[0], nil
	case len(all) == 0:
		return foundKernel{}, noKernel(wire.Address())
	case t.PID != 0 && len(having) == 0:
		return foundKernel{}, fmt.Errorf("no kernel of this user has a process %d; dxgsync ls processes shows those there are", t.PID)
	}
	var names []string
	for _, k := range all {
		names = append(names, k.place.String())
	}
	return foundKernel{}, fmt.Errorf("%s could be of any of %d kernels: %s; choose one with --socket or --pid", t, len(all), strings.Join(names, ", "))
}

func (t *target) isProcess(p kernel.ProcessRow) bool { return p.PID == int(t.PID) }

// check resolves the adapter and says beforehand why the kernel would refuse.
func (t *target) check(k foundKernel) error {
	if t.PID == 0 {
		return t.checkAdapter(k)
	}
	switch t.Kind {
	case abi.FaultRemove:
		return fmt.Errorf("only an adapter can be removed; use reset for %s", t)
	case abi.FaultPower:
		return fmt.Errorf("only an adapter has a power state, and %s is none", t)
	}
	if !slices.ContainsFunc(k.Processes, t.isProcess) {
		return fmt.Errorf("the kernel at %s has no process %d; dxgsync ls processes shows those it has", k.place.Address, t.PID)
	}
	states, contexts := t.devices(k)
	switch {
	case len(states) == 0 && t.Handle != 0:
		return fmt.Errorf("process %d has no device, context or hardware queue %v; dxgsync ls queues shows what it has", t.PID, t.Handle)
	case len(states) == 0:
		return fmt.Errorf("process %d has no device yet, so there is nothing to break", t.PID)
	case !slices.Contains(states, abi.DeviceExecutionActive.String()):
		return fmt.Errorf("%s is lost already (%s): the program has to make a new device first", t, states[0])
	case contexts == 0 && t.Kind != abi.FaultReset:
		return fmt.Errorf("%s has no context, so no packet of it can %s; use reset", t, verb(t.Kind))
	}
	return nil
}

// devices are the states of the devices that are meant, and how many contexts they have.
func (t *target) devices(k foundKernel) (states []string, contexts int) {
	meant := map[[2]uint64]bool{} // by process and handle
	for _, q := range k.Queues {
		if q.PID == int(t.PID) && q.Handle == t.Handle {
			meant[[2]uint64{q.Process, uint64(q.Device)}] = true
		}
	}
	for _, d := range k.Devices {
		if d.PID == int(t.PID) && (t.Handle == 0 || d.Handle == t.Handle || meant[[2]uint64{d.Process, uint64(d.Handle)}]) {
			states = append(states, d.State)
			contexts += d.Contexts
		}
	}
	return states, contexts
}

func verb(k abi.FaultKind) string {
	if k == abi.FaultPage {
		return "fault"
	}
	return k.String()
}

func (t *target) checkAdapter(k foundKernel) error {
	var have []string
	for i, a := range k.Adapters {
		have = append(have, fmt.Sprintf("%d (%s, %s)", i, a.LUID, a.Profile))
		if i != t.adapter && (t.adapter >= 0 || a.LUID != t.AdapterLuid.String()) {
			continue
		}
		luid, err := parseTarget(a.LUID)
		if err != nil {
			return err
		}
		t.AdapterLuid = luid.AdapterLuid
		if a.Stopped {
			return fmt.Errorf("adapter %d (%s) was removed or has stopped; it comes back when the kernel starts again", i, a.LUID)
		}
		return t.checkEngine(k, a.LUID)
	}
	return fmt.Errorf("the kernel at %s has no adapter %s, only %s", k.place.Address, t.text, strings.Join(have, ", "))
}

func (t *target) checkEngine(k foundKernel, luid string) error {
	if t.Node == abi.FaultEveryNode {
		return nil
	}
	name := fmt.Sprintf("%d.%d", t.Node, t.Engine)
	var have []string
	for _, e := range k.Engines {
		if e.Adapter == luid {
			have = append(have, e.Engine)
		}
	}
	if !slices.Contains(have, name) {
		return fmt.Errorf("adapter %s has no engine %s, only %s", luid, name, strings.Join(have, ", "))
	}
	return nil
}

// explain says what a refusal of the kernel means, and what to do.
func (t *target) explain(k foundKernel, err error) error {
	advice := ""
	switch {
	case errors.Is(err, abi.StatusAccessDenied):
		advice = "only root and the user who runs the kernel may provoke faults"
	case errors.Is(err, abi.StatusNotSupported) && t.Kind == abi.FaultPower:
		advice = "only adapters with doorbells have power states; the feature is USER_MODE_SUBMISSION"
	case errors.Is(err, abi.StatusNotSupported):
		advice = "its driver cannot be made to fail; the software GPU's can"
	case errors.Is(err, abi.StatusDeviceRemoved):
		advice = "it has just been lost for another reason"
	case errors.Is(err, abi.StatusInvalidParameter):
		advice = "it has just ended"
	default:
		return err
	}
	return fmt.Errorf("%v of %s at %s: %w: %s", t.Kind, t, k.place.Address, err, advice)
}
