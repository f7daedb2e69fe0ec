package softgpu

import "github.com/dxgsync/dxgsync/ddi"

// nothing is the memory of a device that was created without: every access faults.
type nothing struct{}

func (nothing) Read(_ uint32, va uint64, _ []byte) *ddi.Fault { return &ddi.Fault{Address: va} }

func (nothing) Write(_ uint32, va uint64, _ []byte) *ddi.Fault {
	return &ddi.Fault{Address: va, Flags: ddi.FaultWrite}
}

func (nothing) Load64(_ uint32, va uint64) (uint64, *ddi.Fault) {
	return 0, &ddi.Fault{Address: va}
}

func (nothing) Load32(_ uint32, va uint64) (uint32, *ddi.Fault) {
	return 0, &ddi.Fault{Address: va}
}

func (nothing) Store64(_ uint32, va, _ uint64) *ddi.Fault {
	return &ddi.Fault{Address: va, Flags: ddi.FaultWrite}
}

func (nothing) Store32(_ uint32, va uint64, _ uint32) *ddi.Fault {
	return &ddi.Fault{Address: va, Flags: ddi.FaultWrite}
}
