/* What the C library takes for the operations that cross processes, on the daemon
 * that DXGSYNC_SOCKET names.
 *
 * Usage: library-bench L.NAME     prints nanoseconds. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <dxg/d3dkmthk.h>

struct fence {
	D3DKMT_HANDLE handle;
	const volatile uint64_t *value;
};

static D3DKMT_HANDLE device;
static struct fence mine, theirs; /* the first is signalled by side 0 */
static struct fence idle[31];

static _Noreturn void die(const char *what, NTSTATUS st) {
	fprintf(stderr, "library-bench: %s: status %#x\n", what, (unsigned)st);
	exit(1);
}
static void check(NTSTATUS st, const char *what) {
	if (st != 0) die(what, st);
}

static uint64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void open_device(void) {
	D3DKMT_ADAPTERINFO info[64];
	D3DKMT_ENUMADAPTERS2 all = {.NumAdapters = 64, .pAdapters = info};
	check(D3DKMTEnumAdapters2(&all), "list adapters");
	D3DKMT_CREATEDEVICE c = {.hAdapter = info[0].hAdapter};
	check(D3DKMTCreateDevice(&c), "create a device");
	device = c.hDevice;
}

static struct fence make(void) {
	D3DKMT_CREATESYNCHRONIZATIONOBJECT2 c = {.hDevice = device};
	c.Info.Type = D3DDDI_MONITORED_FENCE;
	c.Info.Flags.Shared = 1;
	c.Info.Flags.NtSecuritySharing = 1;
	check(D3DKMTCreateSynchronizationObject2(&c), "create a fence");
	return (struct fence){c.hSyncObject, c.Info.MonitoredFence.FenceValueCPUVirtualAddress};
}

static int share(struct fence f) {
	HANDLE h;
	check(D3DKMTShareObjects(1, &f.handle, 0, 0x10000000, &h), "share a fence");
	return (int)(intptr_t)h;
}

static struct fence open_fence(int fd) {
	D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 o = {.hDevice = device};
	o.hNtHandle = (HANDLE)(intptr_t)fd;
	check(D3DKMTOpenSyncObjectFromNtHandle2(&o), "open a fence");
	return (struct fence){o.hSyncObject, o.MonitoredFence.FenceValueCPUVirtualAddress};
}

static void destroy(struct fence f) {
	D3DKMT_DESTROYSYNCHRONIZATIONOBJECT d = {f.handle};
	check(D3DKMTDestroySynchronizationObject(&d), "destroy a fence");
}

static void set(struct fence f, uint64_t v, int rewind) {
	D3DKMT_SIGNALSYNCHRONIZATIONOBJECTFROMCPU s = {
		.hDevice = device, .ObjectCount = 1, .ObjectHandleArray = &f.handle, .FenceValueArray = &v};
	s.Flags.AllowFenceRewind = rewind != 0;
	check(D3DKMTSignalSynchronizationObjectFromCpu(&s), "signal");
}

static void await(struct fence f, uint64_t v) {
	D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU w = {
		.hDevice = device, .ObjectCount = 1, .ObjectHandleArray = &f.handle, .FenceValueArray = &v};
	check(D3DKMTWaitForSynchronizationObjectFromCpu(&w), "wait");
}

static void await_any(struct fence f, uint64_t v) {
	D3DKMT_HANDLE h[32];
	UINT64 want[32];
	for (int i = 0; i < 31; i++) h[i] = idle[i].handle, want[i] = 1;
	h[31] = f.handle, want[31] = v;
	D3DKMT_WAITFORSYNCHRONIZATIONOBJECTFROMCPU w = {
		.hDevice = device, .ObjectCount = 32, .ObjectHandleArray = h, .FenceValueArray = want};
	w.Flags.WaitAny = 1;
	check(D3DKMTWaitForSynchronizationObjectFromCpu(&w), "wait for any");
}

