/* A session that is refused: the daemon's answer is found whenever it hangs up. */
#include "frame.h"
#include "inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHECK(condition)                                                                  \
	do {                                                                                  \
		if (!(condition)) {                                                               \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);       \
			exit(1);                                                                      \
		}                                                                                 \
	} while (0)

static const uint8_t nonce[16] = {1};

/* What Hello answers over a socket whose other end is already closed: before any
 * request was sent, or with one that nobody has read. */
static uint32_t hello(bool unread, bool told) {
	static struct dxg_image img;
	struct dxg_session *s = &img.session[1];
	const uint32_t no_memory[6] = {ST_NO_MEMORY, OP_HELLO};
	int pair[2];
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0);
	*s = (struct dxg_session){.fd = pair[0], .young = true, .image = &img};
	pthread_mutex_init(&s->lock, NULL);
	if (unread) CHECK(send(pair[0], "x", 1, 0) == 1);
	if (told) CHECK(send(pair[1], no_memory, sizeof no_memory, 0) == sizeof no_memory);
	close(pair[1]);
	uint32_t st = dxg_hello(s, nonce);
	close(pair[0]);
	return st;
}

int main(void) {
	for (int i = 0; i < 2; i++) {
		CHECK(hello(i, true) == ST_NO_MEMORY);
		CHECK(hello(i, false) == ST_UNSUCCESSFUL);
	}
	return 0;
}
