/* A program that closes every descriptor it did not open itself, as daemons do, has
 * closed the library's session: what it had is gone, and it may begin anew. */
#include "check.h"

#include <sys/syscall.h>

int main(void) {
	D3DKMT_HANDLE d = open_device();
	volatile uint64_t *view, *again;
	D3DKMT_HANDLE f = make_fence(d, PRIVATE, 3, &view);
	CHECK(syscall(SYS_close_range, 3U, ~0U, 0U) == 0);
	STATUS(destroy_fence(f), DEVICE_REMOVED);
	STATUS(signal_fence(d, f, 4), DEVICE_REMOVED);
	CHECK(*view >= 3); /* still there to look at */
	D3DKMT_HANDLE e = open_device();
	D3DKMT_HANDLE g = make_fence(e, PRIVATE, 3, &again);
	CHECK(view != again);
	OK(signal_fence(e, g, 4));
	EQUAL(*again, 4);
	return 0;
}
