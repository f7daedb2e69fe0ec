package adapter

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/dxgsync/dxgsync/abi"
)

// A Value is a registry value. In JSON a string is REG_SZ, a number REG_DWORD, or
// REG_QWORD when it needs more than 32 bits, and {"binary": "0a1b"} REG_BINARY.
type Value struct {
	kind   uint32
	text   string
	number uint64
	bytes  Bytes
}

// Registry value types. Source: winnt.h.
const (
	regNone   = 0
	regSZ     = 1
	regBinary = 3
	regDword  = 4
	regQword  = 11
)

// MarshalJSON writes the value in the form described at Value.
func (v Value) MarshalJSON() ([]byte, error) {
	switch v.kind {
	case regSZ:
		return json.Marshal(v.text)
	case regBinary:
		return json.Marshal(map[string]Bytes{"binary": v.bytes})
	default:
		return json.Marshal(v.number)
	}
}

// UnmarshalJSON reads the value in the form described at Value.
func (v *Value) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*v = Value{kind: regSZ, text: text}
		return nil
	}
	var number uint64
	if json.Unmarshal(data, &number) == nil {
		*v = Value{kind: regDword, number: number}
		if number > 0xFFFFFFFF {
			v.kind = regQword
		}
		return nil
	}
	var binary struct {
		Binary *Bytes `json:"binary"`
	}
	if json.Unmarshal(data, &binary) == nil && binary.Binary != nil {
		*v = Value{kind: regBinary, bytes: *binary.Binary}
		return nil
	}
	return fmt.Errorf("registry value %s: want a string, a number or {\"binary\": \"hexadecimal digits\"}", data)
}

// data is the value as the answer carries it: strings in UTF-16 with their NUL.
func (v Value) data() []byte {
	switch v.kind {
	case regSZ:
		return utf16Bytes(v.text)
	case regBinary:
		return v.bytes
	case regQword:
		return binary.LittleEndian.AppendUint64(nil, v.number)
	default:
		return binary.LittleEndian.AppendUint32(nil, uint32(v.number))
	}
}

// Query types and statuses of D3DDDI_QUERYREGISTRY_INFO. Source: d3dukmdt.h.
const (
	registryServiceKey  = 0
	registryAdapterKey  = 1
	registryDriverStore = 2
	registryDriverImage = 3
	registryTypes       = 4

	registrySuccess        = 0
	registryBufferOverflow = 1
	registryFail           = 2
)

// D3DDDI_QUERYREGISTRY_INFO with 16-bit characters.
const (
	regQueryType      = 0
	regQueryFlags     = 4
	regValueName      = 8
	regValueNameChars = 260
	regValueType      = 528
	regPhysicalIndex  = 532
	regOutputSize     = 536
	regStatus         = 540
	regOutput         = 544
	regSize           = 552

	regFlagsKnown = 0x3 // TranslatePath, MutableValue
)

// queryRegistry answers QUERYREGISTRY in the two steps that clients take: with too
// little room behind the record the call succeeds, Status says BUFFER_OVERFLOW and
// OutputValueSize the bytes needed; with that many more bytes the value follows.
// OutputValueSize counts bytes of 16-bit characters, the NUL included. A value
// that is not there is also a success of the call, with Status FAIL.
func (p *Profile) queryRegistry(b payload) abi.Status {
	kind := b.get32(regQueryType)
	if kind >= registryTypes || b.get32(regQueryFlags)&^regFlagsKnown != 0 || uint64(b.get32(regPhysicalIndex)) >= uint64(p.PhysicalAdapters) {
		return abi.StatusInvalidParameter
	}
	v, ok := p.lookup(kind, b.getText(regValueName, regValueNameChars))
	if want := b.get32(regValueType); !ok || want != regNone && want != v.kind && kind < registryDriverStore {
		b.put32(regOutputSize, 0)
		b.put32(regStatus, registryFail)
		return abi.StatusSuccess
	}
	data := v.data()
	b.put32(regValueType, v.kind)
	b.put32(regOutputSize, uint32(len(data)))
	if len(data) > len(b)-regOutput {
		b.put32(regStatus, registryBufferOverflow)
		return abi.StatusSuccess
	}
	b.put32(regStatus, registrySuccess)
	copy(b[regOutput:], data)
	return abi.StatusSuccess
}

func (p *Profile) lookup(kind uint32, name string) (Value, bool) {
	switch kind {
	case registryServiceKey:
		return find(p.Registry.Service, name)
	case registryAdapterKey:
		return find(p.Registry.Adapter, name)
	case registryDriverStore:
		return Value{kind: regSZ, text: p.DriverStore}, p.DriverStore != ""
	default:
		return Value{kind: regSZ, text: p.DriverImage}, p.DriverImage != ""
	}
}

func find(key map[string]Value, name string) (Value, bool) {
	for k, v := range key {
		if strings.EqualFold(k, name) {
			return v, true
		}
	}
	return Value{}, false
}

// utf16Bytes encodes s in 16-bit characters, little endian, with its NUL.
func utf16Bytes(s string) []byte {
	var b []byte
	for _, c := range utf16.Encode([]rune(s)) {
		b = binary.LittleEndian.AppendUint16(b, c)
	}
	return append(b, 0, 0)
}
