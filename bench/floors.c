/* What this machine allows: the floors that the benchmark table compares with.
 *
 * Usage: floors NAME…      prints "name<TAB>nanoseconds" for each, one round.
 *        floors            lists the names.
 *
 * Built and run by `dxgsync bench`, interleaved with the project's own
 * measurements, so that a ratio is always taken within one run. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

struct line { _Alignas(64) _Atomic uint64_t value; };
enum { LINES = 64 };
static struct line *L; /* shared with the other side */

static void die(const char *what) { perror(what); _exit(1); }

static uint64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void pin(int cpu) {
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET((unsigned)cpu, &set);
	if (sched_setaffinity(0, sizeof set, &set)) die("sched_setaffinity");
}

static _Atomic uint32_t *word(int i) { return (_Atomic uint32_t *)&L[i].value; }
static long futex(_Atomic uint32_t *a, int op, uint32_t v) { return syscall(SYS_futex, a, op, v, 0, 0, 0); }

/* Repeat runs body(n) with growing n until it takes long enough, and returns
 * nanoseconds for one. */
static double repeat(void (*body)(uint64_t)) {
	const uint64_t enough = 40000000;
	for (uint64_t n = 64;;) {
		uint64_t t = now();
		body(n);
		t = now() - t;
		if (t >= enough) return (double)t / (double)n;
		n = t < enough / 16 ? n * 8 : n * enough * 5 / 4 / (t ? t : 1) + 1;
	}
}

/* --- one side ------------------------------------------------------------- */

static volatile uint64_t sink;

static void load(uint64_t n) {
	uint64_t sum = 0;
	for (uint64_t i = 0; i < n; i++) sum += atomic_load_explicit(&L[0].value, memory_order_acquire);
	sink = sum;
}

/* The least that a signal nobody waits for does: raise the value, look whether
 * anybody sleeps. */
static void signal_floor(uint64_t n) {
	for (uint64_t i = 0; i < n; i++) {
		uint64_t v = atomic_load_explicit(&L[0].value, memory_order_relaxed);
		atomic_compare_exchange_strong(&L[0].value, &v, v + 1);
		if (atomic_load(&L[1].value)) sink = 1;
	}
}

/* One thread that resolves a chain of 512 links: look at the value that is awaited,
 * raise the next, look whether anybody sleeps. */
enum { LINKS = 512 };
static struct { _Alignas(64) _Atomic uint64_t value; } chained[LINKS + 2];

static void chain512(uint64_t n) {
	static uint64_t round;
	for (uint64_t i = 0; i < n; i++) {
		round++;
		atomic_store(&chained[0].value, round);
		for (int k = 0; k < LINKS; k++) {
			while (atomic_load_explicit(&chained[k].value, memory_order_acquire) < round) {
			}
			uint64_t v = atomic_load_explicit(&chained[k + 1].value, memory_order_relaxed);
			atomic_compare_exchange_strong(&chained[k + 1].value, &v, round);
			if (atomic_load(&chained[LINKS + 1].value)) sink = 1;
		}
	}
}

static void wake_none(uint64_t n) {
	for (uint64_t i = 0; i < n; i++) futex(word(2), FUTEX_WAKE, 1);
}

/* Look at 32 values; only the last is reached. */
static void scan32(uint64_t n) {
	uint64_t found = 0;
	atomic_store(&L[31].value, 1);
	for (uint64_t i = 0; i < n; i++)
		for (int k = 0; k < 32; k++)
			if (atomic_load_explicit(&L[k].value, memory_order_acquire) >= 1) { found += (uint64_t)k; break; }
	sink = found;
}

static void memfd_page(uint64_t n) {
	for (uint64_t i = 0; i < n; i++) {
		int fd = (int)syscall(SYS_memfd_create, "floor", MFD_CLOEXEC);
		if (fd < 0 || ftruncate(fd, 4096)) die("memfd");
		char *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (p == MAP_FAILED) die("mmap");
		*(volatile char *)p = 1;
		munmap(p, 4096);
		close(fd);
	}
}

/* --- a clock -------------------------------------------------------------- */

