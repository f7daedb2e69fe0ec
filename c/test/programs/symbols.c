/* Every name is there, under every name of the library. Arguments: the libraries;
 * the names come one a line from standard input. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
	char name[256];
	int missing = 0, names = 0;
	void *lib[8];
	for (int i = 1; i < argc && i < 8; i++) {
		if (!(lib[i] = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL))) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		if (lib[i] != lib[1]) {
			fprintf(stderr, "%s is another object than %s\n", argv[i], argv[1]);
			missing++;
		}
	}
	while (fgets(name, sizeof name, stdin)) {
		name[strcspn(name, "\n")] = 0;
		names++;
		for (int i = 1; i < argc && i < 8; i++) {
			if (dlsym(lib[i], name)) continue;
			fprintf(stderr, "%s lacks %s\n", argv[i], name);
			missing++;
		}
	}
	return missing || !names;
}
