/* A process that closes the library leaves what it shares with others alone. */
#include "check.h"

#include <pthread.h>

void D3DKMTCloseDxCoreDevice(void);

static void *ask(void *device) {
	for (;;) {
		D3DKMT_GETDEVICESTATE g = {.hDevice = (D3DKMT_HANDLE)(uintptr_t)device, .StateType = 1};
		NTSTATUS st = D3DKMTGetDeviceState(&g);
		if (st) return (void *)(intptr_t)st;
	}
}

/* With threads in calls: one of them may find the session closed under its hands. */
static void child(int fd, int threads) {
	enum { MOST = 4 };
	pthread_t t[MOST];
	D3DKMT_HANDLE d = open_device();
	open_fence(d, fd, 0, NULL);
	for (int i = 0; i < threads; i++) CHECK(pthread_create(&t[i], NULL, ask, (void *)(uintptr_t)d) == 0);
	D3DKMTCloseDxCoreDevice();
	for (int i = 0; i < threads; i++) CHECK(pthread_join(t[i], NULL) == 0);
	_exit(0);
}

int main(int argc, char **argv) {
	if (argc > 2) child(atoi(argv[1]), atoi(argv[2]));
	D3DKMT_HANDLE d = open_device();
	volatile uint64_t *view;
	D3DKMT_HANDLE f = make_fence(d, SHARED, 3, &view);
	int fd = share_fence(f, ALL_ACCESS);
	for (int i = 0; i < 40; i++) {
		pid_t p = fork();
		if (!p) {
			char number[16];
			snprintf(number, sizeof number, "%d", dup(fd));
			execl("/proc/self/exe", argv[0], number, i % 2 ? "4" : "0", (char *)NULL);
			_exit(9);
		}
		EQUAL(end_of(p), 0);
		EQUAL(*view, 3);
	}
	OK(signal_fence(d, f, 4));
	EQUAL(*view, 4);
	return 0;
}