static int by_size(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* How far from its moment a timer wakes its thread, hz times a second: what one in a
 * hundred of n wakes exceeds. */
static double timer_jitter(int hz, int n) {
	double off[512];
	if (n > (int)(sizeof off / sizeof *off)) abort();
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (fd < 0) die("timerfd_create");
	uint64_t start = now(), times;
	for (int i = 0; i < n; i++) {
		uint64_t ideal = start + (uint64_t)(i + 1) * 1000000000u / (uint64_t)hz;
		struct itimerspec at = {.it_value = {(time_t)(ideal / 1000000000u), (long)(ideal % 1000000000u)}};
		if (timerfd_settime(fd, TFD_TIMER_ABSTIME, &at, 0)) die("timerfd_settime");
		if (read(fd, &times, sizeof times) != sizeof times) die("read a timer");
		uint64_t t = now();
		off[i] = t > ideal ? (double)(t - ideal) : (double)(ideal - t);
	}
	close(fd);
	qsort(off, (size_t)n, sizeof *off, by_size);
	return off[(n * 99 + 99) / 100 - 1];
}

static double timer60(void) { return timer_jitter(60, 120); }
static double timer240(void) { return timer_jitter(240, 240); }

/* --- two processes -------------------------------------------------------- */

/* A duel is a ping-pong: side 0 pings and waits, side 1 waits and answers. */
struct duel {
	void (*ping)(int to);
	void (*await)(int me);
	void (*prepare)(void);
};
static const struct duel *duel;
static _Atomic uint32_t *stop;

static void rounds(uint64_t n) {
	for (uint64_t i = 0; i < n; i++) { duel->ping(1); duel->await(0); }
}

static double fight(const struct duel *d, int cpu0, int cpu1) {
	duel = d;
	memset(L, 0, LINES * sizeof *L);
	atomic_store(stop, 0);
	if (d->prepare) d->prepare();
	pid_t pid = fork();
	if (pid < 0) die("fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pin(cpu1);
		for (;;) {
			d->await(1);
			uint32_t last = atomic_load(stop);
			d->ping(0);
			if (last) _exit(0);
		}
	}
	pin(cpu0);
	rounds(300);
	double ns = repeat(rounds);
	atomic_store(stop, 1);
	rounds(1);
	waitpid(pid, 0, 0);
	return ns;
}

static void futex_ping(int to) { atomic_store(word(to), 1); futex(word(to), FUTEX_WAKE, 1); }
static void futex_await(int me) { while (!atomic_exchange(word(me), 0)) futex(word(me), FUTEX_WAIT, 0); }

static void spin_ping(int to) { atomic_store_explicit(&L[to].value, 1, memory_order_release); }
static void spin_await(int me) {
	while (!atomic_load_explicit(&L[me].value, memory_order_acquire)) __builtin_ia32_pause();
	atomic_store_explicit(&L[me].value, 0, memory_order_relaxed);
}

/* Each side waits with futex_waitv on 32 words; the last of them is rung. */
struct waitv { uint64_t val, uaddr; uint32_t flags, reserved; };
static void waitv_ping(int to) { atomic_store(word(32 * to + 31), 1); futex(word(32 * to + 31), FUTEX_WAKE, 1); }
static void waitv_await(int me) {
	while (!atomic_exchange(word(32 * me + 31), 0)) {
		struct waitv w[32];
		for (int i = 0; i < 32; i++)
			w[i] = (struct waitv){.uaddr = (uintptr_t)word(32 * me + i), .flags = 2};
		syscall(SYS_futex_waitv, w, 32, 0, 0, 0);
	}
}

static int sock[2], page;
static void sock_prepare(void) { if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sock)) die("socketpair"); }
static void sock_ping(int to) { char m[64] = {0}; if (send(sock[1 - to], m, sizeof m, 0) != sizeof m) die("send"); }
static void sock_await(int me) { char m[64]; if (recv(sock[me], m, sizeof m, 0) != sizeof m) _exit(0); }

