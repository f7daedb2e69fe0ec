/* What the two roles share: a device, fences, the log. README.md describes the
 * program. Only the public names of the D3DKMT interface are used. */
#ifndef FRAMES_H
#define FRAMES_H

#include <stdint.h>

#include <dxg/d3dkmthk.h>

enum { SLOT_SIZE = 4096, SLOTS = 2 };

/* What the command line says. */
struct options {
	unsigned long frames, pace_us;
	int ready_fd, done_fd, quit_fd, memory_fd; /* of a consumer */
	char **consumer;                           /* of a producer: the command to start */
};

/* A fence of this process: its handle and the page with its value, read-only. */
struct fence {
	D3DKMT_HANDLE handle;
	const volatile uint64_t *value;
};

int produce(const struct options *);
int consume(const struct options *);

/* Open the first adapter and make a device on it. */
D3DKMT_HANDLE open_device(void);
/* The value now. All ones: whoever made the fence is lost; ends the program. */
uint64_t fence_value(const struct fence *);
void fence_signal(D3DKMT_HANDLE device, const struct fence *, uint64_t value);
/* Block until the fence has reached the value. */
void fence_wait(D3DKMT_HANDLE device, const struct fence *, uint64_t value);

/* One line of the log; more is "" or "KEY=VALUE…". */
void say(const char *role, const char *event, unsigned long frame, const char *more, ...)
	__attribute__((format(printf, 4, 5)));

/* End the program with a message; with the status's number if it is not a success. */
_Noreturn void fail(const char *what);
void check(NTSTATUS status, const char *what);

#endif
