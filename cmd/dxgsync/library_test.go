package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestLibraryUnder(t *testing.T) {
	prefix := t.TempDir()
	if got := libraryUnder(prefix); got != "" {
		t.Errorf("in an empty directory: %q", got)
	}
	for _, dir := range []string{"lib/x86_64-linux-gnu", "lib"} { // the later one is preferred
		if err := os.MkdirAll(filepath.Join(prefix, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		lib := filepath.Join(prefix, dir, libName)
		if err := os.WriteFile(lib, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := libraryUnder(prefix); got != lib {
			t.Errorf("got %q, want %q", got, lib)
		}
	}
}

func TestProgramEnv(t *testing.T) {
	tests := []struct {
		env  []string
		lib  string
		want []string
	}{
		{
			[]string{"A=1"},
			"/x/lib/libdxg.so",
			[]string{"A=1", "DXGSYNC_SOCKET=/s", "LD_PRELOAD=/x/lib/libdxg.so", "LD_LIBRARY_PATH=/x/lib"},
		},
		{
			[]string{"LD_PRELOAD=libasan.so", "DXGSYNC_SOCKET=/old", "LD_LIBRARY_PATH=/y", "A=b=c"},
			"/x/lib/libdxg.so",
			[]string{"A=b=c", "DXGSYNC_SOCKET=/s", "LD_PRELOAD=libasan.so:/x/lib/libdxg.so", "LD_LIBRARY_PATH=/x/lib:/y"},
		},
		{ // a path that LD_PRELOAD cannot hold is found by its name
			nil, "/my files/libdxg.so",
			[]string{"DXGSYNC_SOCKET=/s", "LD_PRELOAD=libdxg.so", "LD_LIBRARY_PATH=/my files"},
		},
	}
	for _, tt := range tests {
		if got := programEnv(tt.env, "/s", tt.lib); !slices.Equal(got, tt.want) {
			t.Errorf("got  %q\nwant %q", got, tt.want)
		}
	}
}
