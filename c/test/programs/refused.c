/* A daemon that takes one session: whoever comes after it is told that there is no
 * memory, and takes its place when it has gone. */
#include "check.h"

#include <fcntl.h>

#define NO_MEMORY 0xC0000017u

int main(void) {
	int fd = open("/dev/dxg", O_RDWR | O_CLOEXEC);
	CHECK(fd >= 0);
	for (int i = 0; i < 300; i++) {
		D3DKMT_ENUMADAPTERS2 e = {0};
		STATUS(D3DKMTEnumAdapters2(&e), NO_MEMORY);
		errno = 0;
		EQUAL(open("/dev/dxg", O_RDWR), -1);
		EQUAL(errno, ENOMEM);
	}
	close(fd);
	D3DKMT_ENUMADAPTERS2 e = {0};
	for (int i = 0; i < 5000 && D3DKMTEnumAdapters2(&e); i++) usleep(1000); /* the daemon notices in its own time */
	OK(D3DKMTEnumAdapters2(&e));
	return 0;
}
