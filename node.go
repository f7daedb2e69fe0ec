package dxgsync

import (
	"encoding/binary"

	"github.com/dxgsync/dxgsync/abi"
	"github.com/dxgsync/dxgsync/internal/adapter"
)

// A Node is a part of the GPU that executes command buffers by itself.
type Node struct {
	Ordinal uint32         // for [ContextOptions] and [HwQueueOptions]
	Engine  abi.EngineType // what it is for
	Name    string         // such as "Copy"
	// UserQueues: programs can submit to it by themselves, see [Device.NewUserQueue].
	UserQueues bool
}

// D3DKMT_NODEMETADATA_WCHAR16: the question, and the answer behind it.
const (
	kmtqaitypeNodeMetadata = 25
	sizeNodeMetadata       = 78
	nodeEngineType         = 4
	nodeName               = 8
	sizeNodeName           = 64
	nodeFlags              = 72
)

// Nodes lists the nodes of the device's adapter, in the order of their ordinals.
//
// Errors: [abi.StatusInvalidParameter] when the adapter is gone; [abi.StatusNoMemory] at
// a limit; [abi.StatusDeviceRemoved] after the loss of the daemon; [ErrClosed].
//
// D3DKMTQueryAdapterInfo with KMTQAITYPE_NODEMETADATA.
func (d *Device) Nodes() ([]Node, error) {
	var nodes []Node
	err := d.withAdapter(func(a *Adapter) error {
		for {
			var data [sizeNodeMetadata]byte
			binary.LittleEndian.PutUint32(data[:], uint32(len(nodes)))
			rec := abi.QueryAdapterInfo{HAdapter: a.handle, Type: kmtqaitypeNodeMetadata}
			switch st := d.s.QueryAdapterInfo(&rec, data[:]); st {
			case abi.StatusSuccess:
			case abi.StatusDeviceRemoved, abi.StatusNoMemory:
				return d.s.failure(st)
			default:
				return nil // there are no more
			}
			nodes = append(nodes, Node{
				Ordinal: uint32(len(nodes)),
				Engine:  abi.EngineType(binary.LittleEndian.Uint32(data[nodeEngineType:])),
				Name:    fromUTF16(data[nodeName : nodeName+sizeNodeName]),

				UserQueues: adapter.NodeFlags(data[nodeFlags])&adapter.UserModeSubmissionSupported != 0,
			})
		}
	})
	return nodes, err
}

// withAdapter calls f with an opening of the device's adapter: the one that the device
// was made on may have been closed since.
func (d *Device) withAdapter(f func(*Adapter) error) error {
	if d.closed.Load() {
		return ErrClosed
	}
	a, err := d.s.OpenAdapter(d.luid)
	if err != nil {
		return err
	}
	defer func() { _ = a.Close() }()
	return f(a)
}

// kmtqaitypeWDDM20 asks for D3DKMT_WDDM_2_0_CAPS, whose bit 0 is Support64BitAtomics.
const kmtqaitypeWDDM20 = 24

// narrow reports whether the adapter's GPUs write 32 bits of a fence at once.
func (d *Device) narrow() bool {
	d.atomics.Do(func() {
		_ = d.withAdapter(func(a *Adapter) error { // one that is gone writes nothing
			var caps [4]byte
			rec := abi.QueryAdapterInfo{HAdapter: a.handle, Type: kmtqaitypeWDDM20}
			if st := d.s.QueryAdapterInfo(&rec, caps[:]); st == abi.StatusSuccess {
				d.words = caps[0]&1 == 0
			}
			return nil
		})
	})
	return d.words
}
