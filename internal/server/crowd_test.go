package server

import (
	"math/rand/v2"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
)

// TestHostileCrowd: peers that send anything, bring descriptors, never read or leave
// in the middle, beside one that behaves and is served.
func TestHostileCrowd(t *testing.T) {
	const seed = 11
	k := newFakeKernel(t)
	s := newServer(t, k, Limits{Sessions: 20, BellsPerProcess: 64})
	good := dial(t, s, 1)
	frames := make([][]byte, len(abi.Ops))
	for i := range frames {
		frames[i] = frameOf(t, request(&abi.Ops[i]))
	}
	hello := frameOf(t, helloRequest(2))
	var work sync.WaitGroup
	for n := range 8 {
		work.Go(func() {
			rnd := rand.New(rand.NewPCG(seed, uint64(n)))
			for range 60 {
				fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
				if err != nil {
					t.Error(err)
					return
				}
				_ = s.Adopt(fds[1]) // may be one too many
				if rnd.IntN(4) > 0 {
					_ = unix.Sendto(fds[0], hello, unix.MSG_NOSIGNAL, nil)
				}
				reads := rnd.IntN(2) == 0
				for range rnd.IntN(30) {
					var rights []byte
					if c := rnd.IntN(12); c > 8 {
						rights = unix.UnixRights(make([]int, c-8)...) // copies of standard input
					}
					frame := append([]byte(nil), frames[rnd.IntN(len(frames))]...)
					if rnd.IntN(4) == 0 {
						frame[rnd.IntN(len(frame))] ^= 1 << rnd.IntN(8)
					}
					if unix.Sendmsg(fds[0], frame, rights, nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT) != nil {
						break
					}
					if reads { // and discards the descriptors
						if n, _, err := unix.Recvfrom(fds[0], frame, 0); n == 0 || err != nil {
							break
						}
					}
				}
				_ = unix.Close(fds[0])
			}
		})
	}
	for range 2000 {
		good.must(request(abi.OpCancelWait), abi.StatusSuccess)
	}
	work.Wait()
	good.must(request(abi.OpCancelWait), abi.StatusSuccess)
}
