package abi

import (
	"fmt"
	"slices"
)

// A Status is an NTSTATUS: what every D3DKMT call returns. It is an error, except
// that 0 is success and positive values are results (PENDING, TIMEOUT, ABANDONED):
// test with OK, compare with ==.
type Status uint32

// OK reports whether s is a success or a result: NT_SUCCESS.
func (s Status) OK() bool { return int32(s) >= 0 }

// Error returns the name and the sentence.
func (s Status) Error() string {
	if r := s.row(); r != nil {
		return r.name + ": " + r.sentence
	}
	return s.Name()
}

// Name returns the name as in the headers, "STATUS_INVALID_PARAMETER"; the number
// when it has none here.
func (s Status) Name() string {
	if r := s.row(); r != nil {
		return r.name
	}
	return fmt.Sprintf("NTSTATUS 0x%08X", uint32(s))
}

// Sentence says what s means here, "" when it is not known.
func (s Status) Sentence() string {
	if r := s.row(); r != nil {
		return r.sentence
	}
	return ""
}

// StatusByName finds a status by its name.
func StatusByName(name string) (Status, bool) {
	for i := range statusTable {
		if statusTable[i].name == name {
			return statusTable[i].status, true
		}
	}
	return 0, false
}

// Statuses lists every status that has a name, in order of value.
func Statuses() []Status {
	all := make([]Status, len(statusTable))
	for i := range statusTable {
		all[i] = statusTable[i].status
	}
	return all
}

type statusRow struct {
	status   Status
	name     string
	sentence string
}

func (s Status) row() *statusRow {
	i, ok := slices.BinarySearchFunc(statusTable, s, func(r statusRow, s Status) int {
		return int(int64(r.status) - int64(s))
	})
	if !ok {
		return nil
	}
	return &statusTable[i]
}
