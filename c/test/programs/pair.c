/* Two processes by fork and exec, which hand numbers to and fro through two fences;
 * then one of them is killed, asleep, and the other
 * goes on.
 *
 *     pair          the first process
 *     pair FD FD    the second, with the descriptors of the fences */
#include "check.h"

#include <fcntl.h>
#include <signal.h>

enum { ROUNDS = 2000 };

static int second(int ping, int pong) {
	D3DKMT_HANDLE d = open_device();
	volatile uint64_t *view;
	D3DKMT_HANDLE a = open_fence(d, ping, 0, &view), b = open_fence(d, pong, 0, NULL);
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		OK(wait_fence(d, a, i));
		CHECK(*view >= i);
		OK(signal_fence(d, b, i));
	}
	OK(signal_fence(d, b, ROUNDS + 1));
	wait_fence(d, a, UINT64_MAX); /* until killed */
	return 1;
}

int main(int argc, char **argv) {
	if (argc == 3) return second(atoi(argv[1]), atoi(argv[2]));
	D3DKMT_HANDLE d = open_device();
	D3DKMT_HANDLE a = make_fence(d, SHARED, 0, NULL), b = make_fence(d, SHARED, 0, NULL);
	int ping = share_fence(a, ALL_ACCESS), pong = share_fence(b, ALL_ACCESS);
	CHECK(fcntl(ping, F_GETFD) & FD_CLOEXEC);
	fcntl(ping, F_SETFD, 0);
	fcntl(pong, F_SETFD, 0);
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		char x[12], y[12];
		snprintf(x, sizeof x, "%d", ping);
		snprintf(y, sizeof y, "%d", pong);
		execl("/proc/self/exe", "pair", x, y, (char *)NULL);
		_exit(1);
	}
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		OK(signal_fence(d, a, i));
		OK(wait_fence(d, b, i));
	}
	OK(wait_fence(d, b, ROUNDS + 1));
	kill(pid, SIGKILL);
	EQUAL(end_of(pid), 256 + SIGKILL);
	OK(signal_fence(d, a, ROUNDS + 1)); /* its slot is stale at worst */
	OK(signal_fence(d, b, ROUNDS + 2));
	OK(wait_fence(d, b, ROUNDS + 2));
	return 0;
}
