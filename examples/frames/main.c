#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frames.h"

static const char usage[] =
	"usage: frames producer [--frames N] [--pace-us U] -- CONSUMER [ARGUMENT...]\n"
	"       frames consumer --frames N --ready-fd R --done-fd D --quit-fd Q --memory-fd M\n";

static _Noreturn void wrong(void) {
	fputs(usage, stderr);
	exit(2);
}

static unsigned long number(const char *text, unsigned long least, unsigned long most) {
	char *end;
	unsigned long n = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || n < least || n > most) wrong();
	return n;
}

int main(int argc, char **argv) {
	static const struct option known[] = {
		{"frames", required_argument, 0, 'f'},   {"pace-us", required_argument, 0, 'p'},
		{"ready-fd", required_argument, 0, 'r'}, {"done-fd", required_argument, 0, 'd'},
		{"quit-fd", required_argument, 0, 'q'},  {"memory-fd", required_argument, 0, 'm'},
		{0, 0, 0, 0},
	};
	struct options o = {.frames = 8, .ready_fd = -1, .done_fd = -1, .quit_fd = -1, .memory_fd = -1};
	if (argc < 2) wrong();
	const char *role = argv[1];
	argv[1] = argv[0];
	argc--, argv++;
	for (int c; (c = getopt_long(argc, argv, "+", known, 0)) != -1;) switch (c) {
		case 'f': o.frames = number(optarg, 1, 1000000); break;
		case 'p': o.pace_us = number(optarg, 0, 1000000000); break;
		case 'r': o.ready_fd = (int)number(optarg, 1, 1000000); break;
		case 'd': o.done_fd = (int)number(optarg, 1, 1000000); break;
		case 'q': o.quit_fd = (int)number(optarg, 1, 1000000); break;
		case 'm': o.memory_fd = (int)number(optarg, 1, 1000000); break;
		default: wrong();
		}
	if (!strcmp(role, "producer")) {
		if (optind == argc) wrong();
		o.consumer = argv + optind;
		return produce(&o);
	}
	if (strcmp(role, "consumer") || o.ready_fd < 0 || o.done_fd < 0 || o.quit_fd < 0 || o.memory_fd < 0) wrong();
	return consume(&o);
}
