package host

import (
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/internal/object"
)

func benchHost(b *testing.B) *Host {
	h, err := New()
	if err != nil {
		b.Fatal(err)
	}
	h.Start(func(object.Key) {})
	b.Cleanup(h.Stop)
	return h
}

// Setting an event, beside the bare write that it stands for.
func BenchmarkEvent(b *testing.B) {
	h := benchHost(b)
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		b.Fatal(err)
	}
	defer close1(fd)
	b.Run("set", func(b *testing.B) {
		for b.Loop() {
			h.setter.set(fd)
		}
	})
	b.Run("look and write", func(b *testing.B) {
		for b.Loop() {
			writeOne(fd)
		}
	})
	b.Run("bare write", func(b *testing.B) {
		one := [8]byte{1}
		for b.Loop() {
			_, _ = unix.Write(fd, one[:])
		}
	})
	b.Run("reference", func(b *testing.B) {
		for b.Loop() {
			e, st := h.Event(process(1000), fd)
			if !st.OK() {
				b.Fatal(st)
			}
			e.Close()
		}
	})
}

func BenchmarkHandle(b *testing.B) {
	h := benchHost(b)
	_, fd, st := h.NewNTHandle()
	if !st.OK() {
		b.Fatal(st)
	}
	defer close1(fd)
	same, other := process(uint32(os.Geteuid())), process(uint32(os.Geteuid())+1)
	b.Run("identify", func(b *testing.B) {
		for b.Loop() {
			h.Identify(same, fd)
		}
	})
	b.Run("identify and prove", func(b *testing.B) {
		for b.Loop() {
			h.Identify(other, fd)
		}
	})
	b.Run("make", func(b *testing.B) {
		for b.Loop() {
			_, fd, st := h.NewNTHandle()
			if !st.OK() {
				b.Fatal(st)
			}
			close1(fd)
		}
	})
}

func BenchmarkMemory(b *testing.B) {
	h := benchHost(b)
	p := process(1000)
	b.Run("shared", func(b *testing.B) {
		for b.Loop() {
			m, st := h.SharedMemory(p, 1)
			if !st.OK() {
				b.Fatal(st)
			}
			m.Free()
		}
	})
	b.Run("private", func(b *testing.B) {
		for b.Loop() {
			m, st := h.PrivateMemory(p, 1)
			if !st.OK() {
				b.Fatal(st)
			}
			m.Free()
		}
	})
	h.Detach(p)
}
