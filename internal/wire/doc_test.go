package wire

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dxgsync/dxgsync/abi"
)

// TestDocumentedNumbers: docs/protocol-wire.md lists the session operations and the
// numbers of our own, all of them and no others.
func TestDocumentedNumbers(t *testing.T) {
	text, err := os.ReadFile("../../docs/protocol-wire.md")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, m := range regexp.MustCompile(`(?m)^\| (0x[0-9A-F]{4}) \| (\w+) \|`).FindAllStringSubmatch(string(text), -1) {
		got = append(got, m[1]+" "+m[2])
	}
	for i := range abi.Ops {
		if op := &abi.Ops[i]; op.Nr >= 0x8000 {
			want = append(want, fmt.Sprintf("%#X %s", op.Nr, op.Name))
		}
	}
	for i := range want {
		want[i] = strings.Replace(want[i], "0X", "0x", 1)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("documented:\n%s\nin the table:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestDocumentedSizes: the fixed numbers of the page are those of the code.
func TestDocumentedSizes(t *testing.T) {
	text, err := os.ReadFile("../../docs/protocol-wire.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("at most %d bytes and brings at most %d descriptors", MaxFrame, MaxFiles),
		fmt.Sprintf("version: %d", Version),
		fmt.Sprintf("is the %d bytes alone", HeaderSize),
		fmt.Sprintf("bytes of the grant: 0 or %d", GrantSize),
		fmt.Sprintf("Bytes %#X stand for a NULL pointer", NullArray),
		fmt.Sprintf("at most %d bytes", maxAddress),
	} {
		if !strings.Contains(string(text), strings.Replace(want, "0X", "0x", 1)) {
			t.Errorf("the page does not say %q", want)
		}
	}
}
