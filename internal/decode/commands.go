package decode

import (
	"errors"
	"fmt"

	"github.com/dxgsync/dxgsync/cmdbuf"
)

// Commands is a command buffer of the software GPU taken apart.
type Commands struct {
	Size     int       `json:"size"`    // bytes
	Foreign  bool      `json:"foreign"` // it was written for another GPU
	Commands []Command `json:"commands"`
	// Fault says why the GPU faults behind the last command; empty if it does not.
	Fault string `json:"fault,omitempty"`
}

// Command is a command of a buffer.
type Command struct {
	Offset int            `json:"offset"`
	Size   int            `json:"size"` // bytes
	Name   string         `json:"command"`
	Fields []CommandField `json:"fields"`
}

// CommandField is a field of a command. Numbers come as text: not every reader of JSON
// takes 64 bits.
type CommandField struct {
	Name  string `json:"field"`
	Value string `json:"value"`
}

// ExplainCommands takes a command buffer apart, as far as the GPU would execute it.
func ExplainCommands(b []byte) *Commands {
	out := &Commands{Size: len(b), Commands: []Command{}}
	lines, err := cmdbuf.Decode(b)
	for _, l := range lines {
		c := Command{Offset: l.Offset, Size: l.Command.Opcode().Size(), Name: l.Command.Opcode().String(), Fields: []CommandField{}}
		for _, f := range cmdbuf.Fields(l.Command) {
			c.Fields = append(c.Fields, CommandField{f.Name, f.Text})
		}
		out.Commands = append(out.Commands, c)
	}
	out.Foreign = errors.Is(err, cmdbuf.ErrForeign)
	switch {
	case len(b) > cmdbuf.MaxSize && !out.Foreign:
		out.Fault = fmt.Sprintf("%d bytes: the GPU takes at most %d", len(b), cmdbuf.MaxSize)
		out.Commands = []Command{}
	case err != nil && !out.Foreign:
		out.Fault = err.Error()
	}
	return out
}
