package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/wire"
	"golang.org/x/sys/unix"
)

// errNobody says that no kernel listens at an address.
var errNobody = errors.New("nobody listens there")

// errGone says that a kernel ended while it was asked, as runs do at any time.
var errGone = errors.New("the kernel has just ended")

// inspect asks the kernel at address for its listing. This process itself is left
// out of it.
func inspect(address string) (*kernel.Snapshot, error) {
	text, err := fetch(address, &abi.Request{Op: abi.OpSnapshot, Record: make([]byte, abi.OpSnapshot.Size)})
	if err != nil {
		return nil, err
	}
	s := &kernel.Snapshot{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("read the listing of %s: %w", address, err)
	}
	others := s.Processes[:0]
	for _, p := range s.Processes {
		if p.PID != os.Getpid() {
			others = append(others, p)
		}
	}
	s.Processes = others
	return s, nil
}

// fetchReport makes one call that answers a report in JSON. The record is that of the call.
func fetchReport[Report, Record any](address string, op *abi.Op, record Record) (report Report, err error) {
	r := &abi.Request{Op: op, Record: make([]byte, op.Size)}
	*abi.View[Record](r.Record) = record
	text, err := fetch(address, r)
	if err == nil {
		err = json.Unmarshal(text, &report)
	}
	return report, err
}

// fetch makes one call that answers a file, and reads that.
func fetch(address string, r *abi.Request) ([]byte, error) {
	link, err := wire.Connect(address)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ECONNREFUSED) {
		return nil, fmt.Errorf("%s: %w; start a daemon with dxgsync serve, or name another address with --socket", address, errNobody)
	}
	if err != nil {
		return nil, err
	}
	defer link.Close()
	c := &caller{link, make([]byte, wire.MaxFrame)}
	hello := abi.Hello{Version: 1}
	_, _ = rand.Read(hello.Nonce[:])
	record := make([]byte, abi.OpHello.Size)
	*abi.View[abi.Hello](record) = hello
	if err := c.call(&abi.Request{Op: abi.OpHello, Record: record}, nil); err != nil {
		return nil, fmt.Errorf("greet the kernel at %s: %w", address, err)
	}
	var text []byte
	err = c.call(r, func(fd int) (err error) {
		text, err = readFile(fd)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("ask the kernel at %s (%s): %w", address, r.Op.Name, err)
	}
	return text, nil
}

// A caller makes simple calls over a connection of its own.
type caller struct {
	link *wire.Link
	room []byte
}

// call sends a request, gives the first descriptor of the answer to use, and closes
// all of them.
func (c *caller) call(r *abi.Request, use func(fd int) error) error {
	n, files, st := wire.EncodeRequest(c.room, nil, r)
	if !st.OK() {
		return st
	}
	// One that refuses us before it is asked has answered before it hung up.
	if err := c.link.Send(c.room[:n], files); err != nil && !hungUp(err) {
		return err
	}
	n, files, err := c.link.Receive(c.room, nil)
	if err != nil && hungUp(err) { // a reset is told once, before what there is to read
		n, files, err = c.link.Receive(c.room, nil)
	}
	if err != nil && hungUp(err) {
		return errGone
	}
	if err != nil {
		return err
	}
	defer wire.CloseAll(files)
	st, err = wire.DecodeReply(c.room[:n], files, r)
	switch {
	case err != nil:
		return err
	case !st.OK():
		return st
	case use == nil:
		return nil
	case len(files) == 0:
		return wire.ErrMalformed
	}
	return use(files[0])
}

func hungUp(err error) bool {
	return errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) || err == io.EOF
}

// readFile reads a file from its beginning, whatever its offset.
func readFile(fd int) ([]byte, error) {
	const most = 1 << 30
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	if st.Size > most {
		return nil, fmt.Errorf("the listing has %d bytes, more than %d", st.Size, most)
	}
	text := make([]byte, st.Size)
	for at := 0; at < len(text); {
		n, err := unix.Pread(fd, text[at:], int64(at))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return nil, err
		case n == 0:
			return nil, io.ErrUnexpectedEOF
		}
		at += max(n, 0)
	}
	return text, nil
}
