package adapter

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// registryQuery makes a QUERYREGISTRY payload with room bytes more than the record.
func registryQuery(kind uint32, name string, valueType uint32, room int) payload {
	b := make(payload, regSize+room)
	b.put32(regQueryType, kind)
	b.put32(regQueryFlags, 1)
	b.putText(regValueName, regValueNameChars, name)
	b.put32(regValueType, valueType)
	return b
}

func TestDriverStorePathInTwoSteps(t *testing.T) {
	p := neutral(t)
	b := registryQuery(registryDriverStore, "", 0, 0)
	if st := p.Query(qQueryRegistry, b); st != abi.StatusSuccess || b.get32(regStatus) != registryBufferOverflow {
		t.Fatalf("first step: %v, status %d", st, b.get32(regStatus))
	}
	size := int(b.get32(regOutputSize))
	if want := 2 * (len(p.DriverStore) + 1); size != want {
		t.Fatalf("first step: size %d, want %d", size, want)
	}
	b = registryQuery(registryDriverStore, "", 0, size)
	if st := p.Query(qQueryRegistry, b); st != abi.StatusSuccess || b.get32(regStatus) != registrySuccess || int(b.get32(regOutputSize)) != size {
		t.Fatalf("second step: %v, status %d, size %d", st, b.get32(regStatus), b.get32(regOutputSize))
	}
	if got := b.getText(regOutput, size/2); got != p.DriverStore {
		t.Errorf("path %q, want %q", got, p.DriverStore)
	}
	// The record itself has room for 8 bytes, so 8 fewer behind it are enough too.
	b = registryQuery(registryDriverStore, "", 0, size-8)
	if p.Query(qQueryRegistry, b); b.get32(regStatus) != registrySuccess {
		t.Errorf("exact room: status %d", b.get32(regStatus))
	}
	b = registryQuery(registryDriverStore, "", 0, size-9)
	if p.Query(qQueryRegistry, b); b.get32(regStatus) != registryBufferOverflow || !bytes.Equal(b[regOutput:], make([]byte, len(b)-regOutput)) {
		t.Errorf("one byte too little room: status %d, or the path was written in part", b.get32(regStatus))
	}
}

func TestRegistryValues(t *testing.T) {
	p := neutral(t)
	if err := json.Unmarshal([]byte(`{
		"service": {"Text": "ab"},
		"adapter": {"Number": 7, "Large": 4294967296, "Raw": {"binary": "0a1b"}}
	}`), &p.Registry); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		kind  uint32
		name  string
		ask   uint32
		is    uint32
		bytes []byte // nil: Status FAIL
	}{
		{registryServiceKey, "Text", regNone, regSZ, []byte{'a', 0, 'b', 0, 0, 0}},
		{registryServiceKey, "tExT", regSZ, regSZ, []byte{'a', 0, 'b', 0, 0, 0}},
		{registryServiceKey, "Text", regDword, 0, nil},
		{registryServiceKey, "Number", regNone, 0, nil},
		{registryAdapterKey, "Number", regDword, regDword, []byte{7, 0, 0, 0}},
		{registryAdapterKey, "Large", regQword, regQword, []byte{0, 0, 0, 0, 1, 0, 0, 0}},
		{registryAdapterKey, "Raw", regBinary, regBinary, []byte{0x0a, 0x1b}},
		{registryAdapterKey, "", regNone, 0, nil},
	}
	for _, tt := range tests {
		b := registryQuery(tt.kind, tt.name, tt.ask, 0)
		if st := p.Query(qQueryRegistry, b); st != abi.StatusSuccess {
			t.Errorf("%d %q: %v", tt.kind, tt.name, st)
			continue
		}
		if tt.bytes == nil {
			if b.get32(regStatus) != registryFail || b.get32(regOutputSize) != 0 {
				t.Errorf("%d %q as %d: status %d, want FAIL", tt.kind, tt.name, tt.ask, b.get32(regStatus))
			}
			continue
		}
		n := int(b.get32(regOutputSize))
		if b.get32(regStatus) != registrySuccess || b.get32(regValueType) != tt.is || !bytes.Equal(b[regOutput:regOutput+n], tt.bytes) {
			t.Errorf("%d %q: status %d, type %d, % x", tt.kind, tt.name, b.get32(regStatus), b.get32(regValueType), b[regOutput:regOutput+n])
		}
	}
}

func TestRegistryRefusals(t *testing.T) {
	p := neutral(t)
	p.DriverStore, p.DriverImage = "", ""
	for _, kind := range []uint32{registryDriverStore, registryDriverImage} {
		b := registryQuery(kind, "", 0, 0)
		if st := p.Query(qQueryRegistry, b); st != abi.StatusSuccess || b.get32(regStatus) != registryFail {
			t.Errorf("no path of kind %d: %v, status %d, want FAIL", kind, st, b.get32(regStatus))
		}
	}
	for off, v := range map[int]uint32{regQueryType: registryTypes, regQueryFlags: 4, regPhysicalIndex: 1} {
		b := registryQuery(registryAdapterKey, "DriverDesc", 0, 100)
		b.put32(off, v)
		before := bytes.Clone(b)
		if st := p.Query(qQueryRegistry, b); st != abi.StatusInvalidParameter || !bytes.Equal(b, before) {
			t.Errorf("word at %d = %d: %v, or bytes changed", off, v, st)
		}
	}
}
