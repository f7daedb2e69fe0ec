/* Ending a blocked wait from outside: include/dxgsync/dxgsync.h. */
#include "inside.h"

DXG_EXPORT uint64_t dxgsync_wait_token(void) {
	struct dxg_thread *t = dxg_thread();
	return t ? atomic_load(&t->identity) >> 1 : 0;
}

DXG_EXPORT int dxgsync_cancel_wait(uint64_t token) { return dxg_cancel_thread(token); }

DXG_EXPORT int dxgsync_forget_cancel(void) {
	struct dxg_thread *t = dxg_thread();
	return t && dxg_cancelled(t);
}
