package decode

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dxgsync/dxgsync/cmdbuf"
)

func TestExplainCommands(t *testing.T) {
	good := cmdbuf.New().Delay(5, cmdbuf.NotPreemptible).Signal(0x1000, 1<<63).Bytes()
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"good", good, "56 false [{8 24 DELAY [{ns 5} {flags not-preemptible}]} {32 24 SIGNAL [{va 0x1000} {value 9223372036854775808}]}] "},
		{"cut", good[:40], "40 false [{8 24 DELAY [{ns 5} {flags not-preemptible}]}] at 0x20: SIGNAL crosses the end of the buffer"},
		{"foreign", []byte("somebody else's"), "15 true [] "},
		{"empty", nil, "0 true [] "},
		{"too long", append(good, make([]byte, cmdbuf.MaxSize)...), "1048632 false [] 1048632 bytes: the GPU takes at most 1048576"},
	} {
		x := ExplainCommands(c.b)
		if got := fmt.Sprint(x.Size, x.Foreign, x.Commands, " ", x.Fault); strings.Join(strings.Fields(got), " ") != strings.TrimSpace(c.want) {
			t.Errorf("%s: got  %q\nwant %q", c.name, got, c.want)
		}
	}
}
