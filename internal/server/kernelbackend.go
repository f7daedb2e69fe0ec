package server

import (
	"encoding/json"
	"fmt"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/host"
	"github.com/dxgsync/dxgsync/internal/kernel"
)

// newBackend puts a kernel and its host behind the door.
func newBackend(k *kernel.Kernel, h *host.Host) Backend { return kernelBackend{k, h} }

type kernelBackend struct {
	kernel *kernel.Kernel
	host   *host.Host
}

// kernelProcess is a kernel process that knows its user's bell table.
type kernelProcess struct {
	*kernel.Process
	host *host.Host
}

func (b kernelBackend) Attach(p Peer) (Process, abi.Status) {
	kp, st := b.kernel.Attach(kernel.ProcessInfo{PID: p.PID, UID: p.UID, GID: p.GID, Groups: p.Groups, Name: p.Name})
	if !st.OK() {
		return nil, st
	}
	return kernelProcess{kp, b.host}, st
}

func (b kernelBackend) BellFile(uid uint32) (int, abi.Status) {
	bells, st := b.host.Bells(uid)
	if !st.OK() {
		return -1, st
	}
	return bells.Memory().FD(), st
}

func (b kernelBackend) Snapshot(uid uint32, all bool) ([]byte, error) {
	s := b.kernel.Snapshot()
	if !all {
		s = s.Of(uid)
	}
	return json.Marshal(s)
}

func (b kernelBackend) Provoke(f abi.ProvokeFault) ([]byte, abi.Status) {
	return asText(b.kernel.Provoke(f))
}

func (b kernelBackend) FenceLog(q abi.FenceLog, uid uint32, all bool) ([]byte, abi.Status) {
	return asText(b.kernel.FenceLog(q, uid, all))
}

// asText is a report as JSON.
func asText[R any](report R, st abi.Status) ([]byte, abi.Status) {
	if !st.OK() {
		return nil, st
	}
	text, err := json.Marshal(report)
	if err != nil {
		panic(fmt.Sprintf("server: a report that is no JSON: %v", err)) // it has only numbers and text
	}
	return text, st
}

func (p kernelProcess) SlabFile(slab uint32) (int, abi.Status) {
	return p.host.SlabFile(p.Process, slab)
}

// Bells is called after BellFile, so the table exists.
func (p kernelProcess) Bells(first, count uint32) {
	if bells, st := p.host.Bells(p.Info.UID); st.OK() {
		p.Process.Bells(bells, first, count)
	}
}
