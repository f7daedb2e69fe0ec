/* Memory of the program that may not be there: copied by the system, which says so
 * instead of faulting. Where that is not allowed, every page is looked at first. Then
 * a page that goes between the look and the copy still faults, and so does writing to
 * one that can only be read. */
#include "inside.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 1 << DXG_PAGE_SHIFT };

/* 1: copied; 0: it cannot be; -1: the system does not allow it. */
static int move(long call, void *ours, const void *theirs, size_t n) {
	int kept = errno;
	struct iovec local = {ours, n}, remote = {(void *)(uintptr_t)theirs, n};
	ssize_t r = syscall(call, getpid(), &local, 1UL, &remote, 1UL, 0UL);
	int result = r == (ssize_t)n ? 1 : r >= 0 || errno == EFAULT ? 0 : -1;
	errno = kept;
	return result;
}

static bool there(uintptr_t first, size_t n) {
	uintptr_t last = first + n - 1;
	if (last < first) return false;
	for (uintptr_t at = first; at - first < n; at = (at | (PAGE - 1)) + 1)
		if (!dxg_probe(at)) return false;
	return true;
}

bool dxg_fetch(void *to, const void *from, size_t n) {
	if (n == 0) return true;
	int moved = move(SYS_process_vm_readv, to, from, n);
	if (moved >= 0) return moved;
	if (!there((uintptr_t)from, n)) return false;
	memcpy(to, from, n);
	return true;
}

bool dxg_put(void *to, const void *from, size_t n) {
	if (n == 0) return true;
	int moved = move(SYS_process_vm_writev, (void *)(uintptr_t)from, to, n);
	if (moved >= 0) return moved;
	if (!there((uintptr_t)to, n)) return false;
	memcpy(to, from, n);
	return true;
}
