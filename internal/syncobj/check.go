package syncobj

import "github.com/dxgsync/dxgsync/abi"

var (
	inMemory = abi.Set(abi.MonitoredFence, abi.PeriodicMonitoredFence, abi.NativeFence)
	consumed = abi.Set(abi.SynchronizationMutex, abi.Semaphore)
)

// CheckWait says whether one packet may wait for objects, all of them together.
//
// SUCCESS, or INVALID_PARAMETER: for no object; for a CPU notification, which nothing
// waits for; for a legacy fence beside anything else; for a fence in memory beside a
// mutex or a semaphore; for a mutex that occurs twice or a semaphore that occurs more
// often than it can count, which would wait for ever.
// Source: objects.md §5.3, §5.4, §8; OQ-25.
func CheckWait(objects []Object) abi.Status {
	if !together(objects) {
		return abi.StatusInvalidParameter
	}
	switch k := objects[0].Kind(); {
	case k == abi.CPUNotification:
		return abi.StatusInvalidParameter
	case !consumed.Has(k):
		return abi.StatusSuccess
	}
	taken := make(map[*stock]uint32, len(objects))
	for _, o := range objects {
		c, ok := o.(consumable)
		if !ok { // a CPU notification
			return abi.StatusInvalidParameter
		}
		s := c.supply()
		if taken[s]++; taken[s] > s.most {
			return abi.StatusInvalidParameter
		}
	}
	return abi.StatusSuccess
}

// CheckSignal says whether one packet may signal objects, all of them together. What
// a local object permits, and that no user signals a periodic fence, is a matter of
// rights and not judged here.
//
// SUCCESS, or INVALID_PARAMETER: for no object; for a CPU notification that only the
// driver signals; for a legacy fence beside anything else; for a fence in memory
// beside an object without value. One that occurs twice is signalled twice.
// Source: objects.md §5.3, §5.4, §8; OQ-7, OQ-25.
func CheckSignal(objects []Object) abi.Status {
	if !together(objects) {
		return abi.StatusInvalidParameter
	}
	for _, o := range objects {
		if o.CreateFlags()&abi.SyncObjectSignalByKmd != 0 {
			return abi.StatusInvalidParameter
		}
	}
	return abi.StatusSuccess
}

// together says whether objects may be in one array: the value of a call is that of
// one legacy fence, or an array that pairs with fences in memory, or unused.
func together(objects []Object) bool {
	if len(objects) == 0 {
		return false
	}
	first := objects[0].Kind()
	for _, o := range objects[1:] {
		k := o.Kind()
		if k == abi.Fence || first == abi.Fence || inMemory.Has(k) != inMemory.Has(first) {
			return false
		}
	}
	return true
}
