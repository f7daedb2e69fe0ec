package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dxgsync/dxgsync/cmdbuf"
	"github.com/rogpeppe/go-internal/testscript"
)

// stubLibrary is an empty library to preload: these tests are about the command, not
// about what the library does.
var stubLibrary string

func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){"dxgsync": main, "probe": probe})
}

// tests are what TestMain runs when it is not one of the commands.
type tests struct{ m *testing.M }

func (t tests) Run() int {
	dir, err := os.MkdirTemp("", "dxgsync-cmd-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	// With the race detector every process would sleep a second at its end.
	_ = os.Setenv("GORACE", "atexit_sleep_ms=0")
	stubLibrary = filepath.Join(dir, libName)
	if out, err := exec.Command("cc", "-shared", "-o", stubLibrary, "-x", "c", os.DevNull).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build an empty library with cc: %v\n%s", err, out)
		return 1
	}
	return t.m.Run()
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv(libEnv, stubLibrary)
			e.Setenv("GORACE", os.Getenv("GORACE"))
			e.Setenv("XDG_RUNTIME_DIR", filepath.Join(e.WorkDir, "rt"))
			return os.Mkdir(filepath.Join(e.WorkDir, "rt"), 0o700)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"buffer": buffer, "notify": notify, "ready": ready},
	})
}

// buffer writes command buffers: good, cut in its second command, and foreign.
func buffer(ts *testscript.TestScript, _ bool, _ []string) {
	good := cmdbuf.New().Fill(0x10000, 0xdeadbeef, 64).Signal(0x1000, 1).Bytes()
	for name, b := range map[string][]byte{"good": good, "cut": good[:48], "foreign": []byte("no buffer"), "long": make([]byte, cmdbuf.MaxSize+1)} {
		ts.Check(os.WriteFile(ts.MkAbs(name), b, 0o600))
	}
}

// notify makes the socket on which a server says that it is ready, as systemd does.
func notify(ts *testscript.TestScript, _ bool, _ []string) {
	path := ts.MkAbs("notify")
	_ = os.Remove(path)
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	ts.Check(err)
	ts.Defer(func() { c.Close() })
	ts.Setenv("NOTIFY_SOCKET", path)
	notifications.Store(ts.MkAbs("."), c)
}

// notifications are the sockets of notify by the directory of their script.
var notifications sync.Map

// ready waits until the server has said so.
func ready(ts *testscript.TestScript, _ bool, _ []string) {
	v, ok := notifications.Load(ts.MkAbs("."))
	if !ok {
		ts.Fatalf("ready without notify")
	}
	c := v.(*net.UnixConn)
	ts.Check(c.SetReadDeadline(time.Now().Add(time.Minute))) // a server that died says nothing
	b := make([]byte, 256)
	for {
		n, err := c.Read(b)
		ts.Check(err)
		if strings.Contains(string(b[:n]), "READY=1") {
			return
		}
	}
}
