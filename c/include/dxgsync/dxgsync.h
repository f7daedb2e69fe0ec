/* SPDX-License-Identifier: MIT
 *
 * What libdxg offers beyond the D3DKMT functions. Functions here may change with
 * the next version of the library; the D3DKMT functions may not.
 */
#ifndef DXGSYNC_DXGSYNC_H
#define DXGSYNC_DXGSYNC_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Status of a wait that dxgsync_cancel_wait ended: STATUS_CANCELLED. */
#define DXGSYNC_STATUS_CANCELLED 0xC0000120u

/* A number that stands for the calling thread as long as it lives. Never 0, except
 * when there is no memory. Numbers are not used twice in a process. */
uint64_t dxgsync_wait_token(void);

/* End the blocking D3DKMTWaitForSynchronizationObjectFromCpu in which the thread of
 * this token is, or the next one that would block: it returns STATUS_CANCELLED. A
 * wait that is satisfied at the same moment may return STATUS_SUCCESS; the thread's
 * next blocking wait is then the one that ends. Asking twice is asking once.
 *
 * Returns 1, or 0 if no living thread of this process that ever called the library
 * has this token. May be called from any thread. */
int dxgsync_cancel_wait(uint64_t token);

/* Take an unused request of dxgsync_cancel_wait for the calling thread back. Returns
 * 1 if there was one, else 0. */
int dxgsync_forget_cancel(void);

#ifdef __cplusplus
}
#endif

#endif
