package decode

import (
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"github.com/dxgsync/dxgsync/abi"
)

// A Moment is when flags of a synchronization object are given.
type Moment string

// The moments.
const (
	AtCreate Moment = "create" // by D3DKMTCreateSynchronizationObject2
	AtOpen   Moment = "open"   // by an opener of NT handles
)

// Flags is what there is to say of a flag word.
type Flags struct {
	Word     string    `json:"word"`  // the structure
	Value    string    `json:"value"` // "0x83"
	Names    string    `json:"names"` // "Shared|NtSecuritySharing|NoGPUAccess"
	Kind     string    `json:"kind,omitempty"`
	WDDM     string    `json:"wddm,omitempty"`
	At       Moment    `json:"at,omitempty"`
	Bits     []Bit     `json:"bits"`
	Verdicts []Verdict `json:"verdicts"`
}

// A Bit is a bit that is set.
type Bit struct {
	Bit     int    `json:"bit"`
	Mask    string `json:"mask"`
	Name    string `json:"name"`
	Since   string `json:"since,omitempty"` // WDDM version; "" for a reserved bit
	State   State  `json:"state,omitempty"` // "" where there was too little to judge it
	Breaks  string `json:"breaks,omitempty"`
	Remedy  string `json:"remedy,omitempty"`
	Meaning string `json:"meaning,omitempty"`
}

// State is what becomes of a bit.
type State string

// The states.
const (
	Legal   State = "legal"
	Ignored State = "ignored"
	Illegal State = "illegal"
)

// A Verdict is the answer to the whole word.
type Verdict struct {
	For      string     `json:"for"` // a call, or a kind of object
	Code     abi.Status `json:"-"`
	Status   string     `json:"status,omitempty"`   // the name of Code
	Value    string     `json:"value,omitempty"`    // Code as a number, "0xC000000D"
	Versions string     `json:"versions,omitempty"` // instead of a status: those that accept the word, if none was asked for
	Why      string     `json:"why,omitempty"`
}

// A Question is a flag word of a synchronization object and what is known of its
// place. Kind 0 asks for every kind, WDDM 0 for every version.
type Question struct {
	Value uint32
	Kind  abi.SyncObjectType
	WDDM  abi.WDDM
	At    Moment // "" is AtCreate
}

// firstOpen is the first version with NT handles.
const firstOpen abi.WDDM = 1200

// SyncObject explains flags of a synchronization object. The error says why the
// question makes no sense: an unknown kind or moment, or a kind that nobody can open.
func SyncObject(q Question) (*Flags, error) {
	if q.At == "" {
		q.At = AtCreate
	}
	if q.At != AtCreate && q.At != AtOpen {
		return nil, fmt.Errorf("%q is no moment; use %s or %s", q.At, AtCreate, AtOpen)
	}
	if q.Kind != 0 && !q.Kind.Known() {
		return nil, fmt.Errorf("type %d is no kind of synchronization object; the types are 1 to 7", uint32(q.Kind))
	}
	if q.At == AtOpen && q.Kind != 0 {
		if err := q.openable(); err != nil {
			return nil, err
		}
	}
	word := &Words[0]
	f := newFlags(word, q.Value)
	f.At = q.At
	if q.WDDM != 0 {
		f.WDDM = q.WDDM.String()
	}
	if q.Kind != 0 {
		f.Kind = q.Kind.String()
	}
	if q.Kind != 0 && q.WDDM != 0 {
		for i := range f.Bits {
			q.judge(&f.Bits[i])
		}
		f.Verdicts = q.verdicts(f.Bits)
		return f, nil
	}
	for _, k := range Kinds {
		one := q
		one.Kind = k
		if (q.Kind == 0 || q.Kind == k) && (q.At == AtCreate || one.openable() == nil) {
			f.Verdicts = append(f.Verdicts, one.overview())
		}
	}
	return f, nil
}

// openable says why no NT handle leads to an object of the kind.
func (q *Question) openable() error {
	shared := &abi.SyncObjectFlagRules.Rules[0]
	if !shared.AppliesTo(q.Kind) {
		return fmt.Errorf("a %v cannot be shared, so no NT handle leads to one; ask with --at %s", q.Kind, AtCreate)
	}
	if first := max(firstOpen, q.Kind.First()); q.WDDM != 0 && q.WDDM < first {
		return fmt.Errorf("WDDM %v has no %v that can be opened from an NT handle; the first version is %v", q.WDDM, q.Kind, first)
	}
	return nil
}

