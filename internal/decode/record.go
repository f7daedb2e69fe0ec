package decode

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"

	"github.com/dxgsync/dxgsync/abi"
)

// Record is a record taken apart.
type Record struct {
	Name   string   `json:"record"`
	Call   string   `json:"call,omitempty"` // it is the argument of
	Size   int      `json:"size"`           // bytes of the whole record
	Given  int      `json:"given"`          // bytes of the dump
	Fields []Field  `json:"fields"`
	Notes  []string `json:"notes"`
	// Flags explains the flags of a synchronization object.
	Flags *Flags `json:"flags,omitempty"`
}

// Field is a field of a record.
type Field struct {
	Offset int    `json:"offset"`
	Size   int    `json:"size"`
	Name   string `json:"field"`         // "Info.MonitoredFence.InitialFenceValue"
	Raw    string `json:"raw,omitempty"` // its bytes, in the order of their addresses
	Text   string `json:"value"`
	// Missing: the dump ends before the field does.
	Missing bool `json:"missing,omitempty"`
}

// ExplainRecord takes the bytes of a record apart; op is the call that it is the
// argument of, or nil. Flags of synchronization objects are judged at version w. A
// dump that is too short leaves the last fields missing; what follows the record is
// noted and not read.
func ExplainRecord(record *abi.Record, op *abi.Op, dump []byte, w abi.WDDM) *Record {
	size := int(record.Type.Size())
	r := reader{out: &Record{Name: record.Name, Size: size, Given: len(dump), Fields: []Field{}, Notes: []string{}}, dump: dump}
	if op != nil {
		r.out.Call = op.Name
	}
	if record.Type.Kind() == reflect.Struct {
		r.record(record.Type, 0, "")
	} else {
		r.leaf(record.Type, 0, "Value")
	}
	if len(dump) > size {
		r.note("bytes after the record, not read: %d", len(dump)-size)
	}
	if missing := r.missing(); len(missing) > 0 {
		r.note("the dump has %d of %d bytes: %s missing", len(dump), size, strings.Join(missing, ", "))
	}
	r.syncObject(record.Type, w)
	return r.out
}

type reader struct {
	out  *Record
	dump []byte
}

func (r *reader) note(format string, args ...any) {
	r.out.Notes = append(r.out.Notes, fmt.Sprintf(format, args...))
}

func (r *reader) missing() []string {
	var names []string
	for _, f := range r.out.Fields {
		if f.Missing {
			names = append(names, f.Name)
		}
	}
	return names
}

// record reads the fields of a structure at an offset.
func (r *reader) record(t reflect.Type, at int, prefix string) {
	all := members(t)
	for i := range t.NumField() {
		f := t.Field(i)
		off, size := at+int(f.Offset), int(f.Type.Size())
		switch some := within(all, int(f.Offset), size); {
		case f.Name == "_":
			r.padding(off, size, prefix)
		case isUnion(f.Name) && len(some) > 0:
			r.union(t, at, prefix, f, some)
		case f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[abi.LUID]():
			r.record(f.Type, off, prefix+publicName(f.Name)+".")
		default:
			r.leaf(f.Type, off, prefix+publicName(f.Name))
		}
	}
}

// padding is shown only when somebody left something there.
func (r *reader) padding(off, size int, prefix string) {
	if b := r.bytes(off, size); len(b) > 0 && strings.Trim(string(b), "\x00") != "" {
		r.add(off, size, prefix+"(padding)", "not 0; no call looks at it")
	}
}

// union reads a union as the member that another field chooses, as all of them where
// none does, and as numbers where it chooses none.
func (r *reader) union(t reflect.Type, at int, prefix string, f reflect.StructField, some []member) {
	if c, ok := choices[t]; ok {
		field, _ := t.FieldByName(c.field)
		b := r.bytes(at+int(field.Offset), 4)
		var chosen []member
		for _, m := range some {
			if len(b) == 4 && c.pick(binary.LittleEndian.Uint32(b), m.name) {
				chosen = append(chosen, m)
			}
		}
		some = chosen
	}
	if len(some) == 0 {
		r.leaf(f.Type, at+int(f.Offset), prefix+f.Name)
	}
	for _, m := range some {
		name := prefix + publicName(m.name)
		if m.typ.Kind() == reflect.Struct {
			r.record(m.typ, at+m.offset, name+".")
		} else {
			r.leaf(m.typ, at+m.offset, name)
		}
	}
}

func (r *reader) leaf(t reflect.Type, off int, name string) {
	size := int(t.Size())
	text := ""
	if b := r.bytes(off, size); len(b) == size {
		text = format(t, name, b)
	}
	r.add(off, size, name, text)
}

