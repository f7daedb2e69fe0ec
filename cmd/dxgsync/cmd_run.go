package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/dxgsync/dxgsync/internal/adapter"
	"github.com/spf13/cobra"
)

func init() { register(runCommand) }

// Exit statuses of run for a program that could not be started, as shells have them.
const (
	exitCannotRun = 126
	exitNotFound  = 127
)

func runCommand() *cobra.Command {
	var adapters []string
	var gpu gpuFlags
	cmd := &cobra.Command{
		Use:   "run [--adapter PROFILE]... [--tdr NAME=VALUE]... [--] PROGRAM [ARG]...",
		Short: "Run a program with a kernel of its own",
		Long: `Runs PROGRAM with an embedded kernel. The program and its children reach the kernel
through the C library (libdxg.so, libdxcore.so), through /dev/dxg, which the
preloaded library answers, or through Go package dxgsync. When PROGRAM ends, the
kernel ends too: children that are still there see their device removed.

The exit status is the program's, 128 plus the number for a signal, 127 if the
program was not found, 126 if it could not be started, 125 for errors of dxgsync.
INT, TERM, HUP, QUIT, USR1, USR2 and WINCH are passed on, except those which the
terminal itself sends to the program too. When the program stops, run stops.

Environment of the program: DXGSYNC_SOCKET, LD_PRELOAD and LD_LIBRARY_PATH. The
library is looked for beside the command (../lib); DXGSYNC_LIB names another.
Statically linked programs load no library and are told so.

` + tdrHelp(),
		Example: `  dxgsync run -- ./my-driver-test
  dxgsync run --adapter amd --adapter intel -- python3 train.py
  dxgsync run --tdr TdrDelay=200ms -- ./my-recovery-test`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("no program named: dxgsync run [--adapter NAME] -- PROGRAM [ARGUMENT...]")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg := kernelConfig{global: true, names: true}
			if err := gpu.into(cmd, &cfg); err != nil {
				return err
			}
			return run(cfg, adapters, args)
		},
	}
	cmd.Flags().SetInterspersed(false)
	addAdapterFlag(cmd, &adapters)
	gpu.add(cmd)
	return cmd
}

// addAdapterFlag adds --adapter, which may be repeated.
func addAdapterFlag(cmd *cobra.Command, list *[]string) {
	cmd.Flags().StringArrayVar(list, "adapter", nil, "adapter profile, a preset or a file; may be repeated (default neutral, see dxgsync adapter)")
}

// profiles loads the profiles of the --adapter flags, or the default.
func profiles(names []string) ([]*adapter.Profile, error) {
	if len(names) == 0 {
		names = adapter.Presets()[:1]
	}
	return adapter.LoadAll(names)
}

func run(cfg kernelConfig, adapters, argv []string) error {
	var err error
	if cfg.profiles, err = profiles(adapters); err != nil {
		return err
	}
	program, err := exec.LookPath(argv[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return cannotStart(argv[0], err)
	}
	lib, err := findLibrary()
	if err != nil {
		return err
	}
	if note := unreachable(program); note != "" {
		fmt.Fprintf(os.Stderr, "dxgsync: %s %s\n", program, note)
	}
	room, err := newRunRoom()
	if err != nil {
		return err
	}
	defer room.close()
	k, err := startKernel(cfg, room.listener)
	if err != nil {
		return err
	}
	defer k.stop()
	status, err := supervise(program, argv, programEnv(os.Environ(), room.address, lib))
	if err != nil {
		return cannotStart(argv[0], err)
	}
	if status != 0 {
		return exitStatus(status)
	}
	return nil
}

// cannotStart says why the program did not start and chooses the exit status.
func cannotStart(program string, err error) error {
	var inner *exec.Error
	if errors.As(err, &inner) {
		err = inner.Err
	}
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	fmt.Fprintf(os.Stderr, "dxgsync: cannot run %s: %v\n", program, err)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return exitStatus(exitNotFound)
	}
	return exitStatus(exitCannotRun)
}
