package suite

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/softgpu"
)

// worldVerbs are the commands that belong to no process. Each reads its arguments, which
// must be right whatever happens, and returns what it does and the output of that.
var worldVerbs = map[string]func(s *Scenario, args []Arg) (func(*runner) (string, error), error){
	"print":   printVerb,
	"advance": advanceVerb,
	"refresh": refreshVerb,
	"output":  outputVerb,
	"signal":  signalVerb,
	"fault":   faultVerb,
}

// told runs a command of the world.
func (r *runner) told(step *Step) (string, bool, error) {
	do, err := worldVerbs[step.Verb](r.scenario, step.Args)
	if err != nil {
		return "", false, err
	}
	text, err := do(r)
	return text, text == step.Want, err
}

// are reports whether arguments are of these forms, without names.
func are(args []Arg, forms ...Form) bool {
	if len(args) != len(forms) {
		return false
	}
	for i, a := range args {
		if a.Name != "" || a.Value.Form != forms[i] {
			return false
		}
	}
	return true
}

func printVerb(_ *Scenario, args []Arg) (func(*runner) (string, error), error) {
	if len(args) != 1 || args[0].Name != "" {
		return nil, errors.New("print wants one expression without blanks")
	}
	return func(r *runner) (string, error) {
		n, err := args[0].Value.eval(r.lookup(nil), nil)
		if err != nil {
			return "", err
		}
		return plain(n), nil
	}, nil
}

func advanceVerb(s *Scenario, args []Arg) (func(*runner) (string, error), error) {
	if !are(args, Quantity) || args[0].Value.Name == "Hz" {
		return nil, errors.New("advance wants a time, 16ms")
	}
	if !s.Manual {
		return nil, errors.New("advance needs the header clock: manual")
	}
	return func(r *runner) (string, error) { return "", r.world.Advance(time.Duration(args[0].Value.Num)) }, nil
}

func refreshVerb(_ *Scenario, args []Arg) (func(*runner) (string, error), error) {
	if !are(args, Number, Number, Quantity) || args[2].Value.Name != "Hz" || args[2].Value.Num > math.MaxUint32 || args[1].Value.Num > math.MaxUint32 {
		return nil, errors.New("refresh wants an adapter, a target and a rate, 59.94Hz")
	}
	target, rate := args[1].Value.Num, args[2].Value.Num
	return onTarget(args[0], target, func(g *softgpu.GPU) abi.Status { return g.SetRefresh(uint32(target), uint32(rate)) }), nil
}

func outputVerb(_ *Scenario, args []Arg) (func(*runner) (string, error), error) {
	if !are(args, Number, Number, Name) || args[2].Value.Name != "on" && args[2].Value.Name != "off" || args[1].Value.Num > math.MaxUint32 {
		return nil, errors.New("output wants an adapter, a target, and on or off")
	}
	target, on := args[1].Value.Num, args[2].Value.Name == "on"
	return onTarget(args[0], target, func(g *softgpu.GPU) abi.Status { return g.SetOn(uint32(target), on) }), nil
}

// onTarget does something to a target of an adapter.
func onTarget(adapter Arg, target uint64, do func(*softgpu.GPU) abi.Status) func(*runner) (string, error) {
	return func(r *runner) (string, error) {
		g, err := r.world.GPU(adapter.Value.Num)
		if err != nil {
			return "", err
		}
		if st := do(g); !st.OK() {
			return "", fmt.Errorf("target %d: %w", target, st)
		}
		return "", nil
	}
}

// signalVerb has a driver signal one of the CPU events that it has, by its place among
// them.
func signalVerb(_ *Scenario, args []Arg) (func(*runner) (string, error), error) {
	if !are(args, Number, Number) {
		return nil, errors.New("signal wants an adapter and the place of an event")
	}
	return func(r *runner) (string, error) {
		g, err := r.world.GPU(args[0].Value.Num)
		if err != nil {
			return "", err
		}
		events, place := g.CpuEvents(), args[1].Value.Num
		if place >= uint64(len(events)) {
			return "none", nil
		}
		return r.corpus.Table.sets["status"].String(uint64(g.SignalCpuEvent(events[place]))), nil
	}, nil
}

// faultKinds are what fault provokes, by name.
var faultKinds = map[string]abi.FaultKind{
	"hang": abi.FaultHang, "page_fault": abi.FaultPage, "reset": abi.FaultReset, "remove": abi.FaultRemove,
}

// powerStates are what fault power switches to, by name.
var powerStates = map[string]abi.PowerState{"D0": abi.PowerD0, "D3": abi.PowerD3}

// faultVerb breaks an adapter on purpose, or one of its nodes: "fault 0 hang 1". A page
// fault has an address, too: "fault 0 page_fault 1 0x1000". "fault 0 power D3" switches it.
func faultVerb(_ *Scenario, args []Arg) (func(*runner) (string, error), error) {
	const usage = "fault wants an adapter, and hang NODE, page_fault NODE ADDRESS, power D0, power D3, reset or remove"
	numbers := map[string]int{"hang": 1, "page_fault": 2}
	if len(args) < 2 || !are(args[:2], Number, Name) {
		return nil, errors.New(usage)
	}
	kind, known := faultKinds[args[1].Value.Name]
	rest := args[2:]
	if len(rest) == 1 && are(rest, Name) {
		state, ok := powerStates[rest[0].Value.Name]
		if !ok || args[1].Value.Name != "power" {
			return nil, errors.New(usage)
		}
		f := abi.ProvokeFault{Kind: abi.FaultPower, State: state}
		return func(r *runner) (string, error) { return "", r.world.Provoke(args[0].Value.Num, f) }, nil
	}
	if !known || len(rest) != numbers[args[1].Value.Name] {
		return nil, errors.New(usage)
	}
	f := abi.ProvokeFault{Kind: kind}
	for i, a := range rest {
		if !are(rest[i:i+1], Number) {
			return nil, errors.New(usage)
		}
		if i == 0 {
			f.Node = uint32(min(a.Value.Num, math.MaxUint32))
		} else {
			f.Address = a.Value.Num
		}
	}
	return func(r *runner) (string, error) { return "", r.world.Provoke(args[0].Value.Num, f) }, nil
}
