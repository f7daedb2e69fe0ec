package abi

import "fmt"

// An Enum is an enumeration of the public headers.
type Enum struct {
	Name   string // "D3DKMT_CLIENTHINT"
	Prefix string // what the names of its values begin with
	Values []EnumValue
}

// An EnumValue is a value of an enumeration.
type EnumValue struct {
	Value int64
	Name  string // without the prefix
}

// Enums are the enumerations that records use, for tools that print records.
var Enums = []*Enum{
	&syncObjectTypes,
	&deviceStateTypes,
	&deviceExecutionStates,
	&deviceErrorReasons,
	&clientHints,
	&pagingQueuePriorities,
	&engineTypes,
	&featureIDs,
	&renderPipelineStages,
	&generalErrorCodes,
	&memorySegmentGroups,
	&allocationResidencyStatuses,
	&offerPriorities,
	&reclaimResults,
	&standardAllocationTypes,
	&updateGpuVirtualAddressOperationTypes,
	&gpuVirtualAddressReservationTypes,
	&nativeFenceTypes,
	&doorbellStatuses,
	&nativeFenceLogTypes,
	&nativeFenceLogOperations,
	&queryRegistryTypes,
	&queryRegistryStatuses,
	&crossAdapterResourceTiers,
}

// format returns the name of a value, and its number when it has none.
func (e *Enum) format(v int64) string {
	for _, known := range e.Values {
		if known.Value == v {
			return known.Name
		}
	}
	return fmt.Sprintf("%s %d", e.Name, v)
}
