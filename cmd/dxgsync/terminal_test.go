package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// startOnTerminal runs "dxgsync run -- probe WHAT" as the foreground job of a new
// terminal.
func startOnTerminal(t *testing.T, what string) (cmd *exec.Cmd, keyboard *os.File, screen *bufio.Scanner) {
	t.Helper()
	keyboard, tty := openTerminal(t)
	cmd = exec.Command("dxgsync", "run", "--", "probe", what)
	cmd.Env = append(os.Environ(), libEnv+"="+stubLibrary, "XDG_RUNTIME_DIR="+t.TempDir())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	tty.Close()
	return cmd, keyboard, bufio.NewScanner(keyboard)
}

func openTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { master.Close() })
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return master, slave
}

// expect reads the screen up to a line that contains text.
func expect(t *testing.T, screen *bufio.Scanner, text string) {
	t.Helper()
	var seen []string
	for screen.Scan() {
		seen = append(seen, screen.Text())
		if strings.Contains(screen.Text(), text) {
			return
		}
	}
	t.Fatalf("the screen ended without %q:\n%s", text, strings.Join(seen, "\n"))
}

func TestInterruptOfTheTerminalComesOnce(t *testing.T) {
	cmd, keyboard, screen := startOnTerminal(t, "terminal")
	expect(t, screen, "ready")
	if _, err := keyboard.Write([]byte{3}); err != nil { // Ctrl-C
		t.Fatal(err)
	}
	expect(t, screen, "interrupts: 1")
	if err := cmd.Wait(); err != nil {
		t.Errorf("run ended with %v", err)
	}
}

func TestRunStopsWithItsProgram(t *testing.T) {
	cmd, _, screen := startOnTerminal(t, "stop")
	var ws unix.WaitStatus
	for {
		pid, err := unix.Wait4(cmd.Process.Pid, &ws, unix.WUNTRACED, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil || pid != cmd.Process.Pid {
			t.Fatalf("wait for the stop: %d, %v", pid, err)
		}
		break
	}
	if !ws.Stopped() {
		t.Fatalf("run did not stop with its program: %v", ws)
	}
	if err := unix.Kill(cmd.Process.Pid, unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	expect(t, screen, "continued")
	if err := cmd.Wait(); err != nil {
		t.Errorf("run ended with %v", err)
	}
}