/* One request, one descriptor, one mapping. */
static void open_prepare(void) {
	sock_prepare();
	page = (int)syscall(SYS_memfd_create, "floor", MFD_CLOEXEC);
	if (page < 0 || ftruncate(page, 4096)) die("memfd");
	char *p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
	p[0] = 1;
	munmap(p, 4096);
}
static void open_ping(int to) {
	if (to == 1) { sock_ping(1); return; }
	char m[64] = {0};
	union { char b[CMSG_SPACE(sizeof(int))]; struct cmsghdr h; } c = {0};
	struct iovec io = {m, sizeof m};
	struct msghdr h = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = c.b, .msg_controllen = sizeof c.b};
	struct cmsghdr *cm = CMSG_FIRSTHDR(&h);
	*cm = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof(int))};
	memcpy(CMSG_DATA(cm), &page, sizeof page);
	if (sendmsg(sock[1], &h, 0) != sizeof m) die("sendmsg");
}
static void open_await(int me) {
	if (me == 1) { sock_await(1); return; }
	char m[64];
	union { char b[CMSG_SPACE(sizeof(int))]; struct cmsghdr h; } c;
	struct iovec io = {m, sizeof m};
	struct msghdr h = {.msg_iov = &io, .msg_iovlen = 1, .msg_control = c.b, .msg_controllen = sizeof c.b};
	if (recvmsg(sock[0], &h, MSG_CMSG_CLOEXEC) != sizeof m) die("recvmsg");
	int fd;
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&h)), sizeof fd);
	char *p = mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED) die("mmap");
	sink = (uint64_t)*(volatile char *)p;
	munmap(p, 4096);
	close(fd);
}

/* --- the list ------------------------------------------------------------- */

static const struct duel futexes = {futex_ping, futex_await, 0};
static const struct duel spins = {spin_ping, spin_await, 0};
static const struct duel waitvs = {waitv_ping, waitv_await, 0};
static const struct duel sockets = {sock_ping, sock_await, sock_prepare};
static const struct duel opens = {open_ping, open_await, open_prepare};

static const struct floor {
	const char *name;
	void (*body)(uint64_t);
	const struct duel *duel;
	int cpu1;
	double (*whole)(void); /* measures for itself, wherever it runs */
} floors[] = {
	{"A1.load", load, 0, 0, 0},
	{"A1.signal_floor", signal_floor, 0, 0, 0},
	{"A1.chain512_one_thread_total", chain512, 0, 0, 0},
	{"A2.futex_wake_none_shared", wake_none, 0, 0, 0},
	{"A4.scan32_satisfied_last", scan32, 0, 0, 0},
	{"A10.memfd_create_trunc_mmap_touch_unmap_close", memfd_page, 0, 0, 0},
	{"A3.futex_shared_proc.same.rtt", 0, &futexes, 0, 0},
	{"A4.waitv32_proc.same.rtt", 0, &waitvs, 0, 0},
	{"A6.seqpacket_proc.same.rtt", 0, &sockets, 0, 0},
	{"A6.share_open_map_read_unmap_proc.same.rtt", 0, &opens, 0, 0},
	{"A1.spin_two_lines.diff.rtt", 0, &spins, 1, 0},
	{"A11.timerfd60.jitter.p99", 0, 0, 0, timer60},
	{"A11.timerfd240.jitter.p99", 0, 0, 0, timer240},
};
enum { FLOORS = sizeof floors / sizeof *floors };

int main(int argc, char **argv) {
	L = mmap(0, 2 * LINES * sizeof *L, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (L == MAP_FAILED) die("mmap");
	stop = (_Atomic uint32_t *)&L[LINES];
	if (argc < 2)
		for (int i = 0; i < FLOORS; i++) puts(floors[i].name);
	for (int a = 1; a < argc; a++) {
		const struct floor *f = 0;
		for (int i = 0; i < FLOORS; i++)
			if (!strcmp(argv[a], floors[i].name)) f = &floors[i];
		if (!f) { fprintf(stderr, "floors: no floor is called %s\n", argv[a]); return 2; }
		memset(L, 0, LINES * sizeof *L);
		if (!f->whole) pin(0);
		double ns = f->whole ? f->whole() : f->duel ? fight(f->duel, 0, f->cpu1) : repeat(f->body);
		printf("%s\t%.5g\tns\n", f->name, ns);
		fflush(stdout);
	}
	return 0;
}
