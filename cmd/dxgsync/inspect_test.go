package main

import (
	"errors"
	"net"
	"path/filepath"
	"testing"
)

// A kernel that ends while it is asked has gone, which is no failure of ls.
func TestInspectGone(t *testing.T) {
	address := filepath.Join(t.TempDir(), "socket")
	l, err := net.ListenUnix("unixpacket", &net.UnixAddr{Name: address, Net: "unixpacket"})
	if err != nil {
		t.Fatal(err)
	}
	hungUp := make(chan struct{})
	go func() {
		defer close(hungUp)
		for range 2 {
			c, err := l.Accept()
			if err != nil {
				t.Error(err)
				return
			}
			_ = c.Close()
		}
	}()
	for range 2 { // its hang-up may come before or after the request
		if _, err := inspect(address); !errors.Is(err, errGone) {
			t.Errorf("inspect: %v", err)
		}
	}
	<-hungUp
	_ = l.Close()
	if _, err := inspect(address); !errors.Is(err, errNobody) {
		t.Errorf("inspect without a listener: %v", err)
	}
}
