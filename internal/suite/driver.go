package suite

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A drivenProcess is a driver program and the lines that go to and fro.
type drivenProcess struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	pipe    *os.File // the end that out reads
	channel *os.File // descriptors come and go here
	frames  map[string]*Frame
	ended   bool
}

// startDriver starts a driver for the daemon at address. The one second look of
// sleepers is off: a lost wake must show.
func startDriver(path, address string) (*drivenProcess, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make the driver's channel: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "channel"), os.NewFile(uintptr(pair[1]), "channel")
	defer func() { _ = theirs.Close() }()
	reader, writer, err := os.Pipe()
	if err != nil {
		_ = ours.Close()
		return nil, fmt.Errorf("make the driver's output: %w", err)
	}
	defer func() { _ = writer.Close() }()
	p := &drivenProcess{cmd: exec.Command(path), out: bufio.NewReader(reader), pipe: reader, channel: ours, frames: map[string]*Frame{}}
	p.cmd.Env = append(os.Environ(), "DXGSYNC_SOCKET="+address, "DXGSYNC_BACKSTOP=off")
	p.cmd.ExtraFiles = []*os.File{theirs}
	p.cmd.Stdout, p.cmd.Stderr = writer, os.Stderr
	if p.in, err = p.cmd.StdinPipe(); err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		_ = ours.Close()
		_ = reader.Close()
		return nil, fmt.Errorf("start driver: %w", err)
	}
	return p, nil
}

// answerTime bounds how long a driver may take for one line: a call that should not
// block but does is found so.
const answerTime = 2 * defaultPatience

// ask sends a line and returns the answer. An answer "error …" is an error.
func (p *drivenProcess) ask(format string, args ...any) (string, error) {
	line := fmt.Sprintf(format, args...)
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		return "", fmt.Errorf("tell the driver %q: %w", brief(line), err)
	}
	_ = p.pipe.SetReadDeadline(time.Now().Add(answerTime))
	answer, err := p.out.ReadString('\n')
	if err != nil {
		_ = p.Kill()
		return "", fmt.Errorf("the driver did not answer %q: %w (it %s)", brief(line), err, p.cmd.ProcessState)
	}
	answer = strings.TrimSuffix(answer, "\n")
	if wrong, ok := strings.CutPrefix(answer, "error "); ok {
		return "", fmt.Errorf("the driver about %q: %s", brief(line), wrong)
	}
	return answer, nil
}

// brief keeps the beginning of a long line for messages.
func brief(line string) string {
	const most = 200
	if len(line) > most {
		return line[:most] + "…"
	}
	return line
}

// number asks for a number.
func (p *drivenProcess) number(format string, args ...any) (uint64, error) {
	answer, err := p.ask(format, args...)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(answer, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("the driver answered %q where a number was due", answer)
	}
	return n, nil
}

// arguments writes a frame as "CALL FIELD=VALUE …".
func arguments(f *Frame) string {
	var b strings.Builder
	b.WriteString(f.Call.Name)
	if f.Null {
		return b.String() + " NULL"
	}
	if filler, filled := f.filler(); filled {
		fmt.Fprintf(&b, " fill=%#x", filler)
	}
	for _, field := range f.Call.Fields {
		if field.Pointer == nil {
			fmt.Fprintf(&b, " %s=%#x", field.Name, number(f.Record, field))
		}
	}
	for i := range f.Data {
		switch d := &f.Data[i]; d.State {
		case BadPointer:
			fmt.Fprintf(&b, " %s=bad", d.Path)
		case Present:
			fmt.Fprintf(&b, " %s=@%s", d.Path, hex.EncodeToString(d.Bytes))
		}
	}
	return b.String()
}

// filler is the byte that lies between the fields of a record, if not 0.
func (f *Frame) filler() (byte, bool) {
	covered := make([]bool, f.Call.Size)
	for _, field := range f.Call.Fields {
		for i := range field.Size {
			covered[field.Offset+i] = true
		}
	}
	for i, c := range covered {
		if !c && f.Record[i] != 0 {
			return f.Record[i], true
		}
	}
	return 0, false
}

// answered reads "0xSTATUS CHANGE…" into a frame.
func answered(f *Frame, answer string) (uint32, error) {
	words := strings.Fields(answer)
	if len(words) == 0 {
		return 0, errors.New("the driver answered an empty line")
	}
	st, err := strconv.ParseUint(words[0], 0, 32)
	if err != nil {
		return 0, fmt.Errorf("the driver answered status %q", words[0])
	}
	for _, w := range words[1:] {
		if err := f.take(w); err != nil {
			return 0, err
		}
	}
	return uint32(st), nil
}

// take reads one change: FIELD=NUMBER, @OFFSET=BYTE, MEMORY=@HEX or
// MEMORY@OFFSET=MEMORY+NUMBER.
func (f *Frame) take(change string) error {
	name, value, _ := strings.Cut(change, "=")
	if data, ok := strings.CutPrefix(value, "@"); ok {
		b, err := hex.DecodeString(data)
		d := f.path(name)
		if err != nil || d == nil || d.State != Present || len(b) != len(d.Bytes) {
			return fmt.Errorf("the driver answered other data for %s than it was given", name)
		}
		copy(d.Bytes, b)
		return nil
	}
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		return f.repoint(change, f.path(name[:i]), name[i+1:], value)
	}
	n, err := strconv.ParseUint(value, 0, 64)
	at, e := strconv.ParseUint(strings.TrimPrefix(name, "@"), 10, 16)
	switch field := f.Call.Field(name); {
	case err == nil && field != nil:
		putNumber(f.Record, field, n)
	case err == nil && e == nil && int(at) < len(f.Record):
		f.Record[at] = byte(n)
	default:
		return fmt.Errorf("the driver answered %q", change)
	}
	return nil
}

