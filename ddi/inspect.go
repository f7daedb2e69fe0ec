package ddi

// NativeWaits is what a driver may have besides: it says what its GPU waits for by itself,
// for listings. Ours.
type NativeWaits interface {
	// NativeWaits are the packets that wait for native fences, in any order. It may be called
	// from any goroutine.
	NativeWaits() []NativeWait
}

// A NativeWait is a packet at the GPU that waits for a native fence.
type NativeWait struct {
	Fence DxgNativeFence
	Value uint64 // that it waits for
	// HwQueue is whose packet it is; 0: it is one of the context itself.
	Context KmdContext
	HwQueue KmdHwQueue
}
