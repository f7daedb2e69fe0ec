package adapter

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// Whatever a caller sends, a query is answered with a status, a refusal changes
// nothing, and what lies behind the largest answer stays as it was.
func FuzzQuery(f *testing.F) {
	p, err := Load("nvidia")
	if err != nil {
		f.Fatal(err)
	}
	for typ, size := range sizes {
		_, b := ask(p, typ, size, inputs[typ])
		f.Add(typ, []byte(b))
	}
	f.Fuzz(func(t *testing.T, typ uint32, data []byte) {
		before := bytes.Clone(data)
		switch st := p.Query(typ, data); st {
		case abi.StatusSuccess:
			if typ != qQueryRegistry && !bytes.Equal(data[queries[typ].size:], before[queries[typ].size:]) {
				t.Error("bytes behind the answer changed")
			}
		case abi.StatusInvalidParameter:
			if !bytes.Equal(data, before) {
				t.Error("refused and written")
			}
		default:
			t.Errorf("status %v", st)
		}
	})
}

// A profile file is refused with an error or makes a profile that survives its own
// JSON and answers every query.
func FuzzProfile(f *testing.F) {
	for _, n := range presets {
		data, err := presetFiles.ReadFile("presets/" + n + ".json")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"base": "amd", "name": "x", "registry": {"service": {"A": 1, "B": {"binary": "00"}}}}`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		var head struct {
			Base string `json:"base"`
		}
		if json.Unmarshal(data, &head) == nil && head.Base != "" && !slices.Contains(presets, head.Base) {
			return // names a file of this machine
		}
		p, err := parse(data, dir, maxBase)
		if err != nil || p.Validate() != nil {
			return
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		again, err := parse(text, dir, 0)
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if second, _ := json.Marshal(again); !reflect.DeepEqual(text, second) {
			t.Errorf("changed on its way through JSON:\n%s\n%s", text, second)
		}
		for typ := range uint32(queryTypes) {
			p.Query(typ, make([]byte, 16384))
		}
	})
}
