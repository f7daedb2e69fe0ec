/* Jobs: a call with its arguments, from text and back to text. */
#define _GNU_SOURCE
#include "drive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A page that can be neither read nor written, for pointers that are bad. */
static void *bad_page(void)
{
	static void *page;
	if (!page) {
		page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (page == MAP_FAILED)
			abort();
	}
	return page;
}

static const struct field *find_field(const struct call *c, const char *name)
{
	for (unsigned i = 0; i < c->fields; i++)
		if (!strcmp(c->field[i].name, name))
			return &c->field[i];
	return NULL;
}

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

static struct memory *find_memory(struct job *j, const char *path, size_t n)
{
	for (unsigned i = 0; i < j->memories; i++)
		if (strlen(j->memory[i].path) == n && !memcmp(j->memory[i].path, path, n))
			return &j->memory[i];
	return NULL;
}

/* Adds memory without bytes. NULL: no room. */
static struct memory *new_memory(struct job *j, const char *path)
{
	struct memory *all = realloc(j->memory, (j->memories + 1) * sizeof *all);
	if (!all)
		return NULL;
	j->memory = all;
	struct memory *m = &all[j->memories];
	*m = (struct memory){.path = strdup(path)};
	if (!m->path)
		return NULL;
	j->memories++;
	return m;
}

const char *read_bytes(struct memory *m, const char *hex)
{
	size_t n = strlen(hex) / 2;
	if (strlen(hex) % 2)
		return "half a byte";
	m->size = n;
	m->data = malloc(n + 1); /* its end is its own, too */
	m->before = malloc(n + 1);
	if (!m->data || !m->before)
		return "no memory";
	for (size_t i = 0; i < n; i++) {
		int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);
		if (high < 0 || low < 0)
			return "a byte is not two of 0-9 a-f";
		m->data[i] = (unsigned char)(high << 4 | low);
	}
	return NULL;
}

/* Finds the 64-bit word at the end of a path: a field, or a place in memory. */
static const char *find_pointer(struct job *j, const char *path, unsigned char **word)
{
	const char *last = strrchr(path, '@');
	if (!last) {
		const struct field *f = find_field(j->call, path);
		if (!f || !f->pointer)
			return f ? "a value is no number" : "no such field";
		*word = j->record + f->offset;
		return NULL;
	}
	char *end;
	unsigned long offset = strtoul(last + 1, &end, 10);
	const struct memory *m = find_memory(j, path, (size_t)(last - path));
	if (*end || end == last + 1 || !m || !m->data || m->size < 8 || offset > m->size - 8)
		return "no such place in memory";
	*word = m->data + offset;
	return NULL;
}

/* Reads what a pointer leads to: PATH=@HEX or PATH=bad. */
static const char *read_pointer(struct job *j, const char *path, const char *value)
{
	unsigned char *word;
	const char *wrong = find_pointer(j, path, &word);
	struct memory *m = wrong ? NULL : new_memory(j, path);
	if (wrong || !m)
		return wrong ? wrong : "no memory";
	void *target = bad_page();
	if (strcmp(value, "bad")) {
		wrong = read_bytes(m, value + 1);
		target = m->data;
	}
	uint64_t v = (uint64_t)(uintptr_t)target;
	memcpy(word, &v, sizeof v);
	return wrong;
}

/* Reads NAME=NUMBER, PATH=@HEX, PATH=bad or fill=BYTE. */
static const char *read_argument(struct job *j, char *word)
{
	char *value = strchr(word, '=');
	if (!value)
		return "argument without =";
	*value++ = 0;
	if (!strcmp(word, "fill")) {
		memset(j->record, (int)strtoul(value, NULL, 0), j->call->size);
		for (unsigned i = 0; i < j->call->fields; i++)
			if (j->call->field[i].pointer)
				memset(j->record + j->call->field[i].offset, 0, 8);
		return NULL;
	}
	if (*value == '@' || !strcmp(value, "bad"))
		return read_pointer(j, word, value);
	const struct field *f = find_field(j->call, word);
	if (!f)
		return "no such field";
	if (f->pointer)
		return "a pointer is @HEX or bad";
	char *end;
	uint64_t n = strtoull(value, &end, 0);
	if (*end || end == value)
		return "a value is no number";
	memcpy(j->record + f->offset, &n, f->size);
	return NULL;
}

