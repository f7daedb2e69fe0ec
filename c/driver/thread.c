/* Threads: each makes the calls it is given, one after the other. */
#define _GNU_SOURCE
#include "drive.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { max_threads = 32, max_name = 32 };

struct thread {
	char name[max_name];
	pthread_t id;
	atomic_int tid; /* 0 until it runs */
	sem_t begin;
	struct job job;
	atomic_bool ended; /* the call has answered */
	bool asked;        /* a call was begun and not answered to the asker */
};

static struct thread threads[max_threads];
static unsigned count;

static struct thread *find_thread(const char *name)
{
	for (unsigned i = 0; i < count; i++)
		if (!strcmp(threads[i].name, name))
			return &threads[i];
	return NULL;
}

static void *work(void *arg)
{
	struct thread *t = arg;
	atomic_store(&t->tid, gettid());
	for (;;) {
		while (sem_wait(&t->begin))
			;
		run_job(&t->job);
		atomic_store(&t->ended, true);
	}
	return NULL;
}

static struct thread *new_thread(const char *name)
{
	if (count == max_threads || strlen(name) >= max_name)
		return NULL;
	struct thread *t = &threads[count];
	strcpy(t->name, name);
	if (sem_init(&t->begin, 0, 0) || pthread_create(&t->id, NULL, work, t))
		return NULL;
	count++;
	return t;
}

const char *start_on(const char *name, char *text)
{
	struct thread *t = find_thread(name);
	if (!t && !(t = new_thread(name)))
		return "no more threads";
	if (t->asked)
		return "the thread is in a call";
	const char *wrong = read_job(&t->job, text);
	if (wrong)
		return wrong;
	t->asked = true;
	atomic_store(&t->ended, false);
	sem_post(&t->begin);
	puts("started");
	return NULL;
}

/* Asks the system whether a thread sleeps: the state behind the name in its stat. */
static bool sleeps(int tid)
{
	char path[64], stat[512];
	snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
	FILE *f = fopen(path, "re");
	if (!f)
		return false;
	size_t n = fread(stat, 1, sizeof stat - 1, f);
	fclose(f);
	stat[n] = 0;
	const char *end = strrchr(stat, ')');
	return end && end[1] == ' ' && end[2] == 'S';
}

/*
 * The order matters: a thread that is seen asleep and has not answered afterwards was
 * asleep inside its call.
 */
const char *state_of(const char *name)
{
	struct thread *t = find_thread(name);
	if (!t || !t->asked)
		return "the thread is in no call";
	int tid = atomic_load(&t->tid);
	bool asleep = tid && sleeps(tid);
	if (atomic_load(&t->ended)) {
		t->asked = false;
		fputs("done ", stdout);
		answer_job(&t->job);
	} else {
		puts(asleep ? "asleep" : "running");
	}
	return NULL;
}