func newFlags(w *Word, v uint32) *Flags {
	f := &Flags{Word: w.Flags.Name, Value: fmt.Sprintf("%#x", v), Names: w.Flags.Format(v), Bits: []Bit{}, Verdicts: []Verdict{}}
	for rest := v; rest != 0; rest &= rest - 1 {
		bit := bits.TrailingZeros32(rest)
		b := Bit{Bit: bit, Mask: fmt.Sprintf("%#x", uint32(1)<<bit)}
		if r := rule(w.Flags, bit); r != nil {
			b.Name, b.Since, b.Meaning = r.Name, r.First.String(), r.Meaning
		} else {
			b.Name = "Reserved"
			last := w.Flags.Rules[len(w.Flags.Rules)-1]
			b.Meaning = fmt.Sprintf("Reserved, must be 0: the last bit with a name is %d, %s.", last.Bit, last.Name)
			if name := reserved[w.Flags]; bit == 31 && name != "" {
				b.Name, b.Meaning = name, "The system's own, must be 0."
			}
			b.State, b.Breaks, b.Remedy = Illegal, "it is reserved", "clear it"
		}
		f.Bits = append(f.Bits, b)
	}
	return f
}

// judge says what becomes of a bit. Its conditions are those of FlagRule and of
// SyncObjectOpenIgnored, each put into words.
func (q *Question) judge(b *Bit) {
	r := rule(&abi.SyncObjectFlagRules, b.Bit)
	if r == nil {
		return // reserved: said already
	}
	refuse := func(breaks, remedy string) { b.State, b.Breaks, b.Remedy = Illegal, breaks, remedy }
	ignored := q.At == AtOpen && abi.SyncObjectOpenIgnored&(1<<r.Bit) != 0
	given := q.Value
	if q.At == AtOpen {
		given &^= uint32(abi.SyncObjectOpenIgnored)
	}
	missing := needs(r, q.Kind) &^ given
	switch {
	case q.WDDM < r.First:
		refuse(fmt.Sprintf("WDDM %v does not have it yet", q.WDDM), fmt.Sprintf("clear it, or use an adapter of WDDM %v", r.First))
	case r.Last != 0 && q.WDDM > r.Last:
		refuse(fmt.Sprintf("WDDM %v has it no more", q.WDDM), "clear it: it never had an effect")
	case ignored:
		b.State, b.Meaning = Ignored, "It only repeats how the object was made. "+b.Meaning
	case !r.AppliesTo(q.Kind):
		refuse("it is not for a "+q.Kind.String(), "clear it; it is for "+kindsOf(r))
	case missing != 0:
		refuse("it needs "+abi.SyncObjectFlagRules.Format(missing), fmt.Sprintf("set that too (%#x), or clear it", q.Value|missing))
	case given&r.Conflicts != 0:
		refuse("it excludes "+abi.SyncObjectFlagRules.Format(given&r.Conflicts), "clear one of the two")
	default:
		b.State = Legal
	}
}

// needs are the bits that a bit needs, with those that these need.
func needs(r *abi.FlagRule, k abi.SyncObjectType) uint32 {
	need := r.Needs(k)
	for rest := need; rest != 0; rest &= rest - 1 {
		need |= rule(&abi.SyncObjectFlagRules, bits.TrailingZeros32(rest)).Needs(k)
	}
	return need &^ (1 << r.Bit)
}

func kindsOf(r *abi.FlagRule) string {
	var names []string
	for _, k := range Kinds {
		if r.AppliesTo(k) {
			names = append(names, k.String())
		}
	}
	return strings.Join(names, ", ")
}

// status is what the call answers to the flags, and why.
func (q *Question) status() (abi.Status, string) {
	flags := abi.SyncObjectFlags(q.Value)
	if q.At == AtOpen {
		return abi.CheckOpenFlags(q.Kind, flags, q.WDDM), ""
	}
	st := abi.CheckCreateFlags(q.Kind, flags, q.WDDM)
	switch {
	case q.WDDM < q.Kind.First():
		return st, fmt.Sprintf("WDDM %v has no %v; the first version is %v", q.WDDM, q.Kind, q.Kind.First())
	case q.Kind == abi.NativeFence:
		return st, "native fences are made by D3DKMTCreateNativeFence"
	}
	return st, ""
}

func (q *Question) verdicts(bits []Bit) []Verdict {
	st, why := q.status()
	if why == "" {
		why = firstBroken(bits)
	}
	call := "D3DKMTCreateSynchronizationObject2"
	if q.At == AtOpen && q.Kind == abi.NativeFence {
		call = "D3DKMTOpenNativeFenceFromNtHandle"
	} else if q.At == AtOpen {
		call = "D3DKMTOpenSyncObjectFromNtHandle2"
	}
	if st.OK() && q.Kind == abi.CPUNotification && q.Value&uint32(abi.SyncObjectSignalByKmd) != 0 {
		why = "STATUS_NOT_SUPPORTED where the adapter lacks the feature KMD_SIGNAL_CPU_EVENT"
	}
	all := []Verdict{verdict(call, st, why)}
	if q.At == AtCreate && q.Kind == abi.NativeFence && q.WDDM >= q.Kind.First() {
		native := abi.StatusSuccess
		if _, ok := abi.SyncObjectFlagRules.Check(q.Value, q.Kind, q.WDDM); !ok {
			native = abi.StatusInvalidParameter
		}
		all = append(all, verdict("D3DKMTCreateNativeFence", native, firstBroken(bits)))
	}
	return all
}

