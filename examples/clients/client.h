/* What the programs of this folder share. Each follows a published client of the D3DKMT
 * calls from its first call to its first satisfied wait, with that client's own
 * insistence: a line for each step, and the end at the first that is not as it must be. */
#ifndef CLIENT_H
#define CLIENT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <dxg/d3dkmthk.h>
#include <dxgsync/softgpu.h>

#define SUCCESS       0x00000000u
#define PENDING       0x00000103u
#define DEVICE_REMOVED 0xC00002B6u

enum { PAGE = 4096 };

/* The functions that a client looks up by name. Its NAMES(X) lists them. */
#define CLIENT_POINTER(name) __typeof__(&D3DKMT##name) name;
#define CLIENT_LOAD(name) api.name = (__typeof__(&D3DKMT##name))look_up(library, "D3DKMT" #name);

static inline void *look_up(void *library, const char *name) {
	void *f = dlsym(library, name);
	if (f) return f;
	fprintf(stderr, "%s is missing\n", name);
	exit(1);
}

static inline void *load_library(void) {
	void *library = dlopen("libdxcore.so", RTLD_NOW | RTLD_LOCAL);
	if (library) return library;
	fprintf(stderr, "%s\n", dlerror());
	exit(1);
}

static inline uint32_t step(const char *what, uint32_t st, bool good) {
	printf("%-40s 0x%08x%s\n", what, st, good ? "" : "  which will not do");
	fflush(stdout);
	if (!good) exit(1);
	return st;
}

/* A call that must succeed; one that may also be pending; one whose failure is put up
 * with. */
#define MUST(what, call) must(what, (uint32_t)(call))
#define MAY_PEND(what, call) may_pend(what, (uint32_t)(call))
#define TRY(what, call) step(what, (uint32_t)(call), true)
static inline void must(const char *what, uint32_t st) { step(what, st, st == SUCCESS); }
static inline uint32_t may_pend(const char *what, uint32_t st) { return step(what, st, st == SUCCESS || st == PENDING); }

static inline void insist(const char *what, bool so) {
	if (so) return;
	printf("%-40s is not so\n", what);
	exit(1);
}

#define EMPTY(type) ((type){0})

static inline int64_t nanoseconds(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Memory of so many bytes as the GPU's driver wants to have it described. */
struct driver_data {
	char name[4];
	uint32_t version;
	uint64_t size;
};
static inline struct driver_data describe(uint64_t size) { return (struct driver_data){{'h', 'e', 'a', 'p'}, 1, size}; }

#endif
