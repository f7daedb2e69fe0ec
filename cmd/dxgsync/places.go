package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dxgsync/dxgsync/internal/server"
	"golang.org/x/sys/unix"
)

// A run has a room of its own: a directory DIR/dxgsync-run-PID, private to the user,
// with its socket in it. DIR is $XDG_RUNTIME_DIR; where that is not set or cannot be
// used, $TMPDIR, or /tmp without one. ls finds the rooms there. A run that was killed leaves its room;
// the next run or ls of the user removes it.

const (
	roomPrefix = "dxgsync-run-"
	socketName = "socket"
)

// roomDirs are the directories that may hold rooms, the preferred one first.
func roomDirs() []string {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return []string{dir, os.TempDir()}
	}
	return []string{os.TempDir()}
}

// A runRoom is the private place of one run.
type runRoom struct {
	dir      string
	address  string
	listener *server.Listener
}

// newRunRoom makes the room of this process.
func newRunRoom() (*runRoom, error) {
	var errs []error
	for _, dir := range roomDirs() {
		room, err := makeRoom(dir)
		if err == nil {
			return room, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("no place for a private socket: %w", errors.Join(errs...))
}

func makeRoom(dir string) (*runRoom, error) {
	for _, p := range roomsIn(dir) {
		if p.PID == os.Getpid() { // of a process that had this number before
			_ = os.RemoveAll(filepath.Dir(p.Address))
		}
	}
	room := &runRoom{dir: filepath.Join(dir, roomPrefix+strconv.Itoa(os.Getpid()))}
	room.address = filepath.Join(room.dir, socketName)
	if err := os.Mkdir(room.dir, 0o700); err != nil {
		return nil, err
	}
	var err error
	if room.listener, err = server.Listen(room.address, 0o600); err != nil {
		_ = os.Remove(room.dir)
		return nil, err
	}
	return room, nil
}

// close removes the room. Nobody may be serving its listener.
func (r *runRoom) close() {
	r.listener.Close()
	_ = os.RemoveAll(r.dir)
}

// roomsIn lists the rooms of this user in dir, and removes those of killed runs.
func roomsIn(dir string) []place {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var list []place
	for _, e := range entries {
		number, ok := strings.CutPrefix(e.Name(), roomPrefix)
		pid, err := strconv.Atoi(number)
		room := filepath.Join(dir, e.Name())
		switch {
		case !ok || err != nil || pid <= 0 || !private(room):
		case unix.Kill(pid, 0) == unix.ESRCH:
			_ = os.RemoveAll(room)
		default:
			list = append(list, place{filepath.Join(room, socketName), pid})
		}
	}
	return list
}

// private reports whether dir is a directory of this user that nobody else can put
// anything into.
func private(dir string) bool {
	var st unix.Stat_t
	err := unix.Lstat(dir, &st)
	return err == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR && int(st.Uid) == os.Getuid() && st.Mode&0o022 == 0
}

// A place is where a kernel may be found.
type place struct {
	Address string `json:"address"`
	PID     int    `json:"pid,omitempty"` // of the run that it belongs to
}

// String names the place for people.
func (p place) String() string {
	if p.PID != 0 {
		return fmt.Sprintf("run %d (%s)", p.PID, p.Address)
	}
	return p.Address
}

// runs lists the rooms of this user's runs that are alive.
func runs() []place {
	var list []place
	for _, dir := range roomDirs() {
		list = append(list, roomsIn(dir)...)
	}
	return list
}
