package main

import (
	"debug/buildinfo"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dxgsync/dxgsync/internal/wire"
)

// libEnv names the library to preload, instead of the one beside the command.
const libEnv = "DXGSYNC_LIB"

const libName = "libdxg.so"

// findLibrary returns the absolute path of libdxg.so: $DXGSYNC_LIB, else in ../lib
// or a usual variant of it, seen from the real place of the command.
func findLibrary() (string, error) {
	if lib := os.Getenv(libEnv); lib != "" {
		if info, err := os.Stat(lib); err != nil || info.IsDir() {
			return "", fmt.Errorf("library %s, which %s names, is no file that can be loaded; name the file libdxg.so", lib, libEnv)
		}
		return filepath.Abs(lib)
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find the place of this command: %w", err)
	}
	if real, err := filepath.EvalSymlinks(self); err == nil {
		self = real
	}
	prefix := filepath.Dir(filepath.Dir(self))
	if lib := libraryUnder(prefix); lib != "" {
		return lib, nil
	}
	return "", fmt.Errorf("library %s not found beside the command (in %s); build it with make, or name the file in %s",
		libName, filepath.Join(prefix, "lib"), libEnv)
}

// libraryUnder looks for the library where builds and packages put it; "" for none.
func libraryUnder(prefix string) string {
	for _, dir := range []string{"lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu", "lib/dxgsync"} {
		lib := filepath.Join(prefix, dir, libName)
		if info, err := os.Stat(lib); err == nil && !info.IsDir() {
			return lib
		}
	}
	return ""
}

// programEnv is the environment of a program: that of this command, pointed at the
// kernel. What the user preloads himself stays in front: sanitizers insist on being
// first.
func programEnv(env []string, address, lib string) []string {
	preload := lib
	if strings.ContainsAny(lib, " :") {
		preload = libName // LD_PRELOAD cannot hold such a path, LD_LIBRARY_PATH finds the name
	}
	env = setEnv(env, wire.SocketEnv, func(string) string { return address })
	env = setEnv(env, "LD_PRELOAD", func(old string) string { return join(old, preload) })
	return setEnv(env, "LD_LIBRARY_PATH", func(old string) string { return join(filepath.Dir(lib), old) })
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + ":" + b
}

// setEnv changes one variable of an environment.
func setEnv(env []string, key string, change func(old string) string) []string {
	old := ""
	rest := slices.DeleteFunc(slices.Clone(env), func(e string) bool {
		k, v, _ := strings.Cut(e, "=")
		if k == key {
			old = v
		}
		return k == key
	})
	return append(rest, key+"="+change(old))
}

// unreachable says why a preloaded library will not be in a program, or "".
func unreachable(program string) string {
	if info, err := os.Stat(program); err == nil && info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
		return "changes its user or group at start: the system keeps preloaded libraries out of it, so its D3DKMT calls are not answered"
	}
	f, err := elf.Open(program)
	if err != nil {
		return "" // a script; its interpreter is asked by the system
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			return ""
		}
	}
	if usesPackage(program) {
		return ""
	}
	return "is statically linked: no library can be preloaded, so its use of /dev/dxg is not answered; programs that it starts are reached"
}

// usesPackage reports whether a Go program contains package dxgsync, which needs no
// library.
func usesPackage(program string) bool {
	const module = "github.com/dxgsync/dxgsync"
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return false
	}
	if info.Main.Path == module {
		return true
	}
	for _, d := range info.Deps {
		if d.Path == module {
			return true
		}
	}
	return false
}
