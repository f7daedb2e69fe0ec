package dxgsync

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dxgsync/dxgsync/abi"
)

// doors runs a test with a session of each kind.
func doors(t *testing.T, test func(t *testing.T, d *Device)) {
	for name, remote := range map[string]bool{"local": false, "remote": true} {
		t.Run(name, func(t *testing.T) { test(t, where{remote: remote, shared: true}.device(t)) })
	}
}

func share(t *testing.T, f *Fence, opts ShareOptions) *os.File {
	t.Helper()
	file, err := f.ShareWith(opts)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// forgotten returns when a name is gone: the kernel hears of a close a little later.
func forgotten(s *Session, name string) {
	for !errors.Is(second(s.OpenName(name, 0)), abi.StatusObjectNameNotFound) {
		runtime.Gosched()
	}
}

func TestNamesLeadToTheFence(t *testing.T) {
	doors(t, func(t *testing.T, d *Device) {
		for _, c := range []struct{ given, found string }{
			{"frames", "frames"},
			{"frames", "FRAMES"},
			{"frames", `\BaseNamedObjects\Frames`},
			{`\BaseNamedObjects\frames`, "frames"},
			{"frames", `Global\frames`},
			{`Local\frames`, "frames"},
			{`\Sessions\3\BaseNamedObjects\frames`, `\sessions\3\basenamedobjects\frames`},
			{"Übergröße", "übergrÖße"},
		} {
			f := newFence(t, d, FenceOptions{Shared: true, Initial: 4})
			file := share(t, f, ShareOptions{Name: c.given})
			g, err := d.OpenNamed(c.found, AccessAll, OpenOptions{})
			want(t, c.found, err, nil)
			want(t, "signal", g.Signal(5), nil)
			wantValue(t, f, 5)
			want(t, "close", file.Close(), nil)
			forgotten(d.s, c.given)
			want(t, "close", f.Close(), nil)
		}
	})
}

func TestNamesRefused(t *testing.T) {
	doors(t, func(t *testing.T, d *Device) {
		f := newFence(t, d, FenceOptions{Shared: true})
		defer share(t, f, ShareOptions{Name: "taken"}).Close()
		for name, st := range map[string]abi.Status{
			"Taken":                                abi.StatusObjectNameCollision,
			`\BaseNamedObjects\`:                   abi.StatusObjectNameInvalid,
			`a\b`:                                  abi.StatusObjectPathNotFound,
			`\Nowhere\x`:                           abi.StatusObjectPathNotFound,
			"a\x00b":                               abi.StatusObjectNameInvalid,
			strings.Repeat("x", 1<<15):             abi.StatusInvalidParameter,
			`\BaseNamedObjects\\` + "doubled":      abi.StatusObjectNameInvalid,
			`\Sessions\03\BaseNamedObjects\frames`: abi.StatusObjectPathNotFound,
		} {
			_, err := f.ShareWith(ShareOptions{Name: name})
			want(t, name, err, st)
			if !strings.Contains(err.Error(), "share the name") {
				t.Errorf("%v does not say what was done", err)
			}
		}
		for name, st := range map[string]abi.Status{
			"":                     abi.StatusObjectNameInvalid,
			"free":                 abi.StatusObjectNameNotFound,
			`a\b`:                  abi.StatusObjectPathNotFound,
			`\Nowhere\x`:           abi.StatusObjectPathNotFound,
			`\BaseNamedObjects\\x`: abi.StatusObjectNameInvalid,
		} {
			want(t, name, second(d.s.OpenName(name, AccessAll)), st)
			want(t, name, second(d.OpenNamed(name, AccessAll, OpenOptions{})), st)
		}
		want(t, "no access", second(d.OpenNamed("taken", 0, OpenOptions{})), abi.StatusAccessDenied)
		want(t, "strange access", second(d.OpenNamed("taken", 0x8, OpenOptions{})), abi.StatusAccessDenied)
		want(t, "strange access", second(f.ShareWith(ShareOptions{Access: 0x8})), abi.StatusAccessDenied)
		want(t, "both flags", second(d.OpenNamed("taken", AccessAll, OpenOptions{Flags: abi.SyncObjectNoSignal | abi.SyncObjectNoWait})), abi.StatusInvalidParameter)
		if os.Geteuid() != 0 {
			other := &Security{UID: uint32(os.Geteuid()) + 1, Mode: 0o666}
			want(t, "another owner", second(f.ShareWith(ShareOptions{Name: "given", Security: other})), abi.StatusInvalidParameter)
		}
		private := newFence(t, d, FenceOptions{})
		want(t, "private", second(private.ShareWith(ShareOptions{Name: "private"})), abi.StatusInvalidParameter)
		want(t, "close", d.Close(), nil)
		want(t, "closed device", second(d.OpenNamed("taken", AccessAll, OpenOptions{})), ErrClosed)
		want(t, "close", d.s.Close(), nil)
		want(t, "closed session", second(d.s.OpenName("taken", AccessAll)), ErrClosed)
	})
}

// A name lasts as long as a file that stands for it, whoever made it; a view of the
// fence does not keep it.
func TestNameLasts(t *testing.T) {
	doors(t, func(t *testing.T, d *Device) {
		f := newFence(t, d, FenceOptions{Shared: true})
		first := share(t, f, ShareOptions{Name: "x"})
		found, err := d.s.OpenName("x", AccessAll)
		want(t, "open", err, nil)
		view, err := d.OpenShared(found, OpenOptions{})
		want(t, "open", err, nil)
		want(t, "close", first.Close(), nil)
		again, err := d.OpenNamed("x", AccessAll, OpenOptions{})
		want(t, "open by the second file", err, nil)
		want(t, "signal", view.Signal(3), nil)
		wantValue(t, again, 3)
		want(t, "close", found.Close(), nil)
		forgotten(d.s, "x")
		defer share(t, f, ShareOptions{Name: "x"}).Close()
	})
}

// What a file gives and what a view is opened for both bound what a view can do.
func TestAccessBoundsViews(t *testing.T) {
	doors(t, func(t *testing.T, d *Device) {
		f := newFence(t, d, FenceOptions{Shared: true, Initial: 1})
		defer share(t, f, ShareOptions{Name: "x"}).Close()
		for _, c := range []struct {
			access       Access
			flags        abi.SyncObjectFlags
			wait, signal error
		}{
			{AccessAll, 0, nil, nil},
			{AccessMaximum, 0, nil, nil},
			{AccessWait | AccessSignal, 0, nil, nil},
			{AccessWait, 0, nil, abi.StatusAccessDenied},
			{AccessSignal, 0, abi.StatusAccessDenied, nil},
			{AccessAll, abi.SyncObjectNoSignal, nil, abi.StatusAccessDenied},
			{AccessAll, abi.SyncObjectNoWait, abi.StatusAccessDenied, nil},
			{AccessWait, abi.SyncObjectNoWait, abi.StatusAccessDenied, abi.StatusAccessDenied},
		} {
			open := func(g *Fence, err error) {
				t.Helper()
				want(t, "open", err, nil)
				want(t, "wait", g.Wait(bg, 1), c.wait)
				want(t, "signal", g.Signal(1), c.signal)
			}
			open(d.OpenNamed("x", c.access, OpenOptions{Flags: c.flags}))
			file := share(t, f, ShareOptions{Access: c.access})
			open(d.OpenShared(file, OpenOptions{Flags: c.flags}))
			want(t, "close", file.Close(), nil)
		}
	})
}

// The owner's bits are for the owner, unless he is root.
func TestSecurityBinds(t *testing.T) {
	doors(t, func(t *testing.T, d *Device) {
		root := os.Geteuid() == 0
		for mode := range os.FileMode(8) {
			f := newFence(t, d, FenceOptions{Shared: true})
			file := share(t, f, ShareOptions{Name: "x", Security: SecurityMode(mode << 6)})
			for _, c := range []struct {
				access Access
				given  bool
			}{{AccessWait, mode&4 != 0}, {AccessSignal, mode&2 != 0}, {AccessAll, mode&6 == 6}} {
				g, err := d.OpenNamed("x", c.access, OpenOptions{})
				if c.given || root {
					want(t, "open", err, nil)
					want(t, "close", g.Close(), nil)
				} else {
					want(t, "open", err, abi.StatusAccessDenied)
				}
			}
			want(t, "close", file.Close(), nil)
			forgotten(d.s, "x")
		}
	})
}

func TestShareInherit(t *testing.T) {
	d := openDevice(t)
	f := newFence(t, d, FenceOptions{Shared: true})
	for _, inherit := range []bool{false, true} {
		file := share(t, f, ShareOptions{Inherit: inherit})
		conn, err := file.SyscallConn()
		want(t, "conn", err, nil)
		want(t, "control", conn.Control(func(fd uintptr) {
			if flags, err := unix.FcntlInt(fd, unix.F_GETFD, 0); err != nil || (flags&unix.FD_CLOEXEC == 0) != inherit {
				t.Errorf("flags %#x, %v; inherit %v", flags, err, inherit)
			}
		}), nil)
		want(t, "close", file.Close(), nil)
	}
}
