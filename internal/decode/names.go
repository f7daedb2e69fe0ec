package decode

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"github.com/dxgsync/dxgsync/abi"
)

// ownRecords are the records of operations that abi.Records does not have: those
// between a client and the daemon, and one that is newer than the public tables.
var ownRecords = []abi.Record{
	{Name: "Hello", Type: reflect.TypeFor[abi.Hello]()},
	{Name: "GrantBells", Type: reflect.TypeFor[abi.GrantBells]()},
	{Name: "Ring", Type: reflect.TypeFor[abi.Ring]()},
	{Name: "CancelWait", Type: reflect.TypeFor[abi.CancelWait]()},
	{Name: "ReturnBells", Type: reflect.TypeFor[abi.ReturnBells]()},
	{Name: "EndThread", Type: reflect.TypeFor[abi.EndThread]()},
	{Name: "SlabFile", Type: reflect.TypeFor[abi.SlabFile]()},
	{Name: "Snapshot", Type: reflect.TypeFor[abi.Snapshot]()},
	{Name: "ProvokeFault", Type: reflect.TypeFor[abi.ProvokeFault]()},
	{Name: "FenceLog", Type: reflect.TypeFor[abi.FenceLog]()},
	{Name: "D3DKMT_CREATEHWQUEUEFORUSERMODESUBMISSION", Type: reflect.TypeFor[abi.CreateHwQueueForUserModeSubmission]()},
	{Name: "D3DDDI_NATIVEFENCELOGDETAIL", Type: reflect.TypeFor[abi.NativeFenceLogDetail]()},
}

// version1 are calls that have no row of the table: client libraries build them on
// version 2, but a debugger sees their own record.
var version1 = map[string]string{
	"D3DKMTCreateSynchronizationObject":  "D3DKMT_CREATESYNCHRONIZATIONOBJECT",
	"D3DKMTSignalSynchronizationObject":  "D3DKMT_SIGNALSYNCHRONIZATIONOBJECT",
	"D3DKMTWaitForSynchronizationObject": "D3DKMT_WAITFORSYNCHRONIZATIONOBJECT",
}

// FindRecord finds a record by its name or that of a call, in any case, with or
// without D3DKMT in front. op is the call it is the argument of, nil when it is a part
// of others. The error offers similar names.
func FindRecord(name string) (record *abi.Record, op *abi.Op, err error) {
	if r := recordNamed(name); r != nil {
		return r, opOf(name), nil
	}
	want := plain(name)
	if want == "" {
		return nil, nil, errors.New("no record is named; give one like createsynchronizationobject2")
	}
	for i := range abi.Ops {
		if o := &abi.Ops[i]; plain(o.Name) == want {
			return recordNamed(o.Record), o, nil
		}
	}
	for call, r := range version1 {
		if plain(call) == want {
			return recordNamed(r), nil, nil
		}
	}
	var near []string
	for _, r := range allRecords() {
		p := plain(r.Name)
		if p == want {
			return r, opOf(r.Name), nil
		}
		if strings.Contains(p, want) {
			near = append(near, r.Name)
		}
	}
	offer := "docs/calls/README.md lists the calls and their records"
	if len(near) > 0 && len(near) <= 12 {
		offer = "there is " + strings.Join(near, ", ")
	}
	return nil, nil, fmt.Errorf("no record or call is named %q; %s", name, offer)
}

// plain is a name without prefix, underscores and case.
func plain(name string) string {
	name = strings.ToLower(strings.ReplaceAll(name, "_", ""))
	for _, prefix := range []string{"d3dkmt", "d3dkmdt", "d3dddicb", "d3dddi", "dxgk"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return rest
		}
	}
	return name
}

func allRecords() []*abi.Record {
	var all []*abi.Record
	for _, table := range [][]abi.Record{abi.Records, ownRecords} {
		for i := range table {
			all = append(all, &table[i])
		}
	}
	return all
}

func recordNamed(name string) *abi.Record {
	for _, r := range allRecords() {
		if r.Name == name {
			return r
		}
	}
	return nil
}

func opOf(record string) *abi.Op {
	for i := range abi.Ops {
		if abi.Ops[i].Record == record {
			return &abi.Ops[i]
		}
	}
	return nil
}

var smallFirst = regexp.MustCompile(`^([HPB][A-Z][a-z]|Ph[A-Z]|Dw[A-Z])`)

// publicName is the public name of a field: the headers write the letter of a handle,
// pointer or BOOL small.
func publicName(field string) string {
	if smallFirst.MatchString(field) {
		return strings.ToLower(field[:1]) + field[1:]
	}
	return field
}
