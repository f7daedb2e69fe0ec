/* open and its relatives, for the path /dev/dxg.
 *
 * The descriptor of an opened /dev/dxg is the socket of a session. Closing, copying,
 * passing it on and inheriting it therefore need nothing from us. O_NONBLOCK and the
 * access mode are ignored, as the device ignores them; O_CLOEXEC counts. Without a
 * daemon the path is opened as any other: there may be a real device. A daemon that
 * is at a limit is ENOMEM. */
#undef _FORTIFY_SOURCE
#include "inside.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "devdxg.h"

enum { ELSEWHERE = -2 };

/* The session's descriptor; -1 and errno; ELSEWHERE: open the path itself. */
static int device(const char *path, int flags) {
	if (likely(!dxg_is_device(path)) || flags & (O_PATH | O_DIRECTORY)) return ELSEWHERE;
	int kept = errno, state;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	int fd = dxg_open_device(flags);
	pthread_setcancelstate(state, NULL);
	if (fd < 0 && errno == ENOMEM) return -1;
	errno = kept;
	return fd < 0 ? ELSEWHERE : fd;
}

static bool has_mode(int flags) { return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE; }

#define MODE(flags, last)                              \
	mode_t mode = 0;                                   \
	if (has_mode(flags)) {                             \
		va_list rest;                                  \
		va_start(rest, last);                          \
		mode = (mode_t)va_arg(rest, unsigned);         \
		va_end(rest);                                  \
	}

#define OPEN(name, more)                                                                       \
	DXG_EXPORT int name(const char *path, int flags, ...) {                                    \
		static void *_Atomic next;                                                             \
		MODE(flags, flags)                                                                     \
		int fd = device(path, flags);                                                          \
		if (fd != ELSEWHERE) return fd;                                                        \
		int (*f)(const char *, int, ...) = (int (*)(const char *, int, ...))dxg_next(#name, &next); \
		if (f) return f(path, flags, mode);                                                    \
		return (int)syscall(SYS_openat, AT_FDCWD, path, flags | (more), mode);                 \
	}
#define OPENAT(name, more)                                                                     \
	DXG_EXPORT int name(int dir, const char *path, int flags, ...) {                           \
		static void *_Atomic next;                                                             \
		MODE(flags, flags)                                                                     \
		int fd = device(path, flags);                                                          \
		if (fd != ELSEWHERE) return fd;                                                        \
		int (*f)(int, const char *, int, ...) = (int (*)(int, const char *, int, ...))dxg_next(#name, &next); \
		if (f) return f(dir, path, flags, mode);                                               \
		return (int)syscall(SYS_openat, dir, path, flags | (more), mode);                      \
	}
#define OPEN2(name, more)                                                                      \
	DXG_EXPORT int name(const char *path, int flags) {                                         \
		static void *_Atomic next;                                                             \
		int fd = device(path, flags);                                                          \
		if (fd != ELSEWHERE) return fd;                                                        \
		int (*f)(const char *, int) = (int (*)(const char *, int))dxg_next(#name, &next);      \
		if (f) return f(path, flags);                                                          \
		return (int)syscall(SYS_openat, AT_FDCWD, path, flags | (more), 0);                    \
	}
#define OPENAT2(name, more)                                                                    \
	DXG_EXPORT int name(int dir, const char *path, int flags) {                                \
		static void *_Atomic next;                                                             \
		int fd = device(path, flags);                                                          \
		if (fd != ELSEWHERE) return fd;                                                        \
		int (*f)(int, const char *, int) = (int (*)(int, const char *, int))dxg_next(#name, &next); \
		if (f) return f(dir, path, flags);                                                     \
		return (int)syscall(SYS_openat, dir, path, flags | (more), 0);                         \
	}

OPEN(open, 0)
OPEN(open64, O_LARGEFILE)
OPENAT(openat, 0)
OPENAT(openat64, O_LARGEFILE)
OPEN2(__open_2, 0)
OPEN2(__open64_2, O_LARGEFILE)
OPENAT2(__openat_2, 0)
OPENAT2(__openat64_2, O_LARGEFILE)

#define FOPEN(name)                                                                            \
	DXG_EXPORT FILE *name(const char *path, const char *mode) {                                \
		static void *_Atomic next;                                                             \
		int fd = device(path, mode && strchr(mode, 'e') ? O_CLOEXEC : 0);                      \
		if (fd >= 0) {                                                                         \
			FILE *stream = fdopen(fd, mode);                                                   \
			if (!stream) close(fd);                                                            \
			return stream;                                                                     \
		}                                                                                      \
		if (fd != ELSEWHERE) return NULL;                                                      \
		FILE *(*f)(const char *, const char *) = (FILE * (*)(const char *, const char *))dxg_next(#name, &next); \
		if (f) return f(path, mode);                                                           \
		errno = ENOSYS;                                                                        \
		return NULL;                                                                           \
	}
FOPEN(fopen)
FOPEN(fopen64)
