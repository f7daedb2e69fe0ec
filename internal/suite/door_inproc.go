package suite

import (
	"errors"
	"os"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/kernel"
	"github.com/dxgsync/dxgsync/internal/page"
)

// InProcess is the door without a door: scenarios call the kernel itself.
type InProcess struct{}

// Name implements Door.
func (InProcess) Name() string { return "inproc" }

// Open implements Door.
func (InProcess) Open(spec WorldSpec) (World, error) {
	m, err := newMachine(spec)
	if err != nil {
		return nil, err
	}
	return &inprocWorld{machine: m, nextBell: 1}, nil
}

type inprocWorld struct {
	*machine
	all      []*inprocProcess
	nextBell uint32
}

type inprocProcess struct {
	*requester
	kernel *kernel.Process
}

// Process implements World.
func (w *inprocWorld) Process(name string) (Process, error) {
	return w.ProcessOf(name, User{uint32(os.Geteuid()), uint32(os.Getegid())})
}

// ProcessOf starts a process that the kernel takes for somebody else's.
func (w *inprocWorld) ProcessOf(name string, user User) (Process, error) {
	kp, st := w.kernel.Attach(kernel.ProcessInfo{
		PID: os.Getpid(), UID: user.UID, GID: user.GID, Groups: []uint32{user.GID}, Name: name, InProcess: true,
	})
	if !st.OK() {
		return nil, st
	}
	bells, st := w.host.Bells(user.UID)
	if !st.OK() {
		return nil, st
	}
	p := &inprocProcess{requester: newRequester(), kernel: kp}
	p.bells = bells
	kp.Bells(bells, w.nextBell, bellsPerProcess)
	for i := range uint32(bellsPerProcess) {
		p.lines = append(p.lines, w.nextBell+i)
	}
	w.nextBell += bellsPerProcess
	p.send = func(r *abi.Request) (abi.Status, error) { return kp.Do(r), nil }
	p.requester.view = func(_ *abi.Request, h abi.Handle) (page.View, bool, error) {
		v, ok := kp.FenceView(h)
		return v, ok, nil
	}
	p.requester.words = func(_ *abi.Request, h abi.Handle) (bellWords, error) {
		words, ok := kp.Doorbell(h)
		if !ok {
			return bellWords{}, errors.New("the kernel knows nothing of the doorbell that it made")
		}
		return bellWords{words.Bell, words.Secondary, words.LastQueued, words.Status}, nil
	}
	w.all = append(w.all, p)
	return p, nil
}

// Close implements World.
func (w *inprocWorld) Close() error {
	for _, p := range w.all {
		_ = p.Exit()
	}
	return w.close()
}

// Exit implements Process.
func (p *inprocProcess) Exit() error {
	p.unmap()
	p.closeAll()
	p.kernel.Exit()
	return nil
}

// Kill implements Process.
func (p *inprocProcess) Kill() error { return p.Exit() }
