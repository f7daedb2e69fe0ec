/* ioctl on a descriptor of /dev/dxg.
 *
 * Recognised when the request has the letter 'G' and a number of the device, and the
 * descriptor is the socket of a session of this process. Everything else goes on: a
 * socket of another process, or of our parent's, answers ENOTTY by nature. So does a
 * request whose size is not the one of its number.
 *
 * The kernel's conventions: a status that is no failure is the result as it is, a
 * failure is -1 with errno; strings have 16-bit characters; memory that cannot be
 * read or written is EFAULT. A blocking wait goes on after a signal handler has run. */
#undef _FORTIFY_SOURCE
#include "inside.h"

#include <errno.h>
#include <linux/ioctl.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "devdxg.h"
#include "records.h"

enum { LETTER = 'G' };

/* Failures as the Linux guest driver turns them into errno; all others are EINVAL. */
static const struct {
	uint32_t status;
	int error;
} errors[] = {
	{0xC0000035, EEXIST},      /* OBJECT_NAME_COLLISION */
	{ST_NO_MEMORY, ENOMEM},
	{0xC0000033, ENOENT},      /* OBJECT_NAME_INVALID */
	{0xC0000034, ENOENT},      /* OBJECT_NAME_NOT_FOUND */
	{0xC0000023, EOVERFLOW},   /* BUFFER_TOO_SMALL */
	{ST_DEVICE_REMOVED, ENODEV},
	{0xC0000022, EACCES},      /* ACCESS_DENIED */
	{ST_NOT_SUPPORTED, EPERM},
	{ST_NOT_IMPLEMENTED, EPERM},
	{0xC000001D, EOPNOTSUPP},  /* ILLEGAL_INSTRUCTION */
	{ST_INVALID_HANDLE, EBADF},
	{0xC01E0102, EINPROGRESS}, /* GRAPHICS_ALLOCATION_BUSY */
	{ST_OBJECT_TYPE_MISMATCH, EPROTOTYPE},
	{ST_ACCESS_VIOLATION, EFAULT},
};

/* A request that takes a descriptor says EINVAL to one of the wrong kind. */
static int error_of(const struct dxg_op *op, uint32_t st) {
	for (int i = 0; i < op->files; i++)
		if (op->file[i].dir != DXG_OUT && (st == ST_INVALID_HANDLE || st == ST_OBJECT_TYPE_MISMATCH)) return EINVAL;
	for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
		if (errors[i].status == st) return errors[i].error;
	return EINVAL;
}

/* The fast paths and blocking waits read the arrays themselves: from copies. */
struct arrays {
	uint32_t handle[DXG_POINTS_MAX];
	uint64_t value[DXG_POINTS_MAX];
};

static bool copy_arrays(struct arrays *c, struct dxg_points *p) {
	if (p->count - 1 >= DXG_POINTS_MAX || !p->handles || !p->values) return true; /* the kernel refuses or judges them */
	if (!dxg_fetch(c->handle, p->handles, p->count * sizeof c->handle[0]) || !dxg_fetch(c->value, p->values, p->count * sizeof c->value[0])) return false;
	p->handles = c->handle;
	p->values = c->value;
	return true;
}

static uint32_t run(struct dxg_session *s, const struct dxg_op *op, void *record) {
	struct arrays copy;
	uint32_t st;
	if (op->nr == OP_SIGNAL_FROM_CPU) {
		struct signal_from_cpu *a = record;
		struct dxg_points p = {a->device, a->count, a->flags, a->handles, a->values};
		if (!copy_arrays(&copy, &p)) return ST_ACCESS_VIOLATION;
		if (dxg_signal_fast(&p, s, &st)) return st;
	}
	if (op->nr == OP_WAIT_FROM_CPU) {
		struct wait_from_cpu *a = record;
		struct dxg_points p = {a->device, a->count, a->flags, a->handles, a->values};
		if (!a->event) {
			if (!copy_arrays(&copy, &p)) return ST_ACCESS_VIOLATION;
			if (dxg_wait_fast(&p)) return ST_SUCCESS;
			return dxg_wait(s, &p, record);
		}
	}
	return dxg_run(s, op, record);
}

static int request(struct dxg_session *s, const struct dxg_op *op, void *argument) {
	_Alignas(16) unsigned char record[DXG_RECORD_MAX];
	int kept = errno, state;
	if (op->support == DXG_NOT_IMPLEMENTED || op->support != DXG_SUPPORTED || op->size > sizeof record) {
		errno = error_of(op, op->support == DXG_NOT_IMPLEMENTED ? ST_NOT_IMPLEMENTED : ST_NOT_SUPPORTED);
		return -1;
	}
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	uint32_t st = dxg_fetch(record, argument, op->size) ? run(s, op, record) : ST_ACCESS_VIOLATION;
	for (int i = 0; ST_OK(st) && i < op->outs; i++)
		if (!dxg_put((char *)argument + op->out[i].off, record + op->out[i].off, op->out[i].len)) st = ST_ACCESS_VIOLATION;
	pthread_setcancelstate(state, NULL);
	errno = ST_OK(st) ? kept : error_of(op, st);
	return ST_OK(st) ? (int)st : -1;
}

DXG_EXPORT int ioctl(int fd, unsigned long code, ...) {
	static void *_Atomic next;
	va_list rest;
	va_start(rest, code);
	void *argument = va_arg(rest, void *);
	va_end(rest);
	if (unlikely(_IOC_TYPE(code) == LETTER && _IOC_NR(code) >= 1 && _IOC_NR(code) <= OP_PUBLIC_LAST)) {
		int kept = errno;
		struct dxg_session *s = dxg_session_of(fd);
		errno = kept;
		const struct dxg_op *op = dxg_op((uint16_t)_IOC_NR(code));
		if (s && op && op->request == (uint32_t)code) {
			int before = dxg_ioctl_fd; /* of the call that a signal handler interrupts */
			dxg_ioctl_fd = fd;
			int r = request(s, op, argument);
			dxg_ioctl_fd = before;
			return r;
		}
		if (s) {
			errno = ENOTTY;
			return -1;
		}
	}
	int (*f)(int, unsigned long, ...) = (int (*)(int, unsigned long, ...))dxg_next("ioctl", &next);
	if (f) return f(fd, code, argument);
	return (int)syscall(SYS_ioctl, fd, code, argument);
}
