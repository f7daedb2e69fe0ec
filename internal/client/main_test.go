package client

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs the tests, or plays another process of one of them. At the end no
// goroutine may be left.
func TestMain(m *testing.M) {
	if play := roles[os.Getenv("DXGSYNC_TEST_ROLE")]; play != nil {
		if err := play(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