func verdict(who string, st abi.Status, why string) Verdict {
	return Verdict{For: who, Code: st, Status: st.Name(), Value: fmt.Sprintf("0x%08X", uint32(st)), Why: why}
}

func firstBroken(bits []Bit) string {
	for _, b := range bits {
		if b.State == Illegal {
			return b.Name + ": " + b.Breaks
		}
	}
	return ""
}

// overview is the verdict on one kind, at the version or over all of them; then the
// reason is that of the newest. A native fence is judged for the call that makes it.
func (q *Question) overview() Verdict {
	if q.WDDM != 0 {
		return q.overviewAt(q.WDDM)
	}
	var ok []abi.WDDM
	for _, w := range Versions {
		at := *q
		at.WDDM = w
		if v := at.overviewAt(w); v.Code.OK() && (q.At == AtCreate || at.openable() == nil) {
			ok = append(ok, w)
		}
	}
	v := q.overviewAt(Versions[len(Versions)-1])
	return Verdict{For: v.For, Versions: ranges(ok), Why: v.Why}
}

func (q *Question) overviewAt(w abi.WDDM) Verdict {
	at := *q
	at.WDDM = w
	f := newFlags(&Words[0], q.Value)
	for i := range f.Bits {
		at.judge(&f.Bits[i])
	}
	all := at.verdicts(f.Bits)
	v := all[len(all)-1]
	v.For = q.Kind.String()
	if q.Kind == abi.NativeFence && q.At == AtCreate && len(all) > 1 {
		v.For += " (" + all[1].For + ")"
	}
	return v
}

// ranges writes versions as "2.0 to 3.2", "none" for none.
func ranges(some []abi.WDDM) string {
	var parts []string
	for i := 0; i < len(some); {
		first := indexOf(some[i])
		n := 1
		for i+n < len(some) && some[i+n] == Versions[first+n] {
			n++
		}
		part := some[i].String()
		if n > 1 {
			part += " to " + some[i+n-1].String()
		}
		parts = append(parts, part)
		i += n
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func indexOf(w abi.WDDM) int {
	for i, v := range Versions {
		if v == w {
			return i
		}
	}
	return 0
}

// Other explains a flag word that belongs to no synchronization object. w is 0 when
// the version is not known: then every bit that ever existed is taken as legal.
func Other(word *Word, v uint32, w abi.WDDM) (*Flags, error) {
	if word.Flags == &abi.SyncObjectFlagRules {
		return nil, errors.New("flags of synchronization objects are judged by kind: use SyncObject")
	}
	f := newFlags(word, v)
	if w != 0 {
		f.WDDM = w.String()
	}
	for i := range f.Bits {
		judgeOther(&f.Bits[i], rule(word.Flags, f.Bits[i].Bit), w)
	}
	takers := []string{word.Taker}
	if word.Taker == "" {
		takers = signalCalls
	}
	if w == 0 {
		w = Versions[len(Versions)-1]
	}
	for _, name := range takers {
		st, why := abi.StatusSuccess, firstBroken(f.Bits)
		if !word.Flags.Taken(v, abi.OpByName(name).Nr, w) {
			st = abi.StatusInvalidParameter
			if why == "" {
				why = notTaken(word, v, name)
			}
		}
		f.Verdicts = append(f.Verdicts, verdict(name, st, why))
	}
	return f, nil
}

func judgeOther(b *Bit, r *abi.FlagRule, w abi.WDDM) {
	switch {
	case r == nil:
	case r.BySystem:
		b.State, b.Meaning = Ignored, "An answer: what the caller puts there is ignored. "+b.Meaning
	case w != 0 && !r.ExistsAt(w):
		b.State, b.Breaks = Illegal, fmt.Sprintf("WDDM %v does not have it yet", w)
		b.Remedy = fmt.Sprintf("clear it, or use an adapter of WDDM %v", r.First)
	default:
		b.State = Legal
		if len(r.Calls) > 0 {
			b.Meaning += " Taken by " + strings.Join(callsOf(r), ", ") + "."
		}
	}
}

func callsOf(r *abi.FlagRule) []string {
	var names []string
	for _, nr := range r.Calls {
		names = append(names, strings.TrimPrefix(abi.OpByNr(nr).Name, "D3DKMT"))
	}
	return names
}

func notTaken(word *Word, v uint32, call string) string {
	nr := abi.OpByName(call).Nr
	for i := range word.Flags.Rules {
		r := &word.Flags.Rules[i]
		if v&(1<<r.Bit) != 0 && !r.TakenBy(nr) {
			return r.Name + ": this call does not take it"
		}
	}
	return ""
}
