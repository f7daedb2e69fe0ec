# The C library and the programs that test it. Everything goes below build/.
#
#   c           build/lib: the library under its three names, pkgconfig/dxg.pc; build/include
#   c-asan      build/asan: the library with AddressSanitizer and UndefinedBehaviorSanitizer
#   c-tsan      build/tsan: the library with ThreadSanitizer
#   c-programs  build/test: the programs that the tests in c/test run
#   c-test      runs these tests
#
# One file carries all names: libdxg.so.1, to which libdxg.so and libdxcore.so lead,
# so a program that loads two of them still has one library.
#
# Files come into being under another name and are then renamed: two makes at once,
# as tests of several packages may start them, do not harm each other.

GO      ?= go
CC      ?= cc
CXX     ?= c++
CFLAGS  ?= -O2 -g
TIMEOUT ?= 10m

C_VERSION ?= 0.1.0
C_WARN    := -Wall -Wextra -Werror
C_FLAGS   := -std=c11 -D_GNU_SOURCE $(C_WARN) -fPIC -fvisibility=hidden -fno-plt -pthread -Ic/include
C_LINK    := -shared -pthread -Wl,-soname,libdxg.so.1 -Wl,-z,nodelete -Wl,-z,relro -Wl,-z,now
C_ASAN    := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
C_TSAN    := -O1 -g -fsanitize=thread
C_SOURCES := $(wildcard c/src/*.c)
C_PUBLIC  := $(wildcard c/include/dxg/*.h c/include/dxgsync/*.h)
C_HEADERS := $(wildcard c/src/*.h)

.PHONY: c c-asan c-tsan c-programs c-test
c: build/lib/libdxg.so.1 build/lib/pkgconfig/dxg.pc build/include/.made
c-asan: build/asan/libdxg.so.1
c-tsan: build/tsan/libdxg.so.1

# $(call C_MAKE,COMMAND): COMMAND makes $@, at once.
C_MAKE = mkdir -p $(@D) && $(1) -o $@.$$$$ $(2) && mv -f $@.$$$$ $@
C_NAMES = for name in libdxg.so libdxcore.so; do ln -sfn libdxg.so.1 $(@D)/$$name; done

build/c/lib/%.o: c/src/%.c $(C_HEADERS) $(C_PUBLIC) c/build.mk
	@$(call C_MAKE,$(CC) $(C_FLAGS) $(CFLAGS),-c $<)
build/c/asan/%.o: c/src/%.c $(C_HEADERS) $(C_PUBLIC) c/build.mk
	@$(call C_MAKE,$(CC) $(C_FLAGS) $(C_ASAN),-c $<)
build/c/tsan/%.o: c/src/%.c $(C_HEADERS) $(C_PUBLIC) c/build.mk
	@$(call C_MAKE,$(CC) $(C_FLAGS) $(C_TSAN),-c $<)

build/lib/libdxg.so.1: $(C_SOURCES:c/src/%.c=build/c/lib/%.o)
	@$(call C_MAKE,$(CC) $(C_LINK) $(LDFLAGS) -Wl$(comma)-z$(comma)defs,$^)
	@$(C_NAMES)
build/asan/libdxg.so.1: $(C_SOURCES:c/src/%.c=build/c/asan/%.o)
	@$(call C_MAKE,$(CC) $(C_LINK) $(C_ASAN),$^)
	@$(C_NAMES)
build/tsan/libdxg.so.1: $(C_SOURCES:c/src/%.c=build/c/tsan/%.o)
	@$(call C_MAKE,$(CC) $(C_LINK) $(C_TSAN),$^)
	@$(C_NAMES)
comma := ,

# lib is the folder above pkgconfig, wherever that is installed.
build/lib/pkgconfig/dxg.pc: c/build.mk
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$${pcfiledir}/../..' 'libdir=$${prefix}/lib' 'includedir=$${prefix}/include' '' \
		'Name: dxg' 'Description: WDDM synchronization objects in user space' 'Version: $(C_VERSION)' \
		'Libs: -L$${libdir} -ldxg' 'Cflags: -I$${includedir}' > $@

build/include/.made: $(C_PUBLIC)
	@mkdir -p build/include/dxg build/include/dxgsync
	@cp c/include/dxg/*.h build/include/dxg/
	@cp c/include/dxgsync/*.h build/include/dxgsync/
	@touch $@

# unit_* are made of the library's own files and need no daemon; the others are
# programs as a user writes them. Each is made as it is and with both sanitizers, as
# NAME-asan and NAME-tsan. raw and symbols know no library. C++ programs have the
# installed headers; objects of a C library have no C++ type to be checked by.
C_TESTS      := c/test/programs
C_TEST_FLAGS := -std=c11 -D_GNU_SOURCE $(C_WARN) -pthread -Ic/include
C_TEST_NEEDS := $(wildcard $(C_TESTS)/*.h) $(C_HEADERS) $(C_PUBLIC) c/build.mk
C_UNITS      := $(patsubst $(C_TESTS)/%.c,build/test/%,$(wildcard $(C_TESTS)/unit_*.c))
C_PROGRAMS   := $(patsubst $(C_TESTS)/%.c,build/test/%,$(filter-out $(C_TESTS)/unit_%,$(wildcard $(C_TESTS)/*.c)))
C_PLUS       := $(patsubst $(C_TESTS)/%.cc,build/test/%,$(wildcard $(C_TESTS)/*.cc))
C_PLUS_FLAGS := -std=c++17 $(C_WARN) -pthread -Ibuild/include
C_RPATH       = -Lbuild/$(1) -Wl,--no-as-needed,--enable-new-dtags,-rpath,'$$ORIGIN/../$(1)' -ldxg
build/test/raw build/test/symbols: C_RPATH =

c-programs: c $(foreach suffix,-asan -tsan,$(addsuffix $(suffix),$(C_UNITS) $(C_PROGRAMS) $(C_PLUS))) $(C_UNITS) $(C_PROGRAMS) $(C_PLUS)

# $(call C_TEST_RULES,SUFFIX,FOLDER OF THE LIBRARY,NAME OF THE FLAGS)
define C_TEST_RULES
$(C_UNITS:=$(1)): build/test/%$(1): $(C_TESTS)/%.c $(C_SOURCES) $(C_TEST_NEEDS)
	@$$(call C_MAKE,$$(CC) $$(C_TEST_FLAGS) -Ic/src $$($(3)),$$< $$(filter-out c/src/dev%.c,$$(C_SOURCES)))
$(C_PROGRAMS:=$(1)): build/test/%$(1): $(C_TESTS)/%.c $(C_TEST_NEEDS) build/$(2)/libdxg.so.1
	@$$(call C_MAKE,$$(CC) $$(C_TEST_FLAGS) $$($(3)),$$< $$(call C_RPATH,$(2)) -ldl)
$(C_PLUS:=$(1)): build/test/%$(1): $(C_TESTS)/%.cc build/include/.made c/build.mk build/$(2)/libdxg.so.1
	@$$(call C_MAKE,$$(CXX) $$(C_PLUS_FLAGS) $$($(3)) -fno-sanitize=vptr,$$< $$(call C_RPATH,$(2)))
endef
$(eval $(call C_TEST_RULES,,lib,CFLAGS))
$(eval $(call C_TEST_RULES,-asan,asan,C_ASAN))
$(eval $(call C_TEST_RULES,-tsan,tsan,C_TSAN))

c-test: c-programs
	$(GO) test -count=1 -timeout $(TIMEOUT) ./c/test
