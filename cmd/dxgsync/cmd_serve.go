package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"strconv"

	"github.com/coreos/go-systemd/v22/activation"
	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/dxgsync/dxgsync/internal/server"
	"github.com/dxgsync/dxgsync/internal/wire"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

func init() { register(serveCommand) }

type serveFlags struct {
	adapters []string
	socket   string
	mode     string
	global   bool
	names    bool
	limits   limits
	gpu      gpuFlags
	logJSON  bool
	verbose  bool
}

func serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve [--adapter PROFILE]... [--tdr NAME=VALUE]...",
		Short: "Be the kernel of many programs",
		Long: `Serves one kernel on a Unix socket until TERM or INT. Then every session ends, and
programs that are still there see their devices removed.

The address is --socket, else DXGSYNC_SOCKET, else $XDG_RUNTIME_DIR/dxgsync/socket,
else /run/dxgsync/socket; "@name" is a name in the abstract namespace. A socket file
that nobody listens on is replaced. Started by systemd with a socket
(contrib/systemd), it serves that one instead; --socket is then refused.

Whoever may write to the socket file may connect: --mode 0600 is this user only,
0666 everybody. Processes of one user are one trust domain; of other users they get
at most what the descriptors they hold allow, and by name what its security
descriptor allows. Global handles are numbers that anybody may try:
--global-handles=false makes none, and creating an object that would have one answers
STATUS_NOT_SUPPORTED.

Limits (--limit NAME=NUMBER, repeatable) bound what peers can make; reaching one is
answered with STATUS_NO_MEMORY:
` + limitHelp() + "\n" + tdrHelp(),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return serve(cmd, f) },
	}
	addAdapterFlag(cmd, &f.adapters)
	f.gpu.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.socket, "socket", "", "address to listen at: a path, or @name")
	flags.StringVar(&f.mode, "mode", "0600", "access of the socket file, octal")
	flags.BoolVar(&f.global, "global-handles", true, "make global handles, which anybody who may connect can guess")
	flags.BoolVar(&f.names, "global-names", true, "let everybody share names in \\BaseNamedObjects, not only root")
	flags.Var(&f.limits, "limit", "bound what peers can make, repeatable")
	flags.BoolVar(&f.logJSON, "log-json", false, "log JSON lines")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "log every session")
	return cmd
}

func serve(cmd *cobra.Command, f serveFlags) error {
	log := newLog(cmd, f)
	cfg := kernelConfig{limits: f.limits, global: f.global, names: f.names, log: log}
	if err := f.gpu.into(cmd, &cfg); err != nil {
		return err
	}
	var err error
	if cfg.profiles, err = profiles(f.adapters); err != nil {
		return err
	}
	listeners, address, err := listen(f)
	if err != nil {
		return err
	}
	defer func() {
		for _, l := range listeners {
			l.Close()
		}
	}()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, unix.SIGTERM, unix.SIGINT)
	defer signal.Stop(signals)

	k, err := startKernel(cfg, listeners...)
	if err != nil {
		return err
	}
	log.Info("serving", "address", address, "adapters", len(cfg.profiles), "pid", os.Getpid())
	_, _ = daemon.SdNotify(false, daemon.SdNotifyReady)

	failed := make(chan error, 1)
	go func() { failed <- k.wait() }()
	select {
	case s := <-signals:
		log.Info("stopping", "signal", s.String(), "sessions", k.Sessions())
		signal.Stop(signals) // a second one ends us at once
	case err = <-failed:
	}
	_, _ = daemon.SdNotify(false, daemon.SdNotifyStopping)
	k.stop()
	return err
}

// listen returns the sockets that systemd passed, or makes one.
func listen(f serveFlags) (listeners []*server.Listener, address string, err error) {
	if passed := activation.Files(true); len(passed) > 0 {
		if f.socket != "" {
			return nil, "", errors.New("systemd has passed a socket, so --socket cannot be used; set the address in the socket unit")
		}
		for _, file := range passed {
			// The listener owns a copy: the file's finalizer would close the original.
			fd, err := unix.FcntlInt(file.Fd(), unix.F_DUPFD_CLOEXEC, 3)
			_ = file.Close()
			if err != nil {
				return nil, "", fmt.Errorf("socket from systemd: %w", err)
			}
			l, err := server.Passed(fd)
			if err != nil {
				return nil, "", fmt.Errorf("socket from systemd: %w; use ListenSequentialPacket= in the socket unit", err)
			}
			listeners = append(listeners, l)
		}
		return listeners, "from systemd", nil
	}
	mode, err := strconv.ParseUint(f.mode, 8, 32)
	if err != nil || mode > 0o777 {
		return nil, "", fmt.Errorf("--mode %s: want an octal number such as 0600", f.mode)
	}
	address = f.socket
	if address == "" {
		address = wire.Address()
	}
	l, err := server.Listen(address, fs.FileMode(mode))
	switch {
	case errors.Is(err, unix.EADDRINUSE):
		return nil, "", fmt.Errorf("a server is already listening at %s: stop it, or choose another address with --socket", address)
	case errors.Is(err, fs.ErrPermission):
		return nil, "", fmt.Errorf("%w: choose an address in a directory of yours with --socket, or set XDG_RUNTIME_DIR", err)
	case err != nil:
		return nil, "", err
	}
	return []*server.Listener{l}, address, nil
}

func newLog(cmd *cobra.Command, f serveFlags) *slog.Logger {
	options := &slog.HandlerOptions{Level: slog.LevelInfo}
	if f.verbose {
		options.Level = slog.LevelDebug
	}
	if f.logJSON {
		return slog.New(slog.NewJSONHandler(cmd.ErrOrStderr(), options))
	}
	return slog.New(slog.NewTextHandler(cmd.ErrOrStderr(), options))
}
