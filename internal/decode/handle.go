package decode

import (
	"fmt"
	"math"

	"github.com/dxgsync/dxgsync/abi"
)

// Handle is what there is to say of a handle. Source: sharing.md §1.
type Handle struct {
	Value string `json:"value"`
	Form  Form   `json:"form"`
	// The parts of a D3DKMT handle.
	Instance   uint8  `json:"instance"`   // bits 0 to 5
	Index      uint32 `json:"index"`      // bits 6 to 29
	Uniqueness uint8  `json:"uniqueness"` // bits 30 and 31
	Meaning    string `json:"meaning"`
}

// Form is the kind of handle that a number has the form of.
type Form string

// The forms.
const (
	NoHandle     Form = "none"
	LocalHandle  Form = "local"
	GlobalHandle Form = "global"
	NTHandle     Form = "NT handle"
	BadHandle    Form = "not valid"
)

// ParseHandle explains a handle given as a number. The error says what is wrong with
// the number.
func ParseHandle(text string) (*Handle, error) {
	n, err := Number(text)
	if err != nil {
		return nil, err
	}
	return ExplainHandle(n), nil
}

// ExplainHandle says what a number can be as a handle.
func ExplainHandle(n uint64) *Handle {
	v := uint32(n)
	h := &Handle{Value: fmt.Sprintf("%#x", n), Instance: uint8(v & 0x3F), Index: v >> 6 & 0xFFFFFF, Uniqueness: uint8(v >> 30)}
	switch {
	case n == 0:
		h.Form, h.Meaning = NoHandle, "0 is no handle: STATUS_INVALID_PARAMETER where a D3DKMT handle is wanted, STATUS_INVALID_HANDLE for an NT handle or event."
	case n > math.MaxUint32:
		h.Form, h.Meaning = BadHandle, "It has more than 32 bits: neither a D3DKMT handle nor an NT handle in use; perhaps two fields were read as one, or it is a pointer."
	case v == math.MaxUint32:
		h.Form, h.Meaning = BadHandle, "INVALID_HANDLE_VALUE, or the pseudo handle of the own process."
	case abi.Handle(v).Local():
		h.Form, h.Meaning = LocalHandle, "A D3DKMT handle of one process: its number says nothing in another one. Create, open and enumerate calls make it, the object's destroy or close call ends it."
	case abi.Handle(v).Global():
		h.Form, h.Meaning = GlobalHandle, "A shared D3DKMT handle, the same in all processes: for OpenSynchronizationObject, OpenKeyedMutex and OpenResource only. It goes with its last local object and cannot be destroyed by hand."
	case h.Uniqueness != 0:
		h.Form = BadHandle
		h.Meaning = fmt.Sprintf("The low six bits are %#x, and must be 0 in a local D3DKMT handle, 2 in a global one; perhaps it was altered, or is no handle.", h.Instance)
	case v&3 == 0:
		h.Form, h.Meaning = NTHandle, "Bits 30 and 31 are 0 and it is a multiple of 4: for …FromNtHandle calls and CloseHandle only. On Linux it would be a descriptor."
	default:
		h.Form, h.Meaning = BadHandle, "Bits 30 and 31 are 0, so it is no D3DKMT handle, and it is no multiple of 4, so no NT handle of Windows; on Linux it may be a descriptor."
	}
	return h
}

// short is the handle in a few words, for a line of a record.
func (h *Handle) short() string {
	switch h.Form {
	case LocalHandle:
		return fmt.Sprintf("local, index %d, uniqueness %d", h.Index, h.Uniqueness)
	case GlobalHandle:
		return "global"
	case NoHandle:
		return "none"
	case NTHandle:
		return "no D3DKMT handle: bits 30 and 31 are 0"
	}
	if h.Uniqueness == 0 {
		return "no D3DKMT handle: bits 30 and 31 are 0"
	}
	return fmt.Sprintf("no D3DKMT handle: low six bits %#x", h.Instance)
}
