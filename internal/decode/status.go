package decode

import (
	"fmt"
	"strings"
	"syscall"

	"github.com/dxgsync/dxgsync/abi"
)

// Status is what there is to say of an NTSTATUS.
type Status struct {
	Name     string `json:"name"`  // "" when it has none here
	Value    string `json:"value"` // "0xC0000022"
	Signed   int32  `json:"signed"`
	Severity string `json:"severity"` // success, informational, warning, error
	Facility uint16 `json:"facility"`
	Code     uint16 `json:"code"`
	Success  bool   `json:"success"` // for NT_SUCCESS
	Meaning  string `json:"meaning,omitempty"`
	// Calls are those that always answer it: what is not supported, not implemented.
	Calls []string `json:"calls,omitempty"`
	// Errno is what a request on /dev/dxg fails with, Back what a client makes of it.
	Errno string `json:"errno,omitempty"`
	Back  string `json:"back,omitempty"`
}

var severities = [...]string{"success", "informational", "warning", "error"}

// facilities are those that statuses of these calls have.
var facilities = map[uint16]string{0: "none", 0x1E: "graphics kernel"}

// FacilityName returns the facility in words, its number when it is another one.
func (s *Status) FacilityName() string {
	if name := facilities[s.Facility]; name != "" {
		return name
	}
	return fmt.Sprintf("%#x", s.Facility)
}

// ParseStatus explains a status: a name with or without STATUS_, or a number, also a
// negative one as debuggers print an int, or eight hexadecimal digits. The error says
// which.
func ParseStatus(text string) (*Status, error) {
	text = strings.TrimSpace(text)
	name := strings.ToUpper(text)
	for _, n := range []string{name, "STATUS_" + name} {
		if s, ok := abi.StatusByName(n); ok {
			return explain(s), nil
		}
	}
	if len(text) == 8 && strings.ContainsAny(text[:1], "4cC8") {
		text = "0x" + text // as debuggers show a status
	}
	n, err := number32(text)
	if err == nil {
		return explain(abi.Status(n)), nil
	}
	if name != "" && !strings.ContainsAny(name[:1], "-0123456789") {
		err = fmt.Errorf("no status is called %q here%s; give its number to see what can be said of it", text, similar(name))
	}
	return nil, err
}

// similar offers the names that contain the longest word of a name.
func similar(name string) string {
	word := ""
	for _, w := range strings.Split(strings.TrimPrefix(name, "STATUS_"), "_") {
		if len(w) > len(word) {
			word = w
		}
	}
	var some []string
	for _, s := range abi.Statuses() {
		if word != "" && strings.Contains(s.Name(), word) {
			some = append(some, s.Name())
		}
	}
	if len(some) == 0 || len(some) > 5 {
		return ""
	}
	return "; there is " + strings.Join(some, ", ")
}

func explain(s abi.Status) *Status {
	out := &Status{
		Value: fmt.Sprintf("0x%08X", uint32(s)), Signed: int32(s),
		Severity: severities[s>>30], Facility: uint16(s>>16) & 0xFFF, Code: uint16(s),
		Success: s.OK(), Meaning: s.Sentence(),
	}
	if out.Meaning != "" {
		out.Name = s.Name()
	}
	support := map[abi.Status]abi.Support{abi.StatusNotSupported: abi.NotSupported, abi.StatusNotImplemented: abi.NotImplemented}
	if want, ok := support[s]; ok {
		for i := range abi.Ops {
			if abi.Ops[i].Support == want {
				out.Calls = append(out.Calls, abi.Ops[i].Name)
			}
		}
	}
	if e := s.Errno(); e != 0 {
		out.Errno, out.Back = errnoNames[e], abi.StatusOf(e).Name()
	}
	return out
}

// errnoNames are the names of those that statuses map to.
var errnoNames = map[syscall.Errno]string{
	syscall.EACCES:      "EACCES",
	syscall.EBADF:       "EBADF",
	syscall.EEXIST:      "EEXIST",
	syscall.EINPROGRESS: "EINPROGRESS",
	syscall.EINVAL:      "EINVAL",
	syscall.ENODEV:      "ENODEV",
	syscall.ENOENT:      "ENOENT",
	syscall.ENOMEM:      "ENOMEM",
	syscall.EOPNOTSUPP:  "EOPNOTSUPP",
	syscall.EOVERFLOW:   "EOVERFLOW",
	syscall.EPERM:       "EPERM",
	syscall.EPROTOTYPE:  "EPROTOTYPE",
}
