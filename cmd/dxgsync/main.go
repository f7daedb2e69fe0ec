// Command dxgsync runs programs that use Windows GPU synchronization objects on a
// plain Linux machine, serves such objects to many processes, and shows what they
// are doing.
//
//	dxgsync run -- PROGRAM     run a program with a kernel of its own
//	dxgsync serve              be the kernel of every program of this user
//	dxgsync ls                 list adapters, processes, objects and waits
//	dxgsync fault              break something on purpose
//	dxgsync decode             explain numbers and records found in a debugger
//
// Its own failures end with exit status 125, so that they are not mistaken for the
// status of a program that run started.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// exitFailure is the exit status of dxgsync's own failures.
const exitFailure = 125

// An exitStatus is an error that only carries the exit status of the command; what
// there was to say has been said.
type exitStatus int

// Error returns the status as text.
func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// subcommands are registered by the files that define them.
var subcommands []func() *cobra.Command

func register(make func() *cobra.Command) { subcommands = append(subcommands, make) }

func main() { os.Exit(execute()) }

// execute runs the command line of this process and returns its exit status.
func execute() int {
	root := &cobra.Command{
		Use:   "dxgsync",
		Short: "GPU synchronization objects of Windows (WDDM) in user space on Linux",
		Long: `dxgsync keeps the synchronization objects of the Windows Display Driver Model
(monitored fences and their kin) in user space on Linux. Programs written for the
D3DKMT calls run unmodified under "dxgsync run"; many programs share objects
through "dxgsync serve".`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	for _, make := range subcommands {
		root.AddCommand(make())
	}
	err := root.Execute()
	var status exitStatus
	switch {
	case err == nil:
		return 0
	case errors.As(err, &status):
		return int(status)
	default:
		fmt.Fprintln(os.Stderr, "dxgsync:", err)
		return exitFailure
	}
}
