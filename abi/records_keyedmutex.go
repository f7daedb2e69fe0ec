package abi

// AcquireKeyedMutex is D3DKMT_ACQUIREKEYEDMUTEX, 32 bytes, the argument of
// D3DKMTAcquireKeyedMutex.
type AcquireKeyedMutex struct {
	HKeyedMutex Handle
	_           [4]byte
	Key         uint64
	PTimeout    uint64 // pointer, in
	FenceValue  uint64 // answered
}

// AcquireKeyedMutex2 is D3DKMT_ACQUIREKEYEDMUTEX2, 48 bytes, the argument of
// D3DKMTAcquireKeyedMutex2.
type AcquireKeyedMutex2 struct {
	HKeyedMutex            Handle
	_                      [4]byte
	Key                    uint64
	PTimeout               uint64 // pointer, in
	FenceValue             uint64 // answered
	PPrivateRuntimeData    uint64 // PrivateRuntimeDataSize bytes, out
	PrivateRuntimeDataSize uint32
	_                      [4]byte
}

// CreateKeyedMutex is D3DKMT_CREATEKEYEDMUTEX, 16 bytes, the argument of
// D3DKMTCreateKeyedMutex.
type CreateKeyedMutex struct {
	InitialValue  uint64
	HSharedHandle Handle // answered
	HKeyedMutex   Handle // answered
}

// CreateKeyedMutex2 is D3DKMT_CREATEKEYEDMUTEX2, 32 bytes, the argument of
// D3DKMTCreateKeyedMutex2.
type CreateKeyedMutex2 struct {
	InitialValue           uint64
	HSharedHandle          Handle // answered
	HKeyedMutex            Handle // answered
	PPrivateRuntimeData    uint64 // PrivateRuntimeDataSize bytes, in
	PrivateRuntimeDataSize uint32
	Flags                  CreateKeyedMutex2Flags
}

// DestroyKeyedMutex is D3DKMT_DESTROYKEYEDMUTEX, 4 bytes, the argument of
// D3DKMTDestroyKeyedMutex.
type DestroyKeyedMutex struct {
	HKeyedMutex Handle
}

// OpenKeyedMutex is D3DKMT_OPENKEYEDMUTEX, 8 bytes, the argument of
// D3DKMTOpenKeyedMutex.
type OpenKeyedMutex struct {
	HSharedHandle Handle
	HKeyedMutex   Handle // answered
}

// OpenKeyedMutex2 is D3DKMT_OPENKEYEDMUTEX2, 24 bytes, the argument of
// D3DKMTOpenKeyedMutex2.
type OpenKeyedMutex2 struct {
	HSharedHandle          Handle
	HKeyedMutex            Handle // answered
	PPrivateRuntimeData    uint64 // PrivateRuntimeDataSize bytes, in
	PrivateRuntimeDataSize uint32
	_                      [4]byte
}

// OpenKeyedMutexFromNtHandle is D3DKMT_OPENKEYEDMUTEXFROMNTHANDLE, 32 bytes, the
// argument of D3DKMTOpenKeyedMutexFromNtHandle.
type OpenKeyedMutexFromNtHandle struct {
	HNtHandle              uint64 // an NT handle
	HKeyedMutex            Handle // answered
	_                      [4]byte
	PPrivateRuntimeData    uint64 // PrivateRuntimeDataSize bytes, in
	PrivateRuntimeDataSize uint32
	_                      [4]byte
}

// OutputDuplKeyedMutex is D3DKMT_OUTPUTDUPL_KEYEDMUTEX, 8 bytes.
type OutputDuplKeyedMutex struct {
	HSharedSurfaceNt uint64
}

// ReleaseKeyedMutex is D3DKMT_RELEASEKEYEDMUTEX, 24 bytes, the argument of
// D3DKMTReleaseKeyedMutex.
type ReleaseKeyedMutex struct {
	HKeyedMutex Handle
	_           [4]byte
	Key         uint64
	FenceValue  uint64
}

// ReleaseKeyedMutex2 is D3DKMT_RELEASEKEYEDMUTEX2, 40 bytes, the argument of
// D3DKMTReleaseKeyedMutex2.
type ReleaseKeyedMutex2 struct {
	HKeyedMutex            Handle
	_                      [4]byte
	Key                    uint64
	FenceValue             uint64
	PPrivateRuntimeData    uint64 // PrivateRuntimeDataSize bytes, in
	PrivateRuntimeDataSize uint32
	_                      [4]byte
}
