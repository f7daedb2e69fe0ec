/* Sockets to the daemon. */
#include "inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* $DXGSYNC_SOCKET, else dxgsync/socket under $XDG_RUNTIME_DIR, else under /run. A
 * leading '@' means the abstract namespace. Programs that run with more rights than
 * their user get the last. 0: too long. */
static socklen_t address(struct sockaddr_un *a) {
	const char *path = secure_getenv("DXGSYNC_SOCKET");
	const char *dir = secure_getenv("XDG_RUNTIME_DIR");
	int n;
	memset(a, 0, sizeof *a);
	a->sun_family = AF_UNIX;
	if (path && *path) n = snprintf(a->sun_path, sizeof a->sun_path, "%s", path);
	else n = snprintf(a->sun_path, sizeof a->sun_path, "%s/dxgsync/socket", dir && *dir ? dir : "/run");
	if (n < 0 || (size_t)n >= sizeof a->sun_path) return 0;
	if (a->sun_path[0] != '@') return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)n + 1);
	a->sun_path[0] = 0;
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)n);
}

int dxg_connect(void) {
	struct sockaddr_un a;
	socklen_t len = address(&a);
	if (!len) {
		errno = ENAMETOOLONG;
		return -1;
	}
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0) return -1;
	while (connect(fd, (struct sockaddr *)&a, len)) {
		if (errno == EINTR) continue; /* nothing was queued yet */
		int why = errno;
		close(fd);
		errno = why;
		return -1;
	}
	return fd;
}

uint64_t dxg_cookie(int fd) {
	uint64_t cookie = 0;
	socklen_t len = sizeof cookie;
	return getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &len) ? 0 : cookie;
}

bool dxg_hung_up(int fd) {
	char c;
	ssize_t n = recv(fd, &c, 1, MSG_PEEK | MSG_DONTWAIT);
	return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

struct hello {
	uint32_t version, flags;
	uint8_t nonce[16];
	uint32_t pid, uid, bells, first_bell, bell_count, max_objects;
	uint64_t kernel;
};

/* Map the user's bell table, once for an image. A forked child does not get it. */
static bool map_bells(struct dxg_image *img, const struct hello *h, int fd) {
	if (img->bells) return img->kernel == h->kernel; /* else another daemon has taken over */
	if (h->bells == 0 || h->bells > 1u << 24) return false;
	size_t size = (size_t)h->bells * sizeof *img->bells;
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) return false;
	madvise(p, size, MADV_DONTFORK);
	img->bells = p;
	img->bell_lines = h->bells;
	img->kernel = h->kernel;
	return true;
}

uint32_t dxg_hello(struct dxg_session *s, const uint8_t nonce[16]) {
	struct hello h = {.version = 1};
	struct dxg_reply r = {0};
	memcpy(h.nonce, nonce, sizeof h.nonce);
	uint32_t st = dxg_request(s, dxg_op(OP_HELLO), &h, &r);
	if (!ST_OK(st)) return st == ST_DEVICE_REMOVED ? ST_UNSUCCESSFUL : st;
	bool ok = r.files == 1 && map_bells(s->image, &h, r.file[0]);
	for (int i = 0; i < r.files; i++) close(r.file[i]);
	if (!ok) return ST_NO_MEMORY;
	dxg_bells_add(s->image, h.first_bell, h.bell_count);
	return ST_SUCCESS;
}
