package cmdbuf_test

import (
	"fmt"

	"github.com/dxgsync/dxgsync/cmdbuf"
)

func Example() {
	const data, fence = 0x10000, 0x1000 // GPU virtual addresses
	buf := cmdbuf.New().Fill(data, 0xdeadbeef, 64).Signal(fence, 1).Bytes()
	lines, err := cmdbuf.Decode(buf)
	for _, l := range lines {
		fmt.Printf("%#04x %v\n", l.Offset, l.Command)
	}
	fmt.Println(len(buf), err)
	// Output:
	// 0x0008 FILL dst=0x10000 pattern=0xdeadbeef bytes=64
	// 0x0028 SIGNAL va=0x1000 value=1
	// 64 <nil>
}
