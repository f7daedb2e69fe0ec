/* stat, access and their relatives, for programs that only look whether /dev/dxg is
 * there. What the file system says comes first; where it knows no such file and a
 * daemon listens, the device is a character device that everybody may read and
 * write. */
#undef _FORTIFY_SOURCE
#include "inside.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "devdxg.h"

/* Whether a failed look at path is ours to answer. */
static bool ours(const char *path) {
	if (errno != ENOENT || !dxg_is_device(path)) return false;
	int state;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	int fd = dxg_connect();
	if (fd >= 0) close(fd);
	pthread_setcancelstate(state, NULL);
	errno = ENOENT;
	return fd >= 0;
}

enum { DEVICE_MODE = S_IFCHR | 0666, MISC_MAJOR = 10, OUR_MINOR = 0x64 };

#define FILL(st)                                          \
	memset(st, 0, sizeof *(st));                          \
	(st)->st_mode = DEVICE_MODE;                          \
	(st)->st_nlink = 1;                                   \
	(st)->st_rdev = makedev(MISC_MAJOR, OUR_MINOR);       \
	(st)->st_blksize = 4096;                              \
	errno = kept;                                         \
	return 0

#define NEXT(type) ((type)dxg_next(__func__, &next))
#define MISSING (errno = ENOSYS, -1)

#define STAT(name, record)                                                    \
	DXG_EXPORT int name(const char *path, struct record *st) {                \
		static void *_Atomic next;                                            \
		int kept = errno, (*f)(const char *, struct record *) = NEXT(int (*)(const char *, struct record *)); \
		int r = f ? f(path, st) : MISSING;                                    \
		if (likely(r == 0) || !ours(path)) return r;                          \
		FILL(st);                                                             \
	}
#define XSTAT(name, record)                                                   \
	DXG_EXPORT int name(int version, const char *path, struct record *st) {   \
		static void *_Atomic next;                                            \
		int kept = errno, (*f)(int, const char *, struct record *) = NEXT(int (*)(int, const char *, struct record *)); \
		int r = f ? f(version, path, st) : MISSING;                           \
		if (likely(r == 0) || !ours(path)) return r;                          \
		FILL(st);                                                             \
	}
#define FSTATAT(name, record)                                                 \
	DXG_EXPORT int name(int dir, const char *path, struct record *st, int flags) { \
		static void *_Atomic next;                                            \
		int kept = errno, (*f)(int, const char *, struct record *, int) = NEXT(int (*)(int, const char *, struct record *, int)); \
		int r = f ? f(dir, path, st, flags) : MISSING;                        \
		if (likely(r == 0) || !ours(path)) return r;                          \
		FILL(st);                                                             \
	}
#define ACCESS(name)                                                          \
	DXG_EXPORT int name(const char *path, int mode) {                         \
		static void *_Atomic next;                                            \
		int kept = errno, (*f)(const char *, int) = NEXT(int (*)(const char *, int)); \
		int r = f ? f(path, mode) : MISSING;                                  \
		if (likely(r == 0) || !ours(path)) return r;                          \
		return looked(mode, kept);                                            \
	}

/* Everybody may read and write, nobody may execute. */
static int looked(int mode, int kept) {
	errno = mode & X_OK ? EACCES : kept;
	return mode & X_OK ? -1 : 0;
}

STAT(stat, stat)
STAT(stat64, stat64)
STAT(lstat, stat)
STAT(lstat64, stat64)
XSTAT(__xstat, stat)
XSTAT(__xstat64, stat64)
XSTAT(__lxstat, stat)
XSTAT(__lxstat64, stat64)
FSTATAT(fstatat, stat)
FSTATAT(fstatat64, stat64)
ACCESS(access)
ACCESS(eaccess)
ACCESS(euidaccess)

DXG_EXPORT int faccessat(int dir, const char *path, int mode, int flags) {
	static void *_Atomic next;
	int kept = errno, (*f)(int, const char *, int, int) = NEXT(int (*)(int, const char *, int, int));
	int r = f ? f(dir, path, mode, flags) : (int)syscall(SYS_faccessat, dir, path, mode);
	if (likely(r == 0) || !ours(path)) return r;
	return looked(mode, kept);
}

DXG_EXPORT int statx(int dir, const char *restrict path, int flags, unsigned mask, struct statx *restrict st) {
	static void *_Atomic next;
	int kept = errno, (*f)(int, const char *, int, unsigned, struct statx *) = NEXT(int (*)(int, const char *, int, unsigned, struct statx *));
	int r = f ? f(dir, path, flags, mask, st) : (int)syscall(SYS_statx, dir, path, flags, mask, st);
	if (likely(r == 0) || !ours(path)) return r;
	memset(st, 0, sizeof *st);
	st->stx_mask = STATX_TYPE | STATX_MODE | STATX_NLINK | STATX_UID | STATX_GID | STATX_SIZE;
	st->stx_mode = DEVICE_MODE;
	st->stx_nlink = 1;
	st->stx_blksize = 4096;
	st->stx_rdev_major = MISC_MAJOR;
	st->stx_rdev_minor = OUR_MINOR;
	errno = kept;
	return 0;
}
