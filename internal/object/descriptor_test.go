package object

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// textSID builds a SID from its text. It is written apart from the code it tests.
func textSID(text string) []byte {
	if text == "" {
		return nil
	}
	parts := strings.Split(text, "-")
	if parts[0] != "S" || parts[1] != "1" {
		panic(text)
	}
	var numbers []uint64
	for _, p := range parts[2:] {
		n, err := strconv.ParseUint(p, 10, 48)
		if err != nil {
			panic(err)
		}
		numbers = append(numbers, n)
	}
	b := []byte{1, byte(len(numbers) - 1)}
	b = append(b, binary.BigEndian.AppendUint64(nil, numbers[0])[2:]...)
	for _, n := range numbers[1:] {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return b
}

// entry builds an ACE.
func entry(kind, flags byte, mask Access, who string) []byte {
	id := textSID(who)
	b := []byte{kind, flags, byte(8 + len(id)), 0}
	b = binary.LittleEndian.AppendUint32(b, uint32(mask))
	return append(b, id...)
}

func allow(mask Access, who string) []byte { return entry(0, 0, mask, who) }
func deny(mask Access, who string) []byte  { return entry(1, 0, mask, who) }

func acl(entries ...[]byte) []byte {
	body := bytes.Join(entries, nil)
	b := []byte{2, 0, 0, 0, 0, 0, 0, 0}
	binary.LittleEndian.PutUint16(b[2:], uint16(8+len(body)))
	binary.LittleEndian.PutUint16(b[4:], uint16(len(entries)))
	return append(b, body...)
}

// descriptor builds a self-relative descriptor; parts that are nil are left out. The
// list comes first, unlike in MakeDescriptor.
func descriptor(control uint16, owner, group string, dacl []byte) []byte {
	b := make([]byte, 20)
	b[0] = 1
	binary.LittleEndian.PutUint16(b[2:], control)
	part := func(field int, bytes []byte) {
		if bytes != nil {
			binary.LittleEndian.PutUint32(b[field:], uint32(len(b)))
			b = append(b, bytes...)
		}
	}
	part(16, dacl)
	part(4, textSID(owner))
	part(8, textSID(group))
	return b
}

const (
	controlPlain = 0x8000
	controlDACL  = 0x8004
	u1000        = "S-1-22-1-1000"
	u1001        = "S-1-22-1-1001"
	g100         = "S-1-22-2-100"
	g200         = "S-1-22-2-200"
	everyone     = "S-1-1-0"
)

// What descriptors mean, shown as owner, group and mode. The maker is 1000:100.
// Source: sharing.md §4.4, OQ-21; [MS-DTYP] 2.4.2.4, 2.4.6.
func TestSecurityMode(t *testing.T) {
	const rw = GenericRead | GenericWrite
	for _, c := range []struct {
		what string
		b    []byte
		want string
	}{
		{"none", nil, "1000:100 rw-------"},
		{"nothing in it", descriptor(controlPlain, "", "", nil), "1000:100 rw-------"},
		{"a list that is not present", descriptor(controlPlain, "", "", acl(allow(rw, everyone))), "1000:100 rw-------"},
		{"a NULL list", descriptor(controlDACL, "", "", nil), "1000:100 rw-rw-rw-"},
		{"an empty list", descriptor(controlDACL, "", "", acl()), "1000:100 ---------"},
		{"owner and group", descriptor(controlPlain, u1000, g200, nil), "1000:200 rw-------"},
		{"a group that cannot exist", descriptor(controlPlain, "", "S-1-5-32-545", nil), "1000:- rw-------"},
		{"a group that is none", descriptor(controlPlain, "", "S-1-22-2-4294967295", nil), "1000:- rw-------"},
		{"everyone reads", descriptor(controlDACL, "", "", acl(allow(GenericRead, everyone))), "1000:100 r--r--r--"},
		{"everyone writes", descriptor(controlDACL, "", "", acl(allow(GenericWrite, everyone))), "1000:100 -w--w--w-"},
		{"everyone executes", descriptor(controlDACL, "", "", acl(allow(GenericExecute, everyone))), "1000:100 ---------"},
		{"everyone all", descriptor(controlDACL, "", "", acl(allow(GenericAll, everyone))), "1000:100 rw-rw-rw-"},
		{"specific bits", descriptor(controlDACL, "", "", acl(allow(ReadControl|AccessWait, everyone))), "1000:100 r--r--r--"},
		{"authenticated users", descriptor(controlDACL, "", "", acl(allow(GenericRead, "S-1-5-11"))), "1000:100 r--r--r--"},
		{"the owner by number", descriptor(controlDACL, "", "", acl(allow(rw, u1000))), "1000:100 rw-------"},
		{"the owner as creator", descriptor(controlDACL, "", "", acl(allow(rw, "S-1-3-0"))), "1000:100 rw-------"},
		{"the owner by right", descriptor(controlDACL, "", "", acl(allow(rw, "S-1-3-4"))), "1000:100 rw-------"},
		{"the group by number", descriptor(controlDACL, "", "", acl(allow(rw, g100))), "1000:100 ---rw----"},
		{"the group as creator's", descriptor(controlDACL, "", g200, acl(allow(rw, "S-1-3-1"))), "1000:200 ---rw----"},
		{"another user", descriptor(controlDACL, "", "", acl(allow(rw, u1001))), "1000:100 ---------+"},
		{"another group", descriptor(controlDACL, "", "", acl(allow(rw, g200))), "1000:100 ---------+"},
		{"SYSTEM", descriptor(controlDACL, "", "", acl(allow(rw, "S-1-5-18"))), "1000:100 ---------"},
		{"Administrators", descriptor(controlDACL, "", "", acl(allow(rw, "S-1-5-32-544"))), "1000:100 ---------"},
		{"somebody of Windows", descriptor(controlDACL, "", "", acl(allow(rw, "S-1-5-21-1-2-3-1001"), deny(rw, "S-1-5-21-1-2-3-1002"), allow(GenericRead, everyone))), "1000:100 r--r--r--"},
		{"nearly a user", descriptor(controlDACL, "", "", acl(allow(rw, "S-1-22-1"), allow(rw, "S-1-22-1-1000-0"), allow(rw, "S-1-22-3-1000"), allow(rw, "S-1-5632-1-1000"), allow(rw, "S-1-22-1-4294967295"))), "1000:100 ---------"},
		{"inherit only", descriptor(controlDACL, "", "", acl(entry(0, 0x08, rw, everyone), entry(0, 0x0B, rw, everyone))), "1000:100 ---------"},
		{"inheritable, but for this too", descriptor(controlDACL, "", "", acl(entry(0, 0x03, rw, everyone))), "1000:100 rw-rw-rw-"},
		{"deny first", descriptor(controlDACL, "", "", acl(deny(AccessSignal, g100), allow(rw, everyone))), "1000:100 rw-r--rw-"},
		{"allow first", descriptor(controlDACL, "", "", acl(allow(rw, everyone), deny(rw, g100))), "1000:100 rw-rw-rw-"},
		{"deny the owner", descriptor(controlDACL, "", "", acl(deny(rw, "S-1-3-0"), allow(rw, everyone))), "1000:100 ---rw-rw-"},
	} {
		s, st := ParseSecurity(c.b, 1000, 100)
		if st != 0 || s.String() != c.want {
			t.Errorf("%s: %v, %v; want %s", c.what, &s, st, c.want)
		}
	}
	// The letters are of the type: to read a resource takes no specific right.
	s, _ := ParseSecurity(descriptor(controlDACL, "", "", acl(allow(ReadControl, everyone))), 1000, 100)
	if mode, _ := s.Mode(Resource); mode != 0o444 {
		t.Errorf("resource with READ_CONTROL for everyone: %o", mode)
	}
}

// Who may say who the owner is. Source: OQ-21; NT's rule for owners.
func TestSecurityOwner(t *testing.T) {
	for _, c := range []struct {
		owner string
		maker uint32
		st    abi.Status
		uid   uint32
	}{
		{"", 1000, 0, 1000},
		{u1000, 1000, 0, 1000},
		{u1001, 1000, abi.StatusInvalidParameter, 0},
		{"S-1-22-1-0", 1000, abi.StatusInvalidParameter, 0},
		{"S-1-5-18", 1000, abi.StatusInvalidParameter, 0},
		{g100, 1000, abi.StatusInvalidParameter, 0},
		{everyone, 1000, abi.StatusInvalidParameter, 0},
		{"S-1-5-21-1-2-3-500", 1000, abi.StatusInvalidParameter, 0},
		{u1001, 0, 0, 1001},
		{"S-1-5-18", 0, 0, 0},
		{"S-1-5-32-544", 0, 0, 0},
		{"S-1-5-21-1-2-3-500", 0, abi.StatusInvalidParameter, 0},
	} {
		s, st := ParseSecurity(descriptor(controlPlain, c.owner, "", nil), c.maker, 100)
		if st != c.st || s.UID != c.uid {
			t.Errorf("owner %q by %d: %d, %v", c.owner, c.maker, s.UID, st)
		}
	}
}

// Source: [MS-DTYP] 2.4.2 to 2.4.6.
func TestMalformedDescriptors(t *testing.T) {
	good := descriptor(controlDACL, u1000, g100, acl(allow(GenericRead, everyone), deny(GenericWrite, u1001)))
	if _, st := ParseSecurity(good, 1000, 100); st != 0 {
		t.Fatal(st)
	}
	// The list is at 20: header, then an entry of 20 bytes, an entry of 24; owner at 72,
	// group at 88.
	set := func(at int, value ...byte) []byte {
		b := bytes.Clone(good)
		copy(b[at:], value)
		return b
	}
	for what, b := range map[string][]byte{
		"empty":                       {},
		"header cut":                  good[:19],
		"revision":                    set(0, 2),
		"pointers":                    set(2, 0x04, 0x00),
		"owner in the header":         set(4, 19),
		"owner behind the end":        set(4, byte(len(good)+1)),
		"owner at the end":            set(4, byte(len(good))),
		"owner far away":              set(4, 0xFF, 0xFF, 0xFF, 0xFF),
		"owner cut":                   good[:len(good)-17],
		"group in the header":         set(8, 4),
		"group cut":                   good[:len(good)-1],
		"list in the header":          set(16, 8),
		"list at the end":             set(16, byte(len(good)-7)),
		"list far away":               set(16, 0xFF, 0xFF, 0xFF, 0xFF),
		"system list far away":        set(2, 0x14, 0x80, 72, 0, 0, 0, 88, 0, 0, 0, 0xFF, 0xFF, 0, 0),
		"list revision 1":             set(20, 1),
		"list revision 5":             set(20, 5),
		"list shorter than itself":    set(22, 7),
		"list behind the end":         set(22, 0xFF, 0xFF),
		"more entries than list":      set(24, 3),
		"very many entries":           set(24, 0xFF, 0xFF),
		"audit entry":                 set(28, 2),
		"object entry":                set(28, 5),
		"callback entry":              set(28, 9),
		"callback deny entry":         set(28, 10),
		"entry of no size":            set(30, 0),
		"entry shorter than its SID":  set(30, 16),
		"entry longer than list":      set(30, 0xFF, 0xFF),
		"SID revision":                set(36, 2),
		"SID of 16 subauthorities":    set(37, 16),
		"SID longer than its entry":   set(37, 2),
		"owner SID revision":          set(72, 0),
		"group SID longer than bytes": set(89, 15),
	} {
		if s, st := ParseSecurity(b, 1000, 100); st != abi.StatusInvalidParameter {
			t.Errorf("%s: %v, %v", what, &s, st)
		}
	}
	// What would be well-formed, were it in its place: an owner and an empty list in the
	// header, and a group of too many subauthorities.
	owner := append([]byte{1, 0, 0, 0x80, 12, 0, 0, 0, 0, 0, 0, 0}, textSID(u1000)...)
	list := append([]byte{1, 0, 0x04, 0x80, 2, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0}, make([]byte, 0x80002-20)...)
	list = append(list, textSID(u1000)...)
	group := descriptor(controlPlain, "", "S-1-5"+strings.Repeat("-1", maxSubAuthorities+1), nil)
	for what, b := range map[string][]byte{"owner": owner, "list": list, "group": group} {
		if s, st := ParseSecurity(b, 1000, 100); st != abi.StatusInvalidParameter {
			t.Errorf("%s out of bounds: %v, %v", what, &s, st)
		}
	}
	group = descriptor(controlPlain, "", "S-1-5"+strings.Repeat("-1", maxSubAuthorities), nil)
	if _, st := ParseSecurity(group, 1000, 100); st != 0 {
		t.Errorf("group of most subauthorities: %v", st)
	}
	// The system list is not looked at where it is not said to be present.
	if _, st := ParseSecurity(set(12, 0xFF, 0xFF), 1000, 100); st != 0 {
		t.Errorf("system list not present: %v", st)
	}
}

func TestMaxACEs(t *testing.T) {
	var entries [][]byte
	for i := range MaxACEs {
		entries = append(entries, allow(GenericRead, fmt.Sprintf("S-1-22-1-%d", 2000+i)), deny(GenericRead, "S-1-5-18"))
	}
	s, st := ParseSecurity(descriptor(controlDACL, "", "", acl(entries...)), 1000, 100)
	if st != 0 || len(s.aces) != MaxACEs {
		t.Errorf("at the limit: %v, %d entries", st, len(s.aces))
	}
	entries = append(entries, allow(GenericRead, everyone))
	if _, st := ParseSecurity(descriptor(controlDACL, "", "", acl(entries...)), 1000, 100); st != abi.StatusNoMemory {
		t.Errorf("beyond the limit: %v", st)
	}
}

// Every mode of read and write bits comes back, and counts as for a file: only the
// first class that fits.
func TestMakeDescriptor(t *testing.T) {
	for mode := range uint16(0o1000) {
		b := MakeDescriptor(1000, 100, mode)
		s, st := ParseSecurity(b, 1000, 5)
		if st != 0 {
			t.Fatalf("%o: %v", mode, st)
		}
		if got, more := s.Mode(SyncObject); got != mode&0o666 || more || s.UID != 1000 || s.GID != 100 {
			t.Errorf("%o came back as %v", mode, &s)
		}
		for _, c := range []struct {
			uid   uint32
			gids  []uint32
			class int
		}{
			{1000, nil, 0},
			{1000, []uint32{100}, 0},
			{1001, []uint32{7, 100}, 1},
			{1001, []uint32{7}, 2},
			{1001, nil, 2},
		} {
			bits := mode >> (6 - 3*c.class) & 7
			for want, desired := range map[uint16]Access{4: AccessWait, 2: AccessSignal, 6: GenericAll} {
				_, st := s.Grant(c.uid, c.gids, desired, SyncObject)
				if st.OK() != (bits&want == want) {
					t.Errorf("%o: user %d in %v wants %#x: %v", mode, c.uid, c.gids, uint32(desired), st)
				}
			}
		}
	}
	if s, st := ParseSecurity(MakeDescriptor(0, 0, 0o600), 0, 0); st != 0 || s.String() != "0:0 rw-------" {
		t.Errorf("of root: %v, %v", &s, st)
	}
}

// The bytes of a descriptor, for those who build them in C.
func TestMakeDescriptorBytes(t *testing.T) {
	want := bytes.Join([][]byte{
		{1, 0, 0x04, 0x80, 20, 0, 0, 0, 36, 0, 0, 0, 0, 0, 0, 0, 52, 0, 0, 0},
		{1, 2, 0, 0, 0, 0, 0, 22, 1, 0, 0, 0, 0xE8, 0x03, 0, 0}, // S-1-22-1-1000
		{1, 2, 0, 0, 0, 0, 0, 22, 2, 0, 0, 0, 100, 0, 0, 0},     // S-1-22-2-100
		acl(allow(GenericAll, u1000), deny(GenericAll, u1000), allow(GenericRead, g100), deny(GenericAll, g100), deny(GenericAll, everyone)),
	}, nil)
	if got := MakeDescriptor(1000, 100, 0o640); !bytes.Equal(got, want) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
}

// FuzzSecurity: never a panic; what is taken is bounded, and lets nobody do what a list
// without allowing entries could not.
func FuzzSecurity(f *testing.F) {
	f.Add(MakeDescriptor(1000, 100, 0o640))
	f.Add(descriptor(controlPlain, u1000, g200, nil))
	f.Add(descriptor(controlDACL, "", "", nil))
	f.Add(descriptor(controlDACL, u1000, "S-1-5-32-545", acl(deny(AccessSignal, g100), entry(0, 8, GenericAll, everyone), allow(GenericRead, "S-1-3-4"))))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, st := ParseSecurity(b, 1000, 100)
		if st != 0 {
			if st != abi.StatusInvalidParameter && st != abi.StatusNoMemory || s.aces != nil || s.everybody {
				t.Fatalf("%v, and yet %v", st, &s)
			}
			return
		}
		if len(s.aces) > MaxACEs || s.UID != 1000 {
			t.Fatalf("%d entries, owner %d", len(s.aces), s.UID)
		}
		if len(s.String()) < len("1000:- rwxrwxrwx") {
			t.Fatalf("shown as %v", &s)
		}
		check(t, &s)
	})
}
