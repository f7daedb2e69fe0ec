package wire

import "github.com/dxgsync/dxgsync/abi"

// GrantSize is the size of a grant in a reply, in bytes: u8 kind, rights, slots,
// writable | u32 slab | u32 offset | u32 size | u8 has file | 3 zero bytes | u32 device.
const GrantSize = 24

func putGrant(b []byte, g *abi.Grant) {
	b[0], b[1], b[2], b[3] = g.Kind, g.Rights, g.Slots, g.Writable
	le.PutUint32(b[4:], g.Slab)
	le.PutUint32(b[8:], g.Offset)
	le.PutUint32(b[12:], g.Size)
	le.PutUint32(b[16:], uint32(g.HasFile))
	le.PutUint32(b[20:], uint32(g.Device))
}

func getGrant(b []byte) abi.Grant {
	return abi.Grant{
		Kind: b[0], Rights: b[1], Slots: b[2], Writable: b[3],
		Slab: le.Uint32(b[4:]), Offset: le.Uint32(b[8:]), Size: le.Uint32(b[12:]), HasFile: b[16],
		Device: abi.Handle(le.Uint32(b[20:])),
	}
}
