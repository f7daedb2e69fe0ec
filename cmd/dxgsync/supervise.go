package main

import (
	"os"
	"os/signal"

	"golang.org/x/sys/unix"
)

// forwarded are the signals that run passes on to its program.
var forwarded = []os.Signal{
	unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2,
	unix.SIGWINCH, unix.SIGCONT, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU,
}

// supervise starts the program in the process group of this one, passes signals on
// to it and waits for its end. It returns the exit status, 128 plus the number for a
// signal. While the program is stopped, this process is stopped too, so that a shell
// sees one job.
func supervise(program string, argv, env []string) (status int, err error) {
	var caught []os.Signal
	for _, s := range forwarded {
		if !signal.Ignored(s) { // what nohup has set stays so for the program
			caught = append(caught, s)
		}
	}
	signals := make(chan os.Signal, 64)
	signal.Notify(signals, caught...)
	defer signal.Stop(signals)

	child, err := os.StartProcess(program, argv, &os.ProcAttr{Env: env, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}})
	if err != nil {
		return 0, err
	}
	defer func() { _ = child.Release() }() // signals go by its pidfd: never to a stranger
	done := make(chan struct{})
	forwarder := make(chan struct{})
	go func() {
		defer close(forwarder)
		for {
			select {
			case s := <-signals:
				if !(fromTerminal(s) && inForeground()) {
					_ = child.Signal(s)
				}
			case <-done:
				return
			}
		}
	}()
	ws := wait(child.Pid)
	close(done)
	<-forwarder
	if ws.Signaled() {
		return 128 + int(ws.Signal()), nil
	}
	return ws.ExitStatus(), nil
}

// wait waits for the end of a child. When a job-control shell is above us, it stops
// with the child in between.
func wait(pid int) unix.WaitStatus {
	for {
		var ws unix.WaitStatus
		got, err := unix.Wait4(pid, &ws, unix.WUNTRACED, nil)
		switch {
		case err == unix.EINTR || err == nil && got != pid:
		case err != nil:
			return ws // no such child: nothing more can be learnt
		case ws.Stopped():
			if tty, ok := terminal(); ok {
				_ = unix.Close(tty)
				_ = unix.Kill(os.Getpid(), unix.SIGSTOP)
				_ = unix.Kill(pid, unix.SIGCONT)
			}
		default:
			return ws
		}
	}
}

// fromTerminal reports whether a terminal sends this signal to its whole foreground
// process group, so that the program has got it as well.
func fromTerminal(s os.Signal) bool {
	switch s {
	case unix.SIGINT, unix.SIGQUIT, unix.SIGWINCH, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGCONT:
		return true
	}
	return false
}

// inForeground reports whether this process's group is the foreground one of its
// terminal.
func inForeground() bool {
	tty, ok := terminal()
	if !ok {
		return false
	}
	defer func() { _ = unix.Close(tty) }()
	group, err := unix.IoctlGetInt(tty, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// terminal opens the terminal that controls this process, if there is one.
func terminal() (fd int, ok bool) {
	fd, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	return fd, err == nil
}
