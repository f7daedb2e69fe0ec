/* A program that knows no library: it opens /dev/dxg and issues the requests itself.
 * Run with the library preloaded. */
#include <dxg/d3dkmthk.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                                  \
	do {                                                                                  \
		if (!(condition)) {                                                               \
			fprintf(stderr, "%s:%d: not so: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno); \
			_exit(1);                                                                     \
		}                                                                                 \
	} while (0)
#define FAILS(call, why) CHECK((errno = 0, (call)) == -1 && errno == (why))

enum {
	CREATE_DEVICE = (int)0xC0404702, QUERY = (int)0xC0184709, CREATE_FENCE = (int)0xC0604710, ENUM2 = (int)0xC0104714,
	CREATE_HW_CONTEXT = (int)0xC0284717, SIGNAL = (int)0xC0204731, WAIT = (int)0xC028473A, SHARE = (int)0xC028473F, OPEN_FENCE = (int)0xC0584740,
};

static int request(int fd, int code, void *arg) { return ioctl(fd, (unsigned long)(uint32_t)code, arg); }

static int set(int fd, D3DKMT_HANDLE d, D3DKMT_HANDLE f, uint64_t v) {
	D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU s = {.hDevice = d, .ObjectCount = 1, .ObjectHandleArray = &f, .FenceValueArray = &v};
	return request(fd, SIGNAL, &s);
}

static int await(int fd, D3DKMT_HANDLE d, D3DKMT_HANDLE f, uint64_t v, int event) {
	D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU w = {.hDevice = d, .ObjectCount = 1, .ObjectHandleArray = &f, .FenceValueArray = &v};
	w.hAsyncEvent = (HANDLE)(intptr_t)event;
	return request(fd, WAIT, &w);
}

static void looking(void) {
	struct stat st;
	CHECK(stat("/dev/dxg", &st) == 0 && S_ISCHR(st.st_mode));
	CHECK(access("/dev/dxg", R_OK | W_OK) == 0);
	FAILS(access("/dev/dxg", X_OK), EACCES);
	FAILS(access("/dev/dxg-no", F_OK), ENOENT);
	FAILS(open("/dev/dxg-no", O_RDONLY), ENOENT);
	int fd = openat(AT_FDCWD, "/dev/dxg", O_RDWR);
	CHECK(fd >= 0 && !(fcntl(fd, F_GETFD) & FD_CLOEXEC));
	close(fd);
}

static void strings(int fd, D3DKMT_HANDLE adapter) {
	uint16_t text[4096];
	D3DKMT_QUERYADAPTERINFO q = {.hAdapter = adapter, .Type = KMTQAITYPE_DRIVER_DESCRIPTION, .pPrivateDriverData = text, .PrivateDriverDataSize = sizeof text};
	CHECK(request(fd, QUERY, &q) == 0);
	CHECK(text[0] > 31 && text[0] < 127 && text[1] > 31 && text[1] < 127);
	q.PrivateDriverDataSize--;
	FAILS(request(fd, QUERY, &q), EINVAL);
}

int main(void) {
	looking();
	int fd = open("/dev/dxg", O_CLOEXEC);
	CHECK(fd >= 0 && fcntl(fd, F_GETFD) & FD_CLOEXEC);
	D3DKMT_ADAPTERINFO info[4];
	D3DKMT_ENUMADAPTERS2 e = {.NumAdapters = 4, .pAdapters = info};
	CHECK(request(fd, ENUM2, &e) == 0 && e.NumAdapters >= 1);
	D3DKMT_ADAPTERINFO none[1];
	e = (D3DKMT_ENUMADAPTERS2){.NumAdapters = 0, .pAdapters = none};
	FAILS(request(fd, ENUM2, &e), EOVERFLOW);
	D3DKMT_CREATEDEVICE d = {.hAdapter = info[0].hAdapter};
	CHECK(request(fd, CREATE_DEVICE, &d) == 0);
	strings(fd, info[0].hAdapter);

	/* One fence, used through a copy of the descriptor after the first is closed. */
	D3DKMT_CREATESYNCHRONIZATIONOBJECT2 c = {.hDevice = d.hDevice};
	c.Info.Type = D3DDDI_MONITORED_FENCE;
	c.Info.Flags.Value = 3;
	CHECK(request(fd, CREATE_FENCE, &c) == 0);
	volatile uint64_t *view = (volatile uint64_t *)c.Info.MonitoredFence.FenceValueCPUVirtualAddress;
	int copy = dup(fd);
	close(fd);
	fd = copy;
	CHECK(set(fd, d.hDevice, c.hSyncObject, 5) == 0 && *view == 5);
	CHECK(await(fd, d.hDevice, c.hSyncObject, 5, 0) == 0);
	FAILS(set(fd, d.hDevice, c.hSyncObject, 4), EINVAL);
	int event = eventfd(0, 0);
	uint64_t n = 0;
	CHECK(await(fd, d.hDevice, c.hSyncObject, 6, event) == 0);
	CHECK(set(fd, d.hDevice, c.hSyncObject, 6) == 0 && read(event, &n, sizeof n) == sizeof n && n == 1);
	FAILS(await(fd, d.hDevice, c.hSyncObject, 7, 999), EINVAL);

	/* A blocking wait, satisfied by a second thread of control: a child with its own. */
	HANDLE out = NULL;
	D3DKMT_SHAREOBJECTS s = {.ObjectCount = 1, .ObjectHandleArray = &c.hSyncObject, .DesiredAccess = 0x001F0003, .pSharedNtHandle = &out};
	CHECK(request(fd, SHARE, &s) == 0 && (intptr_t)out > 0);
	pid_t pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		FAILS(request(fd, ENUM2, &e), ENOTTY); /* the parent's */
		int own = open("/dev/dxg", O_RDWR | O_CLOEXEC);
		CHECK(own >= 0);
		e = (D3DKMT_ENUMADAPTERS2){.NumAdapters = 4, .pAdapters = info};
		CHECK(request(own, ENUM2, &e) == 0);
		D3DKMT_CREATEDEVICE cd = {.hAdapter = info[0].hAdapter};
		CHECK(request(own, CREATE_DEVICE, &cd) == 0);
		D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 o = {.hNtHandle = out, .hDevice = cd.hDevice};
		CHECK(request(own, OPEN_FENCE, &o) == 0);
		CHECK(set(own, cd.hDevice, o.hSyncObject, 20) == 0);
		o.hNtHandle = (HANDLE)(intptr_t)own;
		FAILS(request(own, OPEN_FENCE, &o), EINVAL); /* another kind of descriptor */
		o.hNtHandle = (HANDLE)(intptr_t)888;
		FAILS(request(own, OPEN_FENCE, &o), EINVAL);
		_exit(0);
	}
	CHECK(await(fd, d.hDevice, c.hSyncObject, 20, 0) == 0);
	int st;
	CHECK(waitpid(pid, &st, 0) == pid && st == 0);

	/* Memory that is not there, sizes that are not known, calls that are not offered. */
	FAILS(request(fd, ENUM2, (void *)16), EFAULT);
	e = (D3DKMT_ENUMADAPTERS2){.NumAdapters = 4, .pAdapters = (void *)16};
	FAILS(request(fd, ENUM2, &e), EFAULT);
	D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU bad = {.hDevice = d.hDevice, .ObjectCount = 1, .ObjectHandleArray = (void *)16, .FenceValueArray = (void *)16};
	FAILS(request(fd, SIGNAL, &bad), EFAULT);
	FAILS(request(fd, (int)0xC0204714, &e), ENOTTY);
	FAILS(request(fd, (int)0xC0104700, &e), ENOTTY);
	FAILS(request(fd, CREATE_HW_CONTEXT, &c), EPERM);
	FAILS(request(-1, ENUM2, &e), EBADF);
	int pipes[2];
	CHECK(pipe(pipes) == 0);
	FAILS(request(pipes[0], ENUM2, &e), ENOTTY);
	int waiting = -1;
	CHECK(ioctl(pipes[0], FIONREAD, &waiting) == 0 && waiting == 0);

	/* The number, used again by something else, is nobody's session. */
	close(fd);
	CHECK(dup2(pipes[0], fd) == fd);
	FAILS(request(fd, ENUM2, &e), ENOTTY);
	close(fd);
	/* The last session was closed: what it had is gone, and a new one begins anew. */
	fd = open("/dev/dxg", O_CLOEXEC);
	CHECK(fd >= 0);
	FAILS(set(fd, d.hDevice, c.hSyncObject, 30), EINVAL);
	e = (D3DKMT_ENUMADAPTERS2){.NumAdapters = 4, .pAdapters = info};
	CHECK(request(fd, ENUM2, &e) == 0);
	return 0;
}
