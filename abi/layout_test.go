package abi

import (
	"reflect"
	"strings"
	"testing"
)

// notRecords are structures of the tables that are no records of ours: statistics
// that QueryStatistics answers as bytes, display modes, and basic types.
func notRecord(name string) bool {
	switch name {
	case "GUID", "LARGE_INTEGER", "LUID", "D3DKMT_DISPLAYMODE", "D3DKMT_CURRENTDISPLAYMODE", "D3DKMDT_DISPLAYMODE_FLAGS":
		return true
	}
	return strings.HasPrefix(name, "D3DKMT_QUERYSTAT") && name != "D3DKMT_QUERYSTATISTICS"
}

// Every record has the size, the alignment and the offsets that a C compiler gives
// the public structure, and there are no others.
func TestRecordsHaveThePublicLayout(t *testing.T) {
	types := map[string]reflect.Type{}
	for _, r := range Records {
		types[r.Name] = r.Type
	}
	for _, l := range layouts(t, "64") {
		typ := types[l.name]
		delete(types, l.name)
		if notRecord(l.name) {
			if typ != nil {
				t.Errorf("%s is a record and is said to be none", l.name)
			}
			continue
		}
		if typ == nil {
			t.Errorf("%s has no record", l.name)
			continue
		}
		if int(typ.Size()) != l.size {
			t.Errorf("%s: %d bytes, want %d", typ, typ.Size(), l.size)
		}
		if typ.Align() > l.align {
			t.Errorf("%s: aligned to %d, want at most %d", typ, typ.Align(), l.align)
		}
		if typ.Kind() != reflect.Struct || l.name == "D3DKMT_QUERYSTATISTICS" {
			continue // a flag word, or bytes
		}
		if typ.Align() != l.align {
			t.Errorf("%s: aligned to %d, want %d", typ, typ.Align(), l.align)
		}
		checkFields(t, l.name, "", typ, 0, l.fields)
	}
	for name := range types {
		t.Errorf("record %s is in no table", name)
	}
}

// checkFields finds every member of the table in typ, at its offset: as a field of
// the same name, or inside a union or a word of bits.
func checkFields(t *testing.T, record, prefix string, typ reflect.Type, base uintptr, fields []field) {
	t.Helper()
	seen := map[string]bool{}
	for _, f := range fields {
		name, ok := strings.CutPrefix(f.name, prefix)
		if !ok || strings.Contains(name, ".") {
			continue
		}
		if f.kind == "array" && f.size == 0 {
			continue // a variable tail
		}
		var found bool
		for i := range typ.NumField() {
			g := typ.Field(i)
			at := base + g.Offset
			switch {
			case strings.EqualFold(g.Name, name) && f.kind != "bitfield":
				found = true
				seen[g.Name] = true
				if at != uintptr(f.offset) || int(g.Type.Size()) != f.size {
					t.Errorf("%s.%s: at %d, %d bytes; want %d, %d", record, f.name, at, g.Type.Size(), f.offset, f.size)
				}
				if g.Type.Kind() == reflect.Struct && g.Type.PkgPath() != "" && g.Type != reflect.TypeFor[LUID]() {
					checkFields(t, record, f.name+".", g.Type, at, fields)
				}
			case isUnion(g.Name) && at <= uintptr(f.offset) && uintptr(f.offset+f.size) <= at+g.Type.Size():
				found = true
				seen[g.Name] = true
				if view := unionViews[record+"."+f.name]; view != nil {
					if int(view.Size()) != f.size {
						t.Errorf("%s.%s: the view has %d bytes, want %d", record, f.name, view.Size(), f.size)
					}
					if view.Kind() != reflect.Struct {
						break // a flag word
					}
					checkFields(t, record, f.name+".", view, uintptr(f.offset), fields)
				}
			}
			if found {
				break
			}
		}
		if !found && name == "pAdapter" && record == "D3DKMT_CREATEDEVICE" {
			found = true // the kernel's own use of hAdapter's place
		}
		if !found {
			t.Errorf("%s.%s: %s has no such field", record, f.name, typ)
		}
	}
	for i := range typ.NumField() {
		if g := typ.Field(i); g.Name != "_" && !seen[g.Name] {
			t.Errorf("%s: field %s of %s is in no table", record, g.Name, typ)
		}
	}
}

func isUnion(name string) bool {
	return strings.HasPrefix(name, "Union") || strings.HasPrefix(name, "Value") || strings.HasPrefix(name, "Bits") || name == "State"
}

// movedOn32 are the records that a 32-bit program lays out otherwise. All others
// are the same bytes for both.
var movedOn32 = map[string]bool{
	"D3DKMT_CREATECONTEXT":   true,
	"D3DKMT_QUERYSTATISTICS": true,
}

func TestRecordsAreTheSameOn32Bits(t *testing.T) {
	wide := map[string]layout{}
	for _, l := range layouts(t, "64") {
		wide[l.name] = l
	}
	for _, l := range layouts(t, "32") {
		if notRecord(l.name) || movedOn32[l.name] {
			continue
		}
		w := wide[l.name]
		if l.size != w.size || len(l.fields) != len(w.fields) {
			if pointersOnly(l.name) {
				continue
			}
			t.Errorf("%s: %d bytes on 32 bits, %d on 64", l.name, l.size, w.size)
			continue
		}
		for i, f := range l.fields {
			if f.offset != w.fields[i].offset && !pointersOnly(l.name) {
				t.Errorf("%s.%s: at %d on 32 bits, at %d on 64", l.name, f.name, f.offset, w.fields[i].offset)
			}
		}
	}
}