const char *read_job(struct job *j, char *text)
{
	char *rest, *name = strtok_r(text, " ", &rest);
	memset(j, 0, sizeof *j);
	if (!name || !(j->call = find_call(name)))
		return "no such call";
	for (char *word; (word = strtok_r(NULL, " ", &rest));) {
		if (!strcmp(word, "NULL")) {
			j->null = true;
			continue;
		}
		const char *wrong = read_argument(j, word);
		if (wrong) {
			free_job(j);
			return wrong;
		}
	}
	memcpy(j->before, j->record, sizeof j->before);
	for (unsigned i = 0; i < j->memories; i++)
		if (j->memory[i].data)
			memcpy(j->memory[i].before, j->memory[i].data, j->memory[i].size);
	return NULL;
}

void run_job(struct job *j)
{
	j->status = j->call->make(j->null ? NULL : j->record);
}

/* Prints the bytes of the record that belong to no field and have changed. */
static void print_rest(const struct job *j)
{
	bool covered[max_record] = {false};
	for (unsigned i = 0; i < j->call->fields; i++)
		memset(covered + j->call->field[i].offset, true, j->call->field[i].size);
	for (unsigned at = 0; at < j->call->size; at++)
		if (!covered[at] && j->record[at] != j->before[at])
			printf(" @%u=%u", at, j->record[at]);
}

/* Prints where an address is: " PATH@OFFSET=MEMORY+NUMBER". false: in no memory of
 * the call. */
static bool print_address(const struct job *j, const struct memory *in, size_t offset, uint64_t address, bool print)
{
	for (unsigned i = 0; i < j->memories; i++) {
		const struct memory *m = &j->memory[i];
		uint64_t begin = (uint64_t)(uintptr_t)(m->data ? m->data : bad_page());
		if (address - begin > m->size)
			continue;
		if (print)
			printf(" %s@%zu=%s+%llu", in->path, offset, m->data ? m->path : "bad", (unsigned long long)(address - begin));
		return true;
	}
	return false;
}

/* Prints changed memory. Addresses of the call's own memory are 0 in its bytes and
 * come after them. */
static void print_memory(const struct job *j, const struct memory *m)
{
	if (!m->data || !memcmp(m->data, m->before, m->size))
		return;
	printf(" %s=@", m->path);
	for (int pass = 0; pass < 2; pass++) {
		for (size_t at = 0; at < m->size; at += 8) {
			uint64_t word;
			bool address = m->size - at >= sizeof word;
			if (address) {
				memcpy(&word, m->data + at, sizeof word);
				address = print_address(j, m, at, word, pass == 1);
			}
			for (size_t k = at; pass == 0 && k < at + 8 && k < m->size; k++)
				printf("%02x", address ? 0 : m->data[k]);
		}
	}
}

void answer_job(struct job *j)
{
	printf("0x%08x", (unsigned)j->status);
	for (unsigned i = 0; i < j->call->fields; i++) {
		const struct field *f = &j->call->field[i];
		if (memcmp(j->record + f->offset, j->before + f->offset, f->size)) {
			uint64_t n = 0;
			memcpy(&n, j->record + f->offset, f->size);
			printf(" %s=0x%llx", f->name, (unsigned long long)n);
		}
	}
	for (unsigned i = 0; i < j->memories; i++)
		print_memory(j, &j->memory[i]);
	print_rest(j);
	putchar('\n');
	free_job(j);
}

void free_job(struct job *j)
{
	for (unsigned i = 0; i < j->memories; i++) {
		free(j->memory[i].path);
		free(j->memory[i].data);
		free(j->memory[i].before);
	}
	free(j->memory);
	j->memory = NULL;
	j->memories = 0;
}
