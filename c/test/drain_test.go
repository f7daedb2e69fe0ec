package ctest

import (
	"bufio"
	"path/filepath"
	"testing"

	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/server"
)

// A paging queue's fence lives, and is waited for, until what is queued is done.
func TestDrain(t *testing.T) {
	each(t, []string{"drain"}, func(t *testing.T, name string) {
		address := filepath.Join(t.TempDir(), "s")
		d, err := server.NewDaemon(kernel.Config{Now: func() int64 { return 0 }, Time: func() int64 { return 0 }}, server.Config{})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if err := d.Open(address); err != nil {
			t.Fatal(err)
		}
		cmd := command(t, address, name)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "draining\n" {
			t.Fatalf("%q, %v, %v", line, err, cmd.Wait())
		}
		d.Kernel.Tick()
		if err := cmd.Wait(); err != nil {
			t.Fatal(err)
		}
	})
}