// repoint makes the word at an offset in memory point where the driver says.
func (f *Frame) repoint(change string, d *Data, offset, value string) error {
	name, further, _ := strings.Cut(value, "+")
	at, err := strconv.ParseUint(offset, 10, 32)
	n, e := strconv.ParseUint(further, 0, 32)
	address, target := uint64(badAddress), f.path(name)
	if target != nil {
		address = target.Address
	}
	if err != nil || e != nil || d == nil || target == nil && name != "bad" || int(at)+8 > len(d.Bytes) {
		return fmt.Errorf("the driver answered %q", change)
	}
	le.PutUint64(d.Bytes[at:], address+n)
	return nil
}

// Call implements Process.
func (p *drivenProcess) Call(f *Frame) (uint32, error) {
	answer, err := p.ask("call %s", arguments(f))
	if err != nil {
		return 0, err
	}
	return answered(f, answer)
}

// Start implements Process.
func (p *drivenProcess) Start(thread string, f *Frame) error {
	p.frames[thread] = f
	_, err := p.ask("start %s %s", thread, arguments(f))
	return err
}

// State implements Process.
func (p *drivenProcess) State(thread string) (State, uint32, error) {
	answer, err := p.ask("state %s", thread)
	if err != nil {
		return Running, 0, err
	}
	switch rest, done := strings.CutPrefix(answer, "done "); {
	case done:
		st, err := answered(p.frames[thread], rest)
		return Done, st, err
	case answer == "asleep":
		return Asleep, 0, nil
	case answer == "running":
		return Running, 0, nil
	}
	return Running, 0, fmt.Errorf("the driver answered state %q", answer)
}

// File implements Process.
func (p *drivenProcess) File(kind string) (uint64, error) { return p.number("file %s", kind) }

// Dup implements Process.
func (p *drivenProcess) Dup(fd uint64) (uint64, error) { return p.number("dup %d", fd) }

// CloseFile implements Process.
func (p *drivenProcess) CloseFile(fd uint64) error {
	_, err := p.ask("close %d", fd)
	return err
}

// Send implements Process.
func (p *drivenProcess) Send(fd uint64) (*os.File, error) {
	if _, err := p.ask("send %d", fd); err != nil {
		return nil, err
	}
	var data [1]byte
	control := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(int(p.channel.Fd()), data[:], control, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("receive from the driver: %w", err)
	}
	messages, err := unix.ParseSocketControlMessage(control[:n])
	if err != nil || len(messages) != 1 {
		return nil, errors.New("the driver sent no descriptor")
	}
	files, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(files) != 1 {
		return nil, errors.New("the driver sent no descriptor")
	}
	return os.NewFile(uintptr(files[0]), "sent"), nil
}

// Receive implements Process.
func (p *drivenProcess) Receive(f *os.File) (uint64, error) {
	defer func() { _ = f.Close() }()
	if err := unix.Sendmsg(int(p.channel.Fd()), []byte{0}, unix.UnixRights(int(f.Fd())), nil, 0); err != nil {
		return 0, fmt.Errorf("send to the driver: %w", err)
	}
	return p.number("receive")
}

// Ready implements Process.
func (p *drivenProcess) Ready(fd uint64) (bool, error) {
	n, err := p.number("ready %d", fd)
	return n != 0, err
}

// Take implements Process.
func (p *drivenProcess) Take(fd uint64) (uint64, error) { return p.number("take %d", fd) }

// Peek implements Process.
func (p *drivenProcess) Peek(address uint64) (uint64, bool, error) {
	answer, err := p.ask("peek %d", address)
	if err != nil || answer == "faults" {
		return 0, false, err
	}
	n, err := strconv.ParseUint(answer, 0, 64)
	return n, true, err
}

// Poke implements Process.
func (p *drivenProcess) Poke(address uint64) (bool, error) {
	answer, err := p.ask("poke %d", address)
	return answer == "written", err
}

// Write implements Process.
func (p *drivenProcess) Write(address uint64, data []byte) (bool, error) {
	answer, err := p.ask("write %#x @%x", address, data)
	return answer == "written", err
}

// Exit implements Process: the driver ends as a program does. Threads that are
// blocked do not keep it.
func (p *drivenProcess) Exit() error {
	_, err := io.WriteString(p.in, "exit\n")
	watchdog := time.AfterFunc(answerTime, func() { _ = p.cmd.Process.Kill() })
	waited := p.wait()
	watchdog.Stop()
	if err != nil || waited != nil {
		return fmt.Errorf("the driver did not end well: %w", errors.Join(err, waited))
	}
	return nil
}

// Kill implements Process.
func (p *drivenProcess) Kill() error {
	if p.ended {
		return nil
	}
	if err := p.cmd.Process.Kill(); err != nil {
		return fmt.Errorf("kill driver: %w", err)
	}
	_ = p.wait() // says that it was killed
	return nil
}

func (p *drivenProcess) wait() error {
	err := p.cmd.Wait()
	p.ended = true
	_ = p.pipe.Close()
	_ = p.channel.Close()
	return err
}