func (r *reader) add(off, size int, name, text string) {
	b := r.bytes(off, size)
	f := Field{Offset: off, Size: size, Name: name, Raw: fmt.Sprintf("%x", b), Text: text, Missing: len(b) < size}
	if f.Missing && len(b) > 0 {
		f.Text = fmt.Sprintf("only %d of %d bytes", len(b), size)
	}
	r.out.Fields = append(r.out.Fields, f)
}

// bytes are those of the dump that a field has, fewer where the dump ends.
func (r *reader) bytes(off, size int) []byte {
	off = min(off, len(r.dump))
	return r.dump[off:min(off+size, len(r.dump))]
}

// syncFlags says where a record has the flags of a synchronization object.
type syncFlags struct {
	flags int
	typ   int // of the Type, -1:
	kind  abi.SyncObjectType
	at    Moment
}

var hasSyncFlags = map[reflect.Type]syncFlags{
	reflect.TypeFor[abi.SynchronizationObjectInfo2]():   {flags: 4, typ: 0, at: AtCreate},
	reflect.TypeFor[abi.CreateSynchronizationObject2](): {flags: 12, typ: 8, at: AtCreate},
	reflect.TypeFor[abi.OpenSyncObjectFromNtHandle2]():  {flags: 12, typ: -1, kind: abi.MonitoredFence, at: AtOpen},
	reflect.TypeFor[abi.NativeFenceInfo]():              {flags: 16, typ: -1, kind: abi.NativeFence, at: AtCreate},
	reflect.TypeFor[abi.CreateNativeFence]():            {flags: 0x48 + 16, typ: -1, kind: abi.NativeFence, at: AtCreate},
	reflect.TypeFor[abi.OpenNativeFenceFromNtHandle]():  {flags: 16, typ: -1, kind: abi.NativeFence, at: AtOpen},
}

// firstVersion says where the Type is in records of version 1 of create.
var firstVersion = map[reflect.Type]int{
	reflect.TypeFor[abi.SynchronizationObjectInfo]():   0,
	reflect.TypeFor[abi.CreateSynchronizationObject](): 4,
}

// version1 notes what version 1 of create refuses. Source: objects.md §7.
func (r *reader) version1(typ int) {
	b := r.bytes(typ, 4)
	if len(b) < 4 {
		return
	}
	switch k := abi.SyncObjectType(binary.LittleEndian.Uint32(b)); k {
	case abi.SynchronizationMutex:
	case abi.Semaphore:
		r.initial(k, typ+4)
	default:
		r.note("version 1 makes no %v, only a mutex or semaphore: %s; use version 2", k, abi.StatusInvalidParameter.Name())
	}
}

// syncObject explains the flags of a synchronization object, and what else of its
// creation is refused whatever the rest is.
func (r *reader) syncObject(t reflect.Type, w abi.WDDM) {
	if off, ok := firstVersion[t]; ok {
		r.version1(off)
	}
	s, ok := hasSyncFlags[t]
	flags := r.bytes(s.flags, 4)
	if !ok || len(flags) < 4 {
		return
	}
	q := Question{Value: binary.LittleEndian.Uint32(flags), Kind: s.kind, WDDM: w, At: s.at}
	if s.typ >= 0 {
		q.Kind = abi.SyncObjectType(binary.LittleEndian.Uint32(r.bytes(s.typ, 4)))
		if !q.Kind.Known() {
			r.note("Type %d is no kind of synchronization object: %s", uint32(q.Kind), abi.StatusInvalidParameter.Name())
			return
		}
	}
	var err error
	if r.out.Flags, err = SyncObject(q); err != nil {
		r.note("%v", err)
		return
	}
	if s.typ < 0 || !r.out.Flags.Verdicts[0].Code.OK() {
		return
	}
	r.initial(q.Kind, s.typ+8)
}

// initial notes values of the union, at an offset, that are refused where flags and
// kind are not. Source: objects.md §5.2, §5.4.
func (r *reader) initial(k abi.SyncObjectType, union int) {
	b := r.bytes(union, 8)
	if len(b) < 8 {
		return
	}
	switch k {
	case abi.Semaphore:
		if most, first := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]); first > most {
			r.note("InitialCount %d is above MaxCount %d: %s; lower it", first, most, abi.StatusInvalidParameter.Name())
		}
	case abi.CPUNotification:
		if binary.LittleEndian.Uint64(b) == 0 {
			r.note("a CPU notification without an event: %s; give one", abi.StatusInvalidHandle.Name())
		}
	}
}
