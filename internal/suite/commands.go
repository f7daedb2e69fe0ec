package suite

import (
	"errors"
	"fmt"

	"github.com/dxgsync/dxgsync/cmdbuf"
)

// commandNames are the names that fields of commands have in scenarios.
var commandNames = &Set{
	Names:  []string{"DMA", "READ", "WRITE", "NOT_PREEMPTIBLE"},
	Values: []uint64{uint64(cmdbuf.FaultDMA), uint64(cmdbuf.FaultRead), uint64(cmdbuf.FaultWrite), uint64(cmdbuf.NotPreemptible)},
}

// opcodeOf finds a command of the software GPU by its name.
func opcodeOf(name string) (cmdbuf.Opcode, bool) {
	for _, op := range cmdbuf.Opcodes() {
		if op.String() == name {
			return op, true
		}
	}
	return 0, false
}

// commands writes a command buffer of the software GPU to memory and answers its
// length: "commands $cpu [WRITE64 $gpu 7] [HANG]". Fields at the end that are not named
// are 0.
func (r *runner) commands(p *process, step *Step, got *Outcome) error {
	if len(step.Args) == 0 {
		return errors.New("commands wants an address and commands, [WRITE64 $gpu 7]")
	}
	address, err := step.Args[0].Value.eval(r.lookup(p), nil)
	if err != nil {
		return err
	}
	buffer := cmdbuf.New().Bytes()
	for _, a := range step.Args[1:] {
		if a.Name != "" || a.Value.Form != List || len(a.Value.List) == 0 {
			return fmt.Errorf("%q is no command such as [WRITE64 $gpu 7]", a.Value.Text)
		}
		if buffer, err = appendCommand(buffer, a.Value.List, r.lookup(p)); err != nil {
			return fmt.Errorf("%s: %w", a.Value.Text, err)
		}
	}
	got.Changes = []Change{{Name: "length", Value: uint64(len(buffer)), Shown: "address"}}
	return written(p, address, buffer)
}

// appendCommand appends a command: its name, then its fields.
func appendCommand(buffer []byte, words []*Value, lookup vars) ([]byte, error) {
	op, ok := opcodeOf(words[0].Text)
	if !ok {
		return nil, fmt.Errorf("%s is no command of the software GPU", words[0].Text)
	}
	room := (op.Size() - cmdbuf.HeadSize) / 8
	if len(words)-1 > room {
		return nil, fmt.Errorf("%s has %d fields", op, room)
	}
	buffer = le.AppendUint32(buffer, uint32(op))
	buffer = le.AppendUint32(buffer, uint32(op.Size()))
	for i := range room {
		n := uint64(0)
		if i+1 < len(words) {
			var err error
			if n, err = fieldOf(words[i+1], lookup); err != nil {
				return nil, err
			}
		}
		buffer = le.AppendUint64(buffer, n)
	}
	return buffer, nil
}

// fieldOf computes a field of a command; times are nanoseconds.
func fieldOf(v *Value, lookup vars) (uint64, error) {
	if v.Form == Quantity && v.Name != "Hz" {
		return v.Num, nil
	}
	return v.eval(lookup, commandNames)
}

// write writes 64-bit words to memory: "write $cpu 1 2 3".
func (r *runner) write(p *process, step *Step, _ *Outcome) error {
	if len(step.Args) < 2 {
		return errors.New("write wants an address and words")
	}
	var words []uint64
	for _, a := range step.Args {
		n, err := a.Value.eval(r.lookup(p), nil)
		if err != nil {
			return err
		}
		words = append(words, n)
	}
	var data []byte
	for _, n := range words[1:] {
		data = le.AppendUint64(data, n)
	}
	return written(p, words[0], data)
}

// written writes to a process's memory, which must be there.
func written(p *process, address uint64, data []byte) error {
	ok, err := p.Write(address, data)
	if err == nil && !ok {
		err = fmt.Errorf("writing %d bytes at %#x faults", len(data), address)
	}
	return err
}
