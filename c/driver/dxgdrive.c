/* The driver's main loop: one line in, one line out. */
#define _GNU_SOURCE
#include "drive.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* Descriptors come and go through a SOCK_SEQPACKET socket with this number. */
enum { channel = 3 };

static const char *print_fd(int fd)
{
	if (fd < 0)
		return strerror(errno);
	printf("%d\n", fd);
	return NULL;
}

static const char *make_file(const char *kind)
{
	int ends[2];
	if (!strcmp(kind, "event"))
		return print_fd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (!strcmp(kind, "memory"))
		return print_fd(memfd_create("dxgdrive", MFD_CLOEXEC));
	if (!strcmp(kind, "null"))
		return print_fd(open("/dev/null", O_RDWR | O_CLOEXEC));
	if (strcmp(kind, "pipe"))
		return "a file is event, pipe, memory or null";
	if (pipe2(ends, O_CLOEXEC))
		return strerror(errno);
	close(ends[0]);
	return print_fd(ends[1]);
}

static const char *send_fd(int fd)
{
	char byte = 0;
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof fd);
	if (sendmsg(channel, &m, 0) != 1)
		return strerror(errno);
	puts("ok");
	return NULL;
}

static const char *receive_fd(void)
{
	char byte;
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
	if (recvmsg(channel, &m, MSG_CMSG_CLOEXEC) != 1)
		return "nothing came";
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return "no descriptor came";
	int fd;
	memcpy(&fd, CMSG_DATA(c), sizeof fd);
	return print_fd(fd);
}

static const char *print_ready(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	if (poll(&p, 1, 0) < 0)
		return strerror(errno);
	puts(p.revents & POLLIN ? "1" : "0");
	return NULL;
}

static const char *take_count(int fd)
{
	uint64_t count = 0;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	if (poll(&p, 1, 0) == 1 && p.revents & POLLIN && read(fd, &count, sizeof count) != sizeof count)
		return strerror(errno);
	printf("%llu\n", (unsigned long long)count);
	return NULL;
}

static sigjmp_buf fault;

static void faulted(int sig)
{
	(void)sig;
	siglongjmp(fault, 1);
}

/* Reads or writes the 64-bit word at an address; a fault is an answer. */
static const char *touch(uint64_t address, bool write)
{
	volatile uint64_t *word = (volatile uint64_t *)(uintptr_t)address;
	struct sigaction on = {.sa_handler = faulted}, segv, bus;
	sigaction(SIGSEGV, &on, &segv);
	sigaction(SIGBUS, &on, &bus);
	if (sigsetjmp(fault, 1)) {
		puts("faults");
	} else if (write) {
		*word = *word;
		puts("written");
	} else {
		uint64_t value = *word;
		printf("%llu\n", (unsigned long long)value);
	}
	sigaction(SIGSEGV, &segv, NULL);
	sigaction(SIGBUS, &bus, NULL);
	return NULL;
}

/* Writes bytes at an address: "ADDRESS @HEX". A fault is an answer. */
static const char *write_bytes(char *rest)
{
	char *hex;
	unsigned char *target = (unsigned char *)(uintptr_t)strtoull(rest, &hex, 0);
	if (hex[0] != ' ' || hex[1] != '@')
		return "write wants an address and @HEX";
	struct memory m = {0};
	const char *wrong = read_bytes(&m, hex + 2);
	struct sigaction on = {.sa_handler = faulted}, segv, bus;
	sigaction(SIGSEGV, &on, &segv);
	sigaction(SIGBUS, &on, &bus);
	if (wrong) {
		/* nothing is written */
	} else if (sigsetjmp(fault, 1)) {
		puts("faults");
	} else {
		memcpy(target, m.data, m.size);
		puts("written");
	}
	sigaction(SIGSEGV, &segv, NULL);
	sigaction(SIGBUS, &bus, NULL);
	free(m.data);
	free(m.before);
	return wrong;
}

static const char *make_call(char *text)
{
	static struct job j;
	const char *wrong = read_job(&j, text);
	if (wrong)
		return wrong;
	run_job(&j);
	answer_job(&j);
	return NULL;
}

/* Does one command. Returns what is wrong with it, or NULL when it has answered. */
static const char *command(char *line)
{
	char *rest = line + strcspn(line, " ");
	if (*rest)
		*rest++ = 0;
	int fd = atoi(rest);
	if (!strcmp(line, "call"))
		return make_call(rest);
	if (!strcmp(line, "start")) {
		char *text = rest + strcspn(rest, " ");
		if (*text)
			*text++ = 0;
		return start_on(rest, text);
	}
	if (!strcmp(line, "state"))
		return state_of(rest);
	if (!strcmp(line, "file"))
		return make_file(rest);
	if (!strcmp(line, "dup"))
		return print_fd(fcntl(fd, F_DUPFD_CLOEXEC, 0));
	if (!strcmp(line, "close")) {
		if (close(fd))
			return strerror(errno);
		puts("ok");
		return NULL;
	}
	if (!strcmp(line, "send"))
		return send_fd(fd);
	if (!strcmp(line, "receive"))
		return receive_fd();
	if (!strcmp(line, "ready"))
		return print_ready(fd);
	if (!strcmp(line, "take"))
		return take_count(fd);
	if (!strcmp(line, "peek"))
		return touch(strtoull(rest, NULL, 0), false);
	if (!strcmp(line, "poke"))
		return touch(strtoull(rest, NULL, 0), true);
	if (!strcmp(line, "write"))
		return write_bytes(rest);
	if (!strcmp(line, "exit"))
		exit(0);
	return "no such command";
}

int main(void)
{
	char *line = NULL;
	size_t room = 0;
	while (getline(&line, &room, stdin) > 0) {
		line[strcspn(line, "\n")] = 0;
		const char *wrong = command(line);
		if (wrong)
			printf("error %s\n", wrong);
		fflush(stdout);
	}
	free(line);
	return 0;
}
