/* When this process has no descriptor numbers or no address space left, calls say
 * NO_MEMORY and nothing is half-made: with room again, everything works. */
#include "check.h"

#include <fcntl.h>
#include <sys/resource.h>

#define NO_MEMORY 0xC0000017u

static NTSTATUS try_fence(D3DKMT_HANDLE device, unsigned flags, D3DKMT_HANDLE *fence) {
	D3DKMT_CREATESYNCHRONIZATIONOBJECT2 c = {.hDevice = device};
	c.Info.Type = D3DDDI_MONITORED_FENCE;
	c.Info.Flags.Value = flags;
	NTSTATUS st = D3DKMTCreateSynchronizationObject2(&c);
	*fence = c.hSyncObject;
	return st;
}

static void no_descriptors(D3DKMT_HANDLE d, D3DKMT_HANDLE shared) {
	enum { MOST = 4096 };
	static int fd[MOST];
	int n = 0;
	D3DKMT_HANDLE f;
	HANDLE nt = NULL;
	struct rlimit old, low;
	CHECK(getrlimit(RLIMIT_NOFILE, &old) == 0);
	low = (struct rlimit){old.rlim_cur < 256 ? old.rlim_cur : 256, old.rlim_max};
	CHECK(setrlimit(RLIMIT_NOFILE, &low) == 0);
	while (n < MOST && (fd[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0) n++;
	EQUAL(errno, EMFILE);
	STATUS(try_fence(d, PRIVATE, &f), NO_MEMORY);
	STATUS(try_fence(d, SHARED, &f), NO_MEMORY);
	EQUAL(f, 0); /* untouched */
	STATUS(D3DKMTShareObjects(1, &shared, NULL, ALL_ACCESS, &nt), NO_MEMORY);
	EQUAL((intptr_t)nt, 0);
	OK(signal_fence(d, shared, 5));
	OK(rewind_fence(d, shared, 4));
	while (n > 0) close(fd[--n]);
	CHECK(setrlimit(RLIMIT_NOFILE, &old) == 0);
	OK(try_fence(d, PRIVATE, &f));
	OK(signal_fence(d, f, 1));
	OK(destroy_fence(f));
	close(share_fence(shared, ALL_ACCESS));
}

static void no_address_space(D3DKMT_HANDLE d) {
	enum { MOST = 20000 };
	static D3DKMT_HANDLE f[MOST];
	struct rlimit old, low = {0, 0};
	unsigned long pages = 0;
	FILE *statm = fopen("/proc/self/statm", "r");
	CHECK(statm && fscanf(statm, "%lu", &pages) == 1);
	fclose(statm);
	CHECK(getrlimit(RLIMIT_AS, &old) == 0);
	low = (struct rlimit){pages * 4096 + (1 << 20), old.rlim_max};
	CHECK(setrlimit(RLIMIT_AS, &low) == 0);
	int n = 0;
	NTSTATUS st;
	while ((st = try_fence(d, SHARED, &f[n])) == 0) CHECK(++n < MOST);
	STATUS(st, NO_MEMORY);
	CHECK(n > 10);
	OK(signal_fence(d, f[n - 1], 1));
	CHECK(setrlimit(RLIMIT_AS, &old) == 0);
	OK(try_fence(d, SHARED, &f[n]));
	for (int i = 0; i <= n; i++) OK(destroy_fence(f[i]));
	STATUS(destroy_fence(f[0]), INVALID_PARAMETER);
}

int main(void) {
	D3DKMT_HANDLE d = open_device();
	D3DKMT_HANDLE shared = make_fence(d, SHARED, 0, NULL);
	no_descriptors(d, shared);
	no_address_space(d);
	return 0;
}
