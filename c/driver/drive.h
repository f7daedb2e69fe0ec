/*
 * The conformance driver: makes D3DKMT calls that it is told on its standard input.
 * docs/conformance.md describes the line protocol.
 */
#ifndef DXGDRIVE_DRIVE_H
#define DXGDRIVE_DRIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A member of a record, or a pointer in it. Written by the generator. */
struct field {
	const char *name;
	unsigned short offset, size;
	bool pointer;
};

/* A call: how to make it, and its record. */
struct call {
	const char *name;
	int32_t (*make)(void *record);
	unsigned short size, fields;
	const struct field *field;
};

enum { max_record = 1024 };

/*
 * Memory that a pointer leads to, and how it was before the call. Its path is the
 * field of the record, then "@OFFSET" for each pointer in memory on the way.
 */
struct memory {
	char *path;
	unsigned char *data, *before; /* NULL: a bad pointer */
	size_t size;
};

/* A call with its arguments. */
struct job {
	const struct call *call;
	bool null; /* pass NULL, not the record */
	_Alignas(8) unsigned char record[max_record], before[max_record];
	struct memory *memory; /* what is pointed to from memory comes after that */
	unsigned memories;
	int32_t status;
};

/* Finds a call by its name without D3DKMT, NULL if there is none. */
const struct call *find_call(const char *name);

/*
 * Reads hexadecimal bytes into memory that the caller frees. NULL, or what is wrong
 * with them.
 */
const char *read_bytes(struct memory *m, const char *hex);

/* Reads "CALL ARGUMENTS" into j. NULL, or what is wrong with the text. */
const char *read_job(struct job *j, char *text);

/* Makes the call and keeps its status. */
void run_job(struct job *j);

/* Prints "0xSTATUS CHANGE…" and a newline, and frees the memory. */
void answer_job(struct job *j);

/* Frees the memory of a job. */
void free_job(struct job *j);

/* Threads by name. Each returns NULL or what is wrong. */
const char *start_on(const char *thread, char *text);
const char *state_of(const char *thread);

#endif
