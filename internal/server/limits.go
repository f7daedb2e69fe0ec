package server

import "fmt"

// Limits bound what peers can make the server hold. Reaching one is answered with
// STATUS_NO_MEMORY and hurts nobody else. A zero field means its default. What the
// kernel keeps (processes in all, handles, NT handles, waits) has its limits in
// kernel.Limits; frame size, array lengths and descriptors per frame are fixed by
// the protocol (package wire).
type Limits struct {
	// Sessions is how many sessions may exist at once, in all. A session costs the
	// server one descriptor and one thread. Default 4096, largest 8192.
	Sessions int
	// SessionsPerUser is how many of them one Unix user may have. Default 3072.
	SessionsPerUser int
	// SessionsPerProcess is how many of them one process id may have. Default 64.
	SessionsPerProcess int
	// ProcessesPerUser is how many kernel processes one Unix user may have attached.
	// Each process id costs a descriptor (its pidfd). Default 1024.
	ProcessesPerUser int
	// BellsPerProcess is how many bell lines a process may hold. Default 8192.
	BellsPerProcess int
	// BellsAtHello is how many of them it is given at once. Default 8.
	BellsAtHello int
	// Objects is the number of objects a process may make, as Hello tells it. The
	// kernel keeps to its own limit; whoever configures both makes them agree.
	// Default 65536.
	Objects int
}

// maxSessions keeps the threads below what the Go runtime allows (10000).
const maxSessions = 8192

// withDefaults fills in the zero fields; the error names a field out of range.
func (l Limits) withDefaults() (Limits, error) {
	fields := []struct {
		name           string
		field          *int
		value, largest int
	}{
		{"Sessions", &l.Sessions, 4096, maxSessions},
		{"SessionsPerUser", &l.SessionsPerUser, 3072, maxSessions},
		{"SessionsPerProcess", &l.SessionsPerProcess, 64, maxSessions},
		{"ProcessesPerUser", &l.ProcessesPerUser, 1024, maxSessions},
		{"BellsPerProcess", &l.BellsPerProcess, 8192, tableLines - 1},
		{"BellsAtHello", &l.BellsAtHello, 8, tableLines - 1},
		{"Objects", &l.Objects, 65536, 1<<24 - 1},
	}
	for _, f := range fields {
		if *f.field == 0 {
			*f.field = f.value
		}
		if *f.field < 0 || *f.field > f.largest {
			return l, fmt.Errorf("limit %s: %d is not in 1 to %d", f.name, *f.field, f.largest)
		}
	}
	if l.BellsAtHello > l.BellsPerProcess {
		return l, fmt.Errorf("limit BellsAtHello: %d is more than BellsPerProcess (%d)", l.BellsAtHello, l.BellsPerProcess)
	}
	return l, nil
}