// pointersOnly are structures with plain pointers, which are never sent: a record
// points to them, and the NT types follow the program's own width.
func pointersOnly(name string) bool {
	return name == "OBJECT_ATTRIBUTES" || name == "UNICODE_STRING"
}

func TestRequestsAreThePublicOnes(t *testing.T) {
	rows := table(t, "requests.tsv")
	public := 0
	for _, op := range Ops {
		if op.Request != 0 {
			public++
		}
	}
	if public != len(rows) {
		t.Errorf("%d operations have requests, want %d", public, len(rows))
	}
	for _, r := range rows {
		op := OpByNr(uint16(number(t, r[0])))
		if op == nil {
			t.Errorf("no operation %s", r[0])
			continue
		}
		if op.Name != r[1] || op.Record != r[2] || op.Size != number(t, r[3]) || int(op.Request) != number(t, r[4]) {
			t.Errorf("%s is %s, %s, %d bytes, %#x; want %v", r[0], op.Name, op.Record, op.Size, op.Request, r[1:])
		}
		if want := uint32(3<<30 | op.Size<<16 | 'G'<<8 | int(op.Nr)); op.Request != want {
			t.Errorf("%s: request %#x, computed %#x", op.Name, op.Request, want)
		}
		if wide := number(t, r[4]) == number(t, r[5]); wide == (r[2] == "D3DKMT_QUERYSTATISTICS") {
			t.Errorf("%s: request %s on 64 bits, %s on 32", op.Name, r[4], r[5])
		}
	}
}

func TestStatusesAreThePublicOnes(t *testing.T) {
	names := map[Status]string{}
	for _, s := range Statuses() {
		names[s] = s.Name()
		if s.Sentence() == "" {
			t.Errorf("%s has no sentence", s.Name())
		}
	}
	for _, r := range table(t, "statuses.tsv") {
		if r[0] == "STATUS_WAIT_0" {
			continue // another name of success
		}
		s := Status(number(t, r[1]))
		if names[s] != r[0] {
			t.Errorf("%s is called %q, want %s", r[1], names[s], r[0])
		}
		delete(names, s)
		if by, ok := StatusByName(r[0]); !ok || by != s {
			t.Errorf("StatusByName(%s) = %v, %v", r[0], by, ok)
		}
		if s.OK() != (int32(s) >= 0) {
			t.Errorf("%s: OK is %v", r[0], s.OK())
		}
	}
	for _, name := range names {
		t.Errorf("%s is in no table", name)
	}
}

// What an operation's row says fits its record.
func TestOperationsFitTheirRecords(t *testing.T) {
	sizes := map[string]int{
		"Hello":       int(reflect.TypeFor[Hello]().Size()),
		"GrantBells":  int(reflect.TypeFor[GrantBells]().Size()),
		"Ring":        int(reflect.TypeFor[Ring]().Size()),
		"CancelWait":  int(reflect.TypeFor[CancelWait]().Size()),
		"ReturnBells": int(reflect.TypeFor[ReturnBells]().Size()),
		"EndThread":   int(reflect.TypeFor[EndThread]().Size()),
		"SlabFile":    int(reflect.TypeFor[SlabFile]().Size()),
		"Snapshot":    int(reflect.TypeFor[Snapshot]().Size()),

		"ProvokeFault": int(reflect.TypeFor[ProvokeFault]().Size()),
		"FenceLog":     int(reflect.TypeFor[FenceLog]().Size()),
		"D3DKMT_CREATEHWQUEUEFORUSERMODESUBMISSION": int(reflect.TypeFor[CreateHwQueueForUserModeSubmission]().Size()),
	}
	for _, r := range Records {
		sizes[r.Name] = int(r.Type.Size())
	}
	for i, op := range Ops {
		if size, ok := sizes[op.Record]; !ok || size != op.Size {
			t.Errorf("%s: record %s has %d bytes, the row says %d", op.Name, op.Record, size, op.Size)
		}
		if i > 0 && op.Nr <= Ops[i-1].Nr {
			t.Errorf("%s: the table is not in order", op.Name)
		}
		if OpByNr(op.Nr) != &Ops[i] || OpByName(op.Name) != &Ops[i] {
			t.Errorf("%s is not found by its number and name", op.Name)
		}
		for _, s := range op.Out {
			if int(s.Off)+int(s.Len) > op.Size {
				t.Errorf("%s: span %v is beyond the record", op.Name, s)
			}
		}
		for _, a := range op.Arrays {
			if int(a.Pointer)+8 > op.Size || a.Pointer%8 != 0 || a.Fixed == 0 && int(a.Count)+4 > op.Size || a.Elem == 0 || a.Max == 0 {
				t.Errorf("%s: array %+v does not fit", op.Name, a)
			}
		}
		for _, f := range op.Files {
			if f.Array >= len(op.Arrays) || f.Array < 0 && op.Nr < 0xF000 && int(f.Off)+8 > op.Size {
				t.Errorf("%s: file %+v does not fit", op.Name, f)
			}
		}
	}
}
