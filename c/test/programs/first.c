/* A thread that is to be cancelled is not cancelled inside the first call of the
 * process, which holds what all others need. */
#include "check.h"

#include <pthread.h>

static void *condemned(void *unused) {
	int state;
	(void)unused;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_cancel(pthread_self());
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	errno = EDOM;
	STATUS(signal_fence(1, 64, 1), INVALID_PARAMETER);
	EQUAL(errno, EDOM);
	pthread_testcancel();
	return NULL;
}

int main(void) {
	pthread_t t;
	void *end;
	CHECK(pthread_create(&t, NULL, condemned, NULL) == 0);
	CHECK(pthread_join(t, &end) == 0);
	CHECK(end == PTHREAD_CANCELED);
	D3DKMT_HANDLE d = open_device();
	OK(signal_fence(d, make_fence(d, PRIVATE, 0, NULL), 1));
	return 0;
}
