/* What a forked child has of its parent's fences: the pages to look at, live, and
 * nothing else until it opens its own. */
#include "check.h"

#include <signal.h>
#include <sys/mman.h>

/* The child looks at the page, is refused the handle, and opens a device of its own. */
static int child(volatile uint64_t *view, D3DKMT_HANDLE device, D3DKMT_HANDLE fence, int fd, int ask, int answer) {
	char c;
	EQUAL(*view, 1);
	CHECK(write(answer, "x", 1) == 1);
	CHECK(read(ask, &c, 1) == 1);
	EQUAL(*view, 2); /* stored by the parent meanwhile */
	STATUS(signal_fence(device, fence, 9), INVALID_PARAMETER);
	STATUS(wait_fence(device, fence, 1), INVALID_PARAMETER);
	STATUS(destroy_fence(fence), INVALID_PARAMETER);
	D3DKMT_HANDLE own = open_device();
	volatile uint64_t *again;
	D3DKMT_HANDLE g = open_fence(own, fd, 0, &again);
	CHECK(again != view);
	EQUAL(*again, 2);
	OK(signal_fence(own, g, 3));
	CHECK(*view >= 3);
	OK(wait_fence(own, g, 4)); /* signalled by the parent */
	EQUAL(*view, 4);
	return 0;
}

/* A write to the page the program was given is a fault; so is one by a child. */
static void write_faults(volatile uint64_t *view) {
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		*view = 5;
		_exit(0);
	}
	EQUAL(end_of(pid), 256 + SIGSEGV);
}

/* The writable mappings do not reach the child at all. */
static void no_writable_memory(void) {
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		char line[512];
		FILE *f = fopen("/proc/self/maps", "r");
		CHECK(f);
		while (fgets(line, sizeof line, f)) CHECK(!(strstr(line, "/memfd:") && strstr(line, " rw-s ")));
		_exit(0);
	}
	EQUAL(end_of(pid), 0);
}

int main(void) {
	int ask[2], answer[2];
	char c;
	D3DKMT_HANDLE d = open_device();
	volatile uint64_t *view, *slab;
	D3DKMT_HANDLE f = make_fence(d, SHARED, 1, &view);
	make_fence(d, PRIVATE, 1, &slab);
	int fd = share_fence(f, ALL_ACCESS);
	CHECK(pipe(ask) == 0 && pipe(answer) == 0);
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) _exit(child(view, d, f, fd, ask[0], answer[1]));
	CHECK(read(answer[0], &c, 1) == 1);
	OK(signal_fence(d, f, 2));
	CHECK(write(ask[1], "x", 1) == 1);
	OK(wait_fence(d, f, 3));
	OK(signal_fence(d, f, 4));
	EQUAL(end_of(pid), 0);
	write_faults(view);
	write_faults(slab);
	no_writable_memory();
	/* vfork shares everything, until exec. */
	pid = vfork();
	if (pid == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
	EQUAL(end_of(pid), 0);
	OK(signal_fence(d, f, 5)); /* none of it harmed the parent */
	OK(wait_fence(d, f, 5));
	return 0;
}
