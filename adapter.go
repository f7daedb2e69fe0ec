package dxgsync

import (
	"encoding/binary"
	"sync/atomic"
	"unicode/utf16"

	"github.com/dxgsync/dxgsync/abi"
)

// An Adapter is an opened adapter of the session's kernel.
type Adapter struct {
	s       *Session
	handle  abi.Handle
	luid    abi.LUID
	sources uint32
	closed  atomic.Bool
}

// Adapters opens all adapters and returns them in the kernel's order. The caller
// closes each; devices made on one outlive it.
//
// Errors: [abi.StatusNoMemory] at a limit; [abi.StatusDeviceRemoved] after the
// loss of the daemon; [ErrClosed].
//
// D3DKMTEnumAdapters2.
func (s *Session) Adapters() ([]*Adapter, error) {
	var rec abi.EnumAdapters2
	if st := s.EnumAdapters2(&rec, nil); st != abi.StatusSuccess {
		return nil, s.failure(st)
	}
	infos := make([]abi.AdapterInfo, rec.NumAdapters)
	if st := s.EnumAdapters2(&rec, infos); st != abi.StatusSuccess {
		return nil, s.failure(st)
	}
	var all []*Adapter
	for _, info := range infos[:rec.NumAdapters] {
		all = append(all, &Adapter{s: s, handle: info.HAdapter, luid: info.AdapterLuid, sources: info.NumOfSources})
	}
	return all, nil
}

// OpenAdapter opens the adapter with a LUID.
//
// Errors: [abi.StatusInvalidParameter] when there is none; [abi.StatusNoMemory] at
// a limit; [abi.StatusDeviceRemoved] after the loss of the daemon; [ErrClosed].
//
// D3DKMTOpenAdapterFromLuid.
func (s *Session) OpenAdapter(luid abi.LUID) (*Adapter, error) {
	rec := abi.OpenAdapterFromLuid{AdapterLuid: luid}
	if st := s.OpenAdapterFromLuid(&rec); st != abi.StatusSuccess {
		return nil, s.failure(st)
	}
	return &Adapter{s: s, handle: rec.HAdapter, luid: luid}, nil
}

// NewDevice makes a device on the session's first adapter: all that most programs
// need. Errors as [Session.Adapters] and [Adapter.NewDevice].
func (s *Session) NewDevice() (*Device, error) {
	adapters, err := s.Adapters()
	if err != nil {
		return nil, err
	}
	for _, a := range adapters {
		defer func() { _ = a.Close() }()
	}
	return adapters[0].NewDevice(DeviceOptions{})
}

// LUID returns the adapter's locally unique id.
func (a *Adapter) LUID() abi.LUID { return a.luid }

// Handle returns the D3DKMT handle, for use with the raw calls of [Session].
func (a *Adapter) Handle() abi.Handle { return a.handle }

// Close closes this opening of the adapter. A second Close returns [ErrClosed].
//
// D3DKMTCloseAdapter.
func (a *Adapter) Close() error {
	if !a.closed.CompareAndSwap(false, true) {
		return ErrClosed
	}
	return a.s.failure(a.s.CloseAdapter(&abi.CloseAdapter{HAdapter: a.handle}))
}

// AdapterInfo is what an adapter says of itself.
type AdapterInfo struct {
	LUID        abi.LUID
	Description string
	WDDM        abi.WDDM
	VendorID    uint32 // PCI
	DeviceID    uint32 // PCI
}

// Information types of D3DKMTQueryAdapterInfo, and the sizes of their answers.
const (
	kmtqaitypeDriverVersion            = 13
	kmtqaitypePhysicalAdapterDeviceIDs = 31
	kmtqaitypeDriverDescription        = 65

	sizeDeviceIDs   = 28
	sizeDescription = 2 * 4096
)

// Info asks the adapter for the commonest facts; what it does not answer is left
// zero.
//
// Errors: [abi.StatusDeviceRemoved] after the loss of the daemon; [ErrClosed].
//
// D3DKMTQueryAdapterInfo.
func (a *Adapter) Info() (AdapterInfo, error) {
	info := AdapterInfo{LUID: a.luid}
	if a.closed.Load() {
		return info, ErrClosed
	}
	ask := func(kind uint32, data []byte) (bool, error) {
		rec := abi.QueryAdapterInfo{HAdapter: a.handle, Type: kind}
		switch st := a.s.QueryAdapterInfo(&rec, data); st {
		case abi.StatusSuccess:
			return true, nil
		case abi.StatusDeviceRemoved:
			return false, a.s.failure(st)
		}
		return false, nil
	}
	var version [4]byte
	if ok, err := ask(kmtqaitypeDriverVersion, version[:]); err != nil {
		return info, err
	} else if ok {
		info.WDDM = abi.WDDM(binary.LittleEndian.Uint32(version[:]))
	}
	var ids [sizeDeviceIDs]byte
	if ok, err := ask(kmtqaitypePhysicalAdapterDeviceIDs, ids[:]); err != nil {
		return info, err
	} else if ok {
		info.VendorID = binary.LittleEndian.Uint32(ids[4:])
		info.DeviceID = binary.LittleEndian.Uint32(ids[8:])
	}
	text := make([]byte, sizeDescription)
	if ok, err := ask(kmtqaitypeDriverDescription, text); err != nil {
		return info, err
	} else if ok {
		info.Description = fromUTF16(text)
	}
	return info, nil
}

func fromUTF16(b []byte) string {
	var units []uint16
	for i := 0; i+1 < len(b); i += 2 {
		u := binary.LittleEndian.Uint16(b[i:])
		if u == 0 {
			break
		}
		units = append(units, u)
	}
	return string(utf16.Decode(units))
}

// A Feature is what system and driver say of a WDDM feature on an adapter.
type Feature struct {
	Enabled    bool // it can be used
	Known      bool // the system knows it
	Driver     bool // the driver has it
	Configured bool // it could be used with the configuration of the system
	Version    uint16
}

// Feature asks whether the adapter has a feature, such as [abi.FeatureNativeFence] or
// [abi.FeatureUserModeSubmission]. One that nobody knows is not an error: nothing is true
// of it.
//
// Errors: [abi.StatusDeviceRemoved] when the adapter was removed, and after the loss of
// the daemon; [ErrClosed].
//
// D3DKMTIsFeatureEnabled.
func (a *Adapter) Feature(id abi.FeatureID) (Feature, error) {
	if a.closed.Load() {
		return Feature{}, ErrClosed
	}
	rec := abi.IsFeatureEnabled{HAdapter: a.handle, FeatureId: id}
	if st := a.s.IsFeatureEnabled(&rec); st != abi.StatusSuccess {
		return Feature{}, a.s.failure(st)
	}
	bits := *rec.Result.Value()
	return Feature{bits&1 != 0, bits&2 != 0, bits&4 != 0, bits&8 != 0, rec.Result.Version}, nil
}
