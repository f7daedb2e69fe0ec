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

/* Reads hexadecimal bytes into a buffer of their own. */
static const char *read_bytes(struct buffer *b, const char *hex)
{
	size_t n = strlen(hex) / 2;
	if (strlen(hex) % 2)
		return "half a byte";
	free(b->data);
	free(b->before);
	b->size = n;
	b->data = malloc(n + 1);
	b->before = malloc(n + 1);
	if (!b->data || !b->before)
		return "no memory";
	for (size_t i = 0; i < n; i++) {
		int high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);
		if (high < 0 || low < 0)
			return "a byte is not two of 0-9 a-f";
		b->data[i] = (unsigned char)(high << 4 | low);
	}
	memcpy(b->before, b->data, n);
	return NULL;
}

static void put_pointer(struct job *j, const struct field *f, const void *p)
{
	uint64_t v = (uint64_t)(uintptr_t)p;
	memcpy(j->record + f->offset, &v, sizeof v);
}

/* Reads NAME=NUMBER, NAME=@HEX, NAME=bad or fill=BYTE. */
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
				put_pointer(j, &j->call->field[i], NULL);
		return NULL;
	}
	const struct field *f = find_field(j->call, word);
	if (!f)
		return "no such field";
	if (f->pointer) {
		struct buffer *b = &j->buffer[f - j->call->field];
		if (!strcmp(value, "bad")) {
			put_pointer(j, f, bad_page());
			return NULL;
		}
		if (*value != '@')
			return "a pointer is @HEX or bad";
		const char *wrong = read_bytes(b, value + 1);
		if (!wrong)
			put_pointer(j, f, b->data);
		return wrong;
	}
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

void answer_job(struct job *j)
{
	printf("0x%08x", (unsigned)j->status);
	for (unsigned i = 0; i < j->call->fields; i++) {
		const struct field *f = &j->call->field[i];
		const struct buffer *b = &j->buffer[i];
		if (memcmp(j->record + f->offset, j->before + f->offset, f->size)) {
			uint64_t n = 0;
			memcpy(&n, j->record + f->offset, f->size);
			printf(" %s=0x%llx", f->name, (unsigned long long)n);
		}
		if (b->size && memcmp(b->data, b->before, b->size)) {
			printf(" %s=@", f->name);
			for (size_t k = 0; k < b->size; k++)
				printf("%02x", b->data[k]);
		}
	}
	print_rest(j);
	putchar('\n');
	free_job(j);
}

void free_job(struct job *j)
{
	for (unsigned i = 0; i < max_fields; i++) {
		free(j->buffer[i].data);
		free(j->buffer[i].before);
		j->buffer[i] = (struct buffer){0};
	}
}
