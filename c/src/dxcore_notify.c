/* Notifications: callbacks when a list or an adapter stops to be current.
 *
 * One thread of the library, begun with the first registration, makes all callbacks,
 * one at a time, without a lock. It looks at every registration when one is added and
 * when an image ends. A registration keeps its object alive and is freed by whoever
 * ends it: Unregister, after the callback it may be in, or the thread if that was
 * asked for from the callback itself. */
#include "dxcore.h"

#include <signal.h>
#include <stdlib.h>

struct dxcore_watch {
	uint32_t cookie, type;
	IUnknown *object;
	PFN_DXCORE_NOTIFICATION_CALLBACK callback;
	void *context;
	bool told;                 /* its one callback has been made */
	bool over;                 /* ended from its callback: the thread frees it */
	struct dxcore_watch *next; /* in dxg_root.dxcore.watches, by cookie */
};

bool dxcore_notifies(uint32_t type) {
	return type == DXCoreNotificationType_AdapterListStale || type == DXCoreNotificationType_AdapterNoLongerValid;
}

static void drop(struct dxcore_watch *w) {
	IUnknown_Release(w->object);
	free(w);
}

static bool has_happened(const struct dxcore_watch *w) {
	struct dxcore_adapter *a = dxcore_adapter_of(w->object);
	return a ? !dxcore_current(a->kernel, &a->gone) : dxcore_list_stale(dxcore_list_of(w->object));
}

static struct dxcore_watch *untold_after(struct dxcore_state *d, uint32_t cookie) {
	struct dxcore_watch *w = d->watches;
	while (w && (w->told || w->cookie <= cookie)) w = w->next;
	return w;
}

static void *notify(void *arg) {
	struct dxcore_state *d = dxcore_lock();
	(void)arg;
	for (;;) {
		while (!d->changed) pthread_cond_wait(&d->change, &d->lock);
		d->changed = false;
		for (struct dxcore_watch *w = untold_after(d, 0); w;) {
			uint32_t cookie = w->cookie;
			d->calling = w;
			dxcore_unlock(d);
			bool tell = has_happened(w);
			if (tell) w->callback((DXCoreNotificationType)w->type, w->object, w->context);
			dxcore_lock();
			w->told = tell;
			d->calling = NULL;
			pthread_cond_broadcast(&d->change);
			if (w->over) {
				dxcore_unlock(d);
				drop(w);
				dxcore_lock();
			}
			w = untold_after(d, cookie);
		}
	}
	return NULL;
}

/* The lock is held. */
static bool begin(struct dxcore_state *d) {
	sigset_t every, before;
	pthread_attr_t attr;
	if (d->notifier) return true;
	sigfillset(&every);
	pthread_sigmask(SIG_SETMASK, &every, &before);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	d->notifier = !pthread_create(&d->thread, &attr, notify, NULL);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return d->notifier;
}

static void look(struct dxcore_state *d) {
	d->changed = true;
	pthread_cond_broadcast(&d->change);
}

void dxcore_image_ended(void) {
	struct dxcore_state *d = dxcore_lock();
	look(d);
	dxcore_unlock(d);
}

HRESULT dxcore_watch_add(IUnknown *object, uint32_t type, PFN_DXCORE_NOTIFICATION_CALLBACK callback, void *context, uint32_t *cookie) {
	if (cookie) *cookie = 0;
	if (!dxcore_notifies(type)) return DXGI_ERROR_INVALID_CALL;
	if (!callback || !cookie) return E_POINTER;
	bool list = type == DXCoreNotificationType_AdapterListStale;
	if (!object || !(list ? (void *)dxcore_list_of(object) : (void *)dxcore_adapter_of(object))) return E_INVALIDARG;
	struct dxcore_watch *w = calloc(1, sizeof *w);
	if (!w) return E_OUTOFMEMORY;
	*w = (struct dxcore_watch){.type = type, .object = object, .callback = callback, .context = context};
	IUnknown_AddRef(object);
	struct dxcore_state *d = dxcore_lock();
	bool begun = begin(d);
	if (begun) {
		struct dxcore_watch **end = &d->watches;
		while (*end) end = &(*end)->next;
		*cookie = w->cookie = ++d->cookie;
		*end = w;
		look(d);
	}
	dxcore_unlock(d);
	if (begun) return S_OK;
	drop(w);
	return E_OUTOFMEMORY;
}

HRESULT dxcore_watch_end(uint32_t cookie) {
	struct dxcore_calm calm = dxcore_enter();
	struct dxcore_state *d = dxcore_lock();
	struct dxcore_watch **at = &d->watches;
	while (*at && (*at)->cookie != cookie) at = &(*at)->next;
	struct dxcore_watch *w = *at;
	if (w) *at = w->next;
	if (w && d->calling == w) {
		w->over = pthread_equal(d->thread, pthread_self());
		while (!w->over && d->calling == w) pthread_cond_wait(&d->change, &d->lock);
	}
	bool ours = w && !w->over;
	dxcore_unlock(d);
	if (ours) drop(w);
	dxcore_leave(calm);
	return w ? S_OK : E_INVALIDARG;
}
