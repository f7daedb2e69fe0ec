package host

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// An Alarm is the one timer of whoever drives a kernel. It is a timerfd and not a
// timer of the Go runtime, because those are rounded to milliseconds when the
// process is idle, which is a good part of an interval of a fast display. A blocked
// Wait costs a goroutine, no thread.
//
// Set, Clear and Close may be called by any goroutine, also while Wait blocks.
type Alarm struct {
	file *os.File
	conn syscall.RawConn
}

// NewAlarm makes an alarm that is not set. The error is that of timerfd_create.
func NewAlarm() (*Alarm, error) { return newAlarm(unix.CLOCK_MONOTONIC) }

// newWallAlarm makes an alarm on the system's time, for setAt.
func newWallAlarm() (*Alarm, error) { return newAlarm(unix.CLOCK_REALTIME) }

func newAlarm(clock int) (*Alarm, error) {
	fd, err := unix.TimerfdCreate(clock, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("create a timer: %w", err)
	}
	file := os.NewFile(uintptr(fd), "timerfd")
	conn, err := file.SyscallConn()
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("create a timer: %w", err)
	}
	return &Alarm{file, conn}, nil
}

// Set has the alarm go off once, after d; at once when d is not above 0. It replaces
// what was set before.
func (a *Alarm) Set(d time.Duration) { a.set(max(d, 1)) } // a time of 0 would clear it

// Clear takes back what was set, also when it went off and nobody has waited.
func (a *Alarm) Clear() { a.set(0) }

func (a *Alarm) set(d time.Duration) { a.setTime(int64(d), 0) }

// setAt has an alarm on the system's time go off once, at t nanoseconds since 1970, or
// when somebody sets that time, whatever comes first.
func (a *Alarm) setAt(t int64) {
	a.setTime(max(t, 1), unix.TFD_TIMER_ABSTIME|unix.TFD_TIMER_CANCEL_ON_SET)
}

func (a *Alarm) setTime(t int64, flags int) {
	// Fails only when the alarm is closed; Wait says so.
	_ = a.conn.Control(func(fd uintptr) {
		_ = unix.TimerfdSettime(int(fd), flags, &unix.ItimerSpec{Value: unix.NsecToTimespec(t)}, nil)
	})
}

// Wait blocks until the alarm goes off. The error wraps os.ErrClosed after Close.
func (a *Alarm) Wait() error {
	var times [8]byte
	_, err := a.file.Read(times[:])
	if errors.Is(err, unix.ECANCELED) {
		return nil // the time was set
	}
	return err
}

// Close ends the alarm and every Wait.
func (a *Alarm) Close() error { return a.file.Close() }
