/* The functions behind ours. */
#include "inside.h"

#include <dlfcn.h>

#include "devdxg.h"

/* dlsym may open files itself, and so call us: those calls go to the system. */
static __thread bool looking __attribute__((tls_model("initial-exec")));

void *dxg_next(const char *name, void *_Atomic *known) {
	void *f = atomic_load_explicit(known, memory_order_acquire);
	if (likely(f != NULL) || looking) return f;
	looking = true;
	f = dlsym(RTLD_NEXT, name);
	looking = false;
	if (f) atomic_store_explicit(known, f, memory_order_release);
	return f;
}
