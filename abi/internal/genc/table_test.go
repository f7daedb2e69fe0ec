package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

func TestHeaderIsCurrent(t *testing.T) {
	const path = "../../../c/src/optable.h"
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, table(abi.Ops)) {
		t.Errorf("%s is stale: run go generate ./abi", path)
	}
}

func TestTableSizesHoldEveryRow(t *testing.T) {
	ops := []abi.Op{{Nr: 1, Name: "A", Out: make([]abi.Span, 3)}, {Nr: 2, Name: "B", Files: make([]abi.FileField, 2)}}
	if text := table(ops); !bytes.Contains(text, []byte("DXG_OP_OUTS = 3, DXG_OP_ARRAYS = 1, DXG_OP_FILES = 2 }")) {
		t.Errorf("wrong sizes:\n%s", text)
	}
}