static uint64_t step;
static void signals(uint64_t n) { while (n--) set(mine, ++step, 0); }
static void satisfied(uint64_t n) { while (n--) await(mine, 0); }
/* A rewind is the kernel's to judge: a request and its answer. */
static void requests(uint64_t n) { while (n--) { set(mine, 2, 0); set(mine, 1, 1); } }
static void pingpong(uint64_t n) { while (n--) { set(mine, ++step, 0); await(theirs, step); } }
static void pingpong_any(uint64_t n) { while (n--) { set(mine, ++step, 0); await_any(theirs, step); } }
static int shared_fd;
static uint64_t destroying, opened;
static void opens(uint64_t n) {
	destroying = 0, opened = n;
	while (n--) {
		struct fence f = open_fence(shared_fd);
		if (*f.value == 1) exit(1);
		uint64_t t = now();
		destroy(f);
		destroying += now() - t;
	}
}

static double repeat(void (*body)(uint64_t)) {
	const uint64_t enough = 40000000;
	for (uint64_t n = 16;;) {
		uint64_t t = now();
		body(n);
		t = now() - t;
		if (t >= enough) return (double)t / (double)n;
		n = t < enough / 16 ? n * 8 : n * enough * 5 / 4 / (t ? t : 1) + 1;
	}
}

static const uint64_t stop = 1ull << 60;

/* The other side: a new program image, because a child has no handles. */
static int echo(int ready, int answer, int any) {
	open_device();
	struct fence in = open_fence(ready), out = open_fence(answer);
	if (any)
		for (int i = 0; i < 31; i++) idle[i] = make();
	for (uint64_t v = 1;; v++) {
		if (any) await_any(in, v);
		else await(in, v);
		if (*in.value >= stop) return 0;
		set(out, v, 0);
	}
}

static pid_t start_echo(char *self, int any) {
	int ready = share(mine), answer = share(theirs);
	char a[16], b[16];
	snprintf(a, sizeof a, "%d", ready);
	snprintf(b, sizeof b, "%d", answer);
	pid_t pid = fork();
	if (pid < 0) die("fork", -1);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		fcntl(ready, F_SETFD, 0);
		fcntl(answer, F_SETFD, 0);
		execl(self, self, "echo", a, b, any ? "any" : "one", (char *)0);
		_exit(127);
	}
	return pid;
}

int main(int argc, char **argv) {
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n < 0 || argc < 2) return 2;
	self[n] = 0;
	if (!strcmp(argv[1], "echo") && argc == 5) return echo(atoi(argv[2]), atoi(argv[3]), !strcmp(argv[4], "any"));
	open_device();
	mine = make();
	theirs = make();
	double ns = -1;
	pid_t other = 0;
	if (!strcmp(argv[1], "L.signal_none_shared")) ns = repeat(signals);
	else if (!strcmp(argv[1], "L.wait_satisfied")) ns = repeat(satisfied);
	else if (!strcmp(argv[1], "L.signal_daemon.same.rtt")) ns = repeat(requests);
	else if (!strcmp(argv[1], "L.share_open.same.rtt")) {
		shared_fd = share(mine);
		ns = repeat(opens);
		ns -= (double)destroying / (double)opened;
	} else if (!strcmp(argv[1], "L.pingpong_proc.same.rtt")) {
		other = start_echo(self, 0);
		pingpong(500);
		ns = repeat(pingpong);
	} else if (!strcmp(argv[1], "L.wait_any32_proc.same.rtt")) {
		for (int i = 0; i < 31; i++) idle[i] = make();
		other = start_echo(self, 1);
		pingpong_any(500);
		ns = repeat(pingpong_any);
	} else {
		fprintf(stderr, "library-bench: nothing is called %s\n", argv[1]);
		return 2;
	}
	if (other) {
		set(mine, stop, 0);
		waitpid(other, 0, 0);
	}
	printf("%.6g\n", ns);
	return 0;
}
