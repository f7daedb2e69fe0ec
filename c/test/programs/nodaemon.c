/* Without a daemon there is no device. */
#include "check.h"

int main(void) {
	D3DKMT_ENUMADAPTERS2 e = {0};
	STATUS(D3DKMTEnumAdapters2(&e), UNSUCCESSFUL);
	STATUS(signal_fence(0x40000040, 0x40000080, 1), UNSUCCESSFUL);
	STATUS(wait_fence(0x40000040, 0x40000080, 1), UNSUCCESSFUL);
	STATUS(D3DKMTCreateDevice(NULL), INVALID_PARAMETER);
	STATUS(destroy_fence(0x40000080), UNSUCCESSFUL);
	return 0;
}
