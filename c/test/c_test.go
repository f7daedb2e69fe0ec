// Package ctest runs the C side's own test programs: units that need no daemon, and
// programs as users write them, against a daemon of this project's Go code.
package ctest

import (
	"bufio"
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/dxgsync/dxgsync/internal/server"
)

const root = "../.."

// programs is where make puts what is run here.
var programs, libs string

func TestMain(m *testing.M) {
	if address := os.Getenv(serveEnv); address != "" {
		fmt.Fprintln(os.Stderr, serve(address))
		os.Exit(1)
	}
	if err := build(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func build() error {
	abs, err := filepath.Abs(filepath.Join(root, "build"))
	if err != nil {
		return err
	}
	programs, libs = filepath.Join(abs, "test"), filepath.Join(abs, "lib")
	cmd := exec.Command("make", "-s", fmt.Sprintf("-j%d", runtime.NumCPU()), "-f", "c/build.mk", "c-programs")
	cmd.Dir = root
	for _, v := range os.Environ() { // this make is not a part of one that runs us
		if !strings.HasPrefix(v, "MAKE") && !strings.HasPrefix(v, "MFLAGS=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("make c-programs: %w\n%s", err, out)
	}
	return nil
}

// builds are the suffixes of what each program is made as.
var builds = []string{"", "-asan", "-tsan"}

// each runs a test for every program in every build.
func each(t *testing.T, names []string, f func(t *testing.T, name string)) {
	for _, name := range names {
		for _, b := range builds {
			t.Run(name+b, func(t *testing.T) { f(t, name+b) })
		}
	}
}

// command is a test program with its environment: more is added to it, and nothing
// hides a wake-up that was lost. The sanitizers must let children fork, begin threads
// and die of a fault.
func command(t *testing.T, address, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), filepath.Join(programs, name), args...)
	cmd.Env = append(os.Environ(), "DXGSYNC_SOCKET="+address, "DXGSYNC_BACKSTOP=off",
		"ASAN_OPTIONS=handle_segv=0", "TSAN_OPTIONS=handle_segv=0:die_after_fork=0:atexit_sleep_ms=0")
	return cmd
}

func run(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
}

func TestUnits(t *testing.T) {
	each(t, []string{"unit_frame", "unit_reach", "unit_cell", "unit_query", "unit_hello"}, func(t *testing.T, name string) {
		run(t, command(t, "", name))
	})
}

func TestPrograms(t *testing.T) {
	address := start(t, server.Limits{})
	each(t, []string{"calls", "forks", "pair", "limits", "closed", "core", "cancel", "keyed", "gpu", "queue", "hammer", "consumer", "memory"}, func(t *testing.T, name string) {
		run(t, command(t, address, name))
	})
	// The address sanitizer reports its own end of a cancelled thread.
	for _, name := range []string{"first", "first-tsan"} {
		t.Run(name, func(t *testing.T) { run(t, command(t, address, name)) })
	}
}

// Native fences and doorbells, on adapters that have them with less and with more.
func TestNative(t *testing.T) {
	native, err := adapter.Load("native")
	if err != nil {
		t.Fatal(err)
	}
	address := start(t, server.Limits{}, native)
	each(t, []string{"native", "doorbell"}, func(t *testing.T, name string) { run(t, command(t, address, name)) })
}

func TestNoDaemon(t *testing.T) {
	each(t, []string{"nodaemon"}, func(t *testing.T, name string) {
		run(t, command(t, filepath.Join(t.TempDir(), "nobody"), name))
	})
}

func TestRefused(t *testing.T) {
	each(t, []string{"refused"}, func(t *testing.T, name string) {
		run(t, command(t, start(t, server.Limits{Sessions: 1}), name))
	})
}

// A program that knows no library gets its device from the preloaded one; with a
// sanitizer, whose own library wants to come first, from one that it is linked to.
func TestRawDevice(t *testing.T) {
	address := start(t, server.Limits{})
	each(t, []string{"raw"}, func(t *testing.T, name string) {
		cmd := command(t, address, name)
		if name == "raw" {
			cmd.Env = append(cmd.Env, "LD_PRELOAD="+filepath.Join(libs, "libdxg.so"))
		}
		run(t, cmd)
	})
}

// Every name that programs look for, under each name of the library, from one file.
func TestSymbols(t *testing.T) {
	names, err := os.ReadFile("names.txt")
	if err != nil {
		t.Fatal(err)
	}
	cmd := command(t, "", "symbols", filepath.Join(libs, "libdxg.so"), filepath.Join(libs, "libdxcore.so"), filepath.Join(libs, "libdxg.so.1"))
	cmd.Stdin = bytes.NewReader(names)
	run(t, cmd)
}

// dev are the functions of the C library that answer for /dev/dxg.
const dev = " __lxstat __lxstat64 __open64_2 __open_2 __openat64_2 __openat_2 __xstat __xstat64 access eaccess euidaccess " +
	"faccessat fopen fopen64 fstatat fstatat64 ioctl lstat lstat64 open open64 openat openat64 stat stat64 statx "

// Nothing else is there: a name too many may be another library's.
func TestExports(t *testing.T) {
	names, err := os.ReadFile("names.txt")
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.Open(filepath.Join(libs, "libdxg.so.1"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		known := s.Section == elf.SHN_UNDEF || strings.HasPrefix(s.Name, "dxgsync_") ||
			strings.HasPrefix(s.Name, "_Z") && strings.Contains(s.Name, "D3DKMT") || // C++ names of names
			strings.Contains(dev, " "+s.Name+" ") || bytes.Contains(names, []byte(s.Name+"\n"))
		if !known {
			t.Errorf("exports %s", s.Name)
		}
	}
}

// DXCore from C and from C++, with one adapter, several, none, and a daemon that dies.
func TestDXCore(t *testing.T) {
	alone, among, nobody := start(t, server.Limits{}), start(t, server.Limits{}, profiles(t)...), filepath.Join(t.TempDir(), "nobody")
	each(t, []string{"dxcore", "dxcorepp"}, func(t *testing.T, name string) { run(t, command(t, alone, name)) })
	each(t, []string{"dxcore_several"}, func(t *testing.T, name string) { run(t, command(t, among, name)) })
	each(t, []string{"dxcore_nobody"}, func(t *testing.T, name string) { run(t, command(t, nobody, name)) })
	each(t, []string{"dxcore_death"}, func(t *testing.T, name string) {
		t.Run("gone", func(t *testing.T) { death(t, false, name) })
		t.Run("replaced", func(t *testing.T) { death(t, true, name) })
	})
}

// profiles are adapters that differ in what DXCore tells of them.
func profiles(t *testing.T) []*adapter.Profile {
	var list []*adapter.Profile
	for i, base := range []string{"amd", "neutral", "neutral"} {
		p, err := adapter.Load(base)
		if err != nil {
			t.Fatal(err)
		}
		p.PCI.Bus, p.GUID[0] = uint32(40+i), byte(40+i)
		list = append(list, p)
	}
	fast, compute, software := list[0], list[1], list[2]
	fast.Description = "AMD Radeon™ 🚀"
	fast.PhysicalAdapters = 2
	compute.Type, compute.Displays, compute.Memory.DedicatedVideo = adapter.RenderSupported|adapter.ComputeOnly, nil, 4096
	software.Type |= adapter.SoftwareDevice | adapter.HybridIntegrated | adapter.Detachable | adapter.ACGSupported
	software.Memory.DedicatedVideo = 0
	for _, p := range list {
		if err := p.Validate(); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// The daemon is killed under sleeping threads, which learn it from the library's
// watcher, or by looking themselves when there is none. With another daemon in its
// place the next enumeration begins anew.
func TestDaemonDeath(t *testing.T) {
	each(t, []string{"death"}, func(t *testing.T, name string) {
		t.Run("gone", func(t *testing.T) { death(t, false, name) })
		t.Run("replaced", func(t *testing.T) { death(t, true, name) })
		t.Run("unwatched", func(t *testing.T) { death(t, false, name, "unwatched") })
	})
	each(t, []string{"doorbell"}, func(t *testing.T, name string) { death(t, false, name, "death") })
}

func death(t *testing.T, again bool, name string, args ...string) {
	address := filepath.Join(t.TempDir(), "s")
	daemon := startProcess(t, address)
	cmd := command(t, address, name, args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(pipe)
	if line, err := out.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("first line %q, %v: %s", line, err, &complaint)
	}
	if err := daemon.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = daemon.Wait()
	want := "removed\n"
	if again {
		startProcess(t, address)
		want = "again\n"
	}
	if _, err := io.WriteString(in, "dead\n"); err != nil {
		t.Fatal(err)
	}
	line, err := out.ReadString('\n')
	if err != nil || line != want {
		t.Errorf("after the death %q, %v; want %q", line, err, want)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, &complaint)
	}
}
