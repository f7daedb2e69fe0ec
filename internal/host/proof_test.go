package host

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
)

// Pipes that holders have made large use up what the system lets the daemon's user have
// of them, and no other could be changed to prove anything. They are made small again.
func TestProofAmongLargePipes(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("as the user that we are; what other programs of that user hold of pipes counts too")
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlock: the thread goes with its user
		const user = 65534
		if os.Geteuid() == 0 {
			if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, user, user, user); errno != 0 {
				t.Error(errno)
				return
			}
		}
		h, _ := newHost(t)
		stranger := process(h.user + 1)
		key, fd := handle(t, h)
		defer close1(fd)
		size := 1 << 20
		for range 1000 {
			_, other := handle(t, h)
			defer close1(other)
			for size > pipeSize {
				if _, err := unix.FcntlInt(uintptr(other), unix.F_SETPIPE_SZ, size); err != unix.EPERM {
					break
				}
				size /= 2
			}
		}
		if size > pipeSize {
			t.Error("the test must come to the system's limit of pipes")
		}
		for range 3 { // so that one of them has to make it larger
			if got, st := h.Identify(stranger, fd); st != abi.StatusSuccess || got != key {
				t.Errorf("identified as %v: %v, want %v", got, st, key)
			}
		}
	}()
	<-done
}
