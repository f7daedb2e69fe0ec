/* Whether the arrays of a signal or a wait can be read: what is decided in memory
 * answers to a bad pointer what a request would. And whether memory can be written
 * that this library is about to write itself.
 *
 * Nearly every caller has its arrays on its stack, which is there as long as the
 * thread is: known at once, from the lowest page where we were called. Elsewhere
 * the system is asked, once for each page, and the answer remembered: a page that is
 * unmapped after that still faults. The arrays have memories of their own, so that
 * a caller with two fixed addresses never asks again. */
#include "inside.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WORD = 8, PAGE = 1 << DXG_PAGE_SHIFT };

void dxg_arrays_begin(struct dxg_thread *t) {
	pthread_attr_t attr;
	void *low;
	size_t size;
	int kept = errno;
	memset(t->page, 0xFF, sizeof t->page); /* no page */
	t->stack = t->stack_words = t->stack_low = t->stack_top = 0;
	if (!pthread_getattr_np(pthread_self(), &attr)) {
		if (!pthread_attr_getstack(&attr, &low, &size)) {
			t->stack_low = (uintptr_t)low;
			t->stack_top = (uintptr_t)low + size;
		}
		pthread_attr_destroy(&attr);
	}
	errno = kept;
}

/* The stack from the caller's page upwards has been used, so it is there. Nothing is
 * learned on another stack than the thread's own, such as a signal handler's. */
static void learn_stack(struct dxg_thread *t) {
	uintptr_t here = (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)(PAGE - 1);
	if (here < t->stack_low || here >= t->stack_top || (t->stack_words && here >= t->stack)) return;
	t->stack = here;
	t->stack_words = t->stack_top - here - (WORD - 1);
}

/* The system reads a set of signals before it finds that nothing can be done with it.
 * Unlike process_vm_readv this is never forbidden. No set at all is no mistake to it. */
bool dxg_probe(uintptr_t at) {
	if (at < WORD) return false;
	int kept = errno;
	bool good = syscall(SYS_rt_sigprocmask, -1, at & ~(uintptr_t)(WORD - 1), NULL, _NSIG / 8) == 0 || errno != EFAULT;
	errno = kept;
	return good;
}

static bool readable(struct dxg_thread *t, int which, uintptr_t at) {
	if (dxg_on_stack(t, at) || dxg_page_known(t, which, at)) return true;
	if (!dxg_probe(at)) return false;
	t->page[which][(at >> DXG_PAGE_SHIFT) % DXG_PAGES] = at >> DXG_PAGE_SHIFT;
	return true;
}

bool dxg_readable(struct dxg_thread *t, int which, const void *p, size_t n) {
	uintptr_t first = (uintptr_t)p, last = first + n - 1;
	learn_stack(t);
	return last >= first && readable(t, which, first) && readable(t, which, last);
}

/* The system adds 0 to a word there, which changes nothing but takes a page that can
 * be written. */
static bool probe_write(uintptr_t at) {
	uint32_t nobody = 0;
	return syscall(SYS_futex, &nobody, FUTEX_WAKE_OP | FUTEX_PRIVATE_FLAG, 0, NULL, at & ~(uintptr_t)3, FUTEX_OP(FUTEX_OP_ADD, 0, FUTEX_OP_CMP_EQ, 0)) >= 0 || errno != EFAULT;
}

bool dxg_writable(const void *p, size_t n) {
	uintptr_t first = (uintptr_t)p, last = first + n - 1;
	int kept = errno;
	bool good = last >= first && probe_write(first);
	for (uintptr_t at = (first | (PAGE - 1)) + 1; good && at && at <= last; at += PAGE) good = probe_write(at);
	errno = kept;
	return good;
}
