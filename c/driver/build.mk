# The conformance driver, build/bin/dxgdrive. Needs what c/build.mk makes:
#
#   make -f c/build.mk -f c/driver/build.mk c-driver

DRIVER_SOURCES := $(wildcard c/driver/*.c)

.PHONY: c-driver
c-driver: build/bin/dxgdrive

# It finds the library of its own build; LD_LIBRARY_PATH comes first and finds another.
build/bin/dxgdrive: $(DRIVER_SOURCES) $(wildcard c/driver/*.h) $(C_PUBLIC) build/lib/libdxg.so.1
	@mkdir -p $(@D)
	$(CC) -std=c11 -Wall -Wextra -Werror $(CFLAGS) -Ic/include -pthread -o $@ $(DRIVER_SOURCES) \
		-Lbuild/lib -Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../lib' -ldxg
