# dxgsync. Needs Go and a C compiler; make test installs what else it needs.
#
#   make          build/bin/dxgsync, build/lib/libdxg.so and libdxcore.so, build/include/dxg,
#                 build/bin/dxgdrive for the C door of dxgsync conform
#   make demo     four small programs under dxgsync run, as timelines
#   make test     everything: vet, Go with and without the race detector, C, models
#   make race     the Go tests with the race detector
#   make model    the protocol models and their mutants
#   make fuzz     every fuzz target for FUZZTIME (20s); findings stay in testdata/fuzz
#   make lint     gofumpt, go vet, staticcheck
#   make bench    the measurements; BENCHFLAGS=--tsv for a table
#   make clean    removes build/

GO         ?= go
CC         ?= cc
FUZZTIME   ?= 20s
TIMEOUT    ?= 10m
BENCHFLAGS ?=

BUILD   := build
COMMAND := $(BUILD)/bin/dxgsync
TOOL    := $(GO) tool -modfile=tools/go.mod
JOBS    := $(shell nproc 2>/dev/null || echo 2)

# What a target is doing, in one line. V=1 shows the commands too.
say = @printf '%-8s %s\n'
ifndef V
.SILENT:
endif

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: all command library examples demo test deps vet unit race model fuzz lint bench clean

all: command library

# Go knows itself what is out of date; c/build.mk knows it for C.
command:
	$(say) GO $(COMMAND)
	CGO_ENABLED=0 $(GO) build -trimpath -o $(COMMAND) ./cmd/dxgsync

library:
	$(say) CC '$(BUILD)/lib $(BUILD)/include'
	$(MAKE) -s -j$(JOBS) -f c/build.mk -f c/driver/build.mk c c-driver CC='$(CC)'

# amd is linked to the library, as its model is; the others load it by name.
CLIENT := -std=c11 -O2 -g -Wall -Wextra -Werror -pthread -I$(BUILD)/include

examples: all
	$(say) CC $(BUILD)/examples/frames
	mkdir -p $(BUILD)/examples
	$(CC) -std=c11 -O2 -g -Wall -Wextra -Werror -pthread -I$(BUILD)/include -o $(BUILD)/examples/frames examples/frames/*.c -L$(BUILD)/lib -ldxg
	$(say) CC $(BUILD)/examples/clients
	mkdir -p $(BUILD)/examples/clients
	$(CC) $(CLIENT) -o $(BUILD)/examples/clients/amd examples/clients/amd.c -L$(BUILD)/lib -ldxcore
	for client in rocm neo mesa; do $(CC) $(CLIENT) -o $(BUILD)/examples/clients/$$client examples/clients/$$client.c -ldl || exit 1; done
	$(say) CC $(BUILD)/examples/native-c
	for program in native doorbell; do $(CC) $(CLIENT) -o $(BUILD)/examples/$$program-c examples/gpu-c/$$program.c -L$(BUILD)/lib -ldxg || exit 1; done
	$(say) GO $(BUILD)/examples/frames-go
	$(GO) build -trimpath -o $(BUILD)/examples/ ./examples/...

demo: examples
	examples/demo $(BUILD)

test: deps examples vet unit race
	$(say) PASS 'make test'

# Command, and the Debian package that has it.
deps:
	tools/deps spin=spin cc=gcc c++=g++

vet:
	$(say) VET ./...
	$(GO) vet ./...

# The models too: they are a test of package model.
unit: examples
	$(say) TEST ./...
	$(GO) test -timeout $(TIMEOUT) ./...

# The models run programs that spin makes; there is nothing of ours to race in them.
race: examples
	$(say) RACE ./...
	$(GO) test -race -timeout $(TIMEOUT) $$($(GO) list ./... | grep -v '/model$$')

model: deps
	$(say) MODEL ./model
	$(GO) test -v -count=1 -timeout $(TIMEOUT) ./model

fuzz:
	tools/fuzz '$(GO)' '$(FUZZTIME)'

lint: vet
	$(say) LINT gofumpt
	files=$$($(TOOL) gofumpt -l .) && { test -z "$$files" || { printf 'gofumpt would change:\n%s\n' "$$files"; exit 1; }; }
	$(say) LINT staticcheck
	$(TOOL) staticcheck ./...

bench: all
	mkdir -p $(BUILD)/libexec
	$(CC) -std=gnu11 -O2 -Wall -Wextra -Werror -o $(BUILD)/libexec/floors bench/floors.c
	$(CC) -std=gnu11 -O2 -Wall -Wextra -Werror -I$(BUILD)/include -o $(BUILD)/libexec/library-bench bench/library.c -L$(BUILD)/lib -ldxg -Wl,-rpath,'$$ORIGIN/../lib'
	$(COMMAND) bench $(BENCHFLAGS)

clean:
	$(say) RM $(BUILD)
	rm -rf $(BUILD)
