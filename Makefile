# The commands of Tessera. Each does its own set-up; `make help` lists them.
#
#   BUILD=dir      where to build (build)          JOBS=n       parallel jobs (the build tool decides)
#   PREFIX=dir     where to install (/usr/local)   SECONDS=n    length of a soak, per target (600)
.DEFAULT_GOAL := release
.NOTPARALLEL:
MAKEFLAGS += --no-print-directory

BUILD ?= build
PREFIX ?= /usr/local
SECONDS ?= 600
JOBS ?=

# Another python3 on the path may lack what Debian's has.
PYTHON := $(firstword $(wildcard /usr/bin/python3) python3)
QUIET := $(shell test -t 2 || echo -- --quiet)

configure = cmake --preset $(1) -B $(2) --log-level=WARNING $(3) >/dev/null
build = cmake --build $(1) $(if $(JOBS),--parallel $(JOBS)) --target $(2) $(QUIET)
ctest = GTEST_BRIEF=1 ctest --test-dir $(1) --output-on-failure --no-tests=error --no-label-summary --parallel $(or $(JOBS),2)

STAGES := format layering unit mpi interop tidy debug tsan fuzz package docs
CHECK_STAGES := format layering quick

.PHONY: release demo test check soak install format benches bench clean help

release: ## build the release: $(BUILD)/bin/tessera, $(BUILD)/lib
	@tools/setup.sh build
	@$(call configure,release,$(BUILD),-D TESSERA_TESTS=OFF)
	@$(call build,$(BUILD),product)

demo: release ## build and run the main job on embedded defaults; pictures in $(BUILD)/demo.html
	@$(BUILD)/bin/tessera demo --html $(BUILD)/demo.html

test: ## build and run everything, 40 minutes; `make test-STAGE` runs one stage
	@tools/setup.sh
	@tools/run_stages.sh "$(MAKE)" test $(STAGES)

check: ## the quick part of `make test`
	@tools/setup.sh
	@tools/run_stages.sh "$(MAKE)" test $(CHECK_STAGES)

soak: ## long fuzzing (SECONDS= per target), model tests over many seeds, clang-tidy on everything
	@tools/setup.sh
	@tools/run_stages.sh "$(MAKE)" soak fuzz model tidy

install: release ## install below PREFIX=
	@cmake --install $(BUILD) --prefix $(abspath $(PREFIX))

format: ## lay out all C and C++ sources
	@tools/setup.sh
	@tools/format.sh -i

benches: ## build $(BUILD)/bin/tessera-bench and its peers, for `tessera bench`
	@$(MAKE) release
	@$(call build,$(BUILD),benchmarks)

bench: benches ## build and run every benchmark; plots in $(BUILD)/bench.html
	@$(BUILD)/bin/tessera bench all --html $(BUILD)/bench.html

clean: ## remove everything that was built
	rm -rf $(BUILD)

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' Makefile | sed 's#$$(BUILD)#$(BUILD)#g' | expand -t 12
	@echo "stages of make test: $(STAGES)"

# The stages. `make test` runs them all in this order; each also runs alone.
OTHERS := test-quick soak-fuzz soak-model soak-tidy tidy-record
.PHONY: $(STAGES:%=test-%) $(OTHERS)
$(STAGES:%=test-%) $(OTHERS): setup
.PHONY: setup
setup:
	@tools/setup.sh

test-format:
	@tools/format.sh --dry-run -Werror

test-layering:
	@$(PYTHON) tools/check_layering.py
	@$(PYTHON) tests/layering/check_layering_test.py

test-unit:
	@$(call configure,release,$(BUILD),-D TESSERA_TESTS=ON)
	@$(call build,$(BUILD),all)
	@$(call ctest,$(BUILD)) --label-exclude 'mpi|interop'

# Jobs of several ranks; ctest runs one at a time.
test-mpi test-interop:
	@$(call configure,release,$(BUILD),-D TESSERA_TESTS=ON)
	@$(call build,$(BUILD),all)
	@$(call ctest,$(BUILD)) --label-regex '^$(@:test-%=%)$$'

test-quick:
	@$(call configure,release,$(BUILD),-D TESSERA_TESTS=ON)
	@$(call build,$(BUILD),all)
	@$(call ctest,$(BUILD)) --label-regex 'unit|corpus'

# Every source alone, without precompiled headers: what changed since everything was last checked
# (tools/tidy_record.txt), or everything. tidy-record goes into the commit that made it long.
test-tidy: TIDY :=
soak-tidy: TIDY := --all
tidy-record: TIDY := --record
test-tidy soak-tidy tidy-record:
	@$(PYTHON) tests/tidy/tidy_test.py
	@$(call configure,tidy,$(BUILD)/tidy)
	@$(PYTHON) tools/tidy.py $(if $(JOBS),--jobs $(JOBS)) $(TIDY) $(BUILD)/tidy

# The folders without a door in them, and the corpora, under address and undefined-behaviour checks.
# The fuzzers are built in the same tree.
test-debug:
	@$(call configure,debug,$(BUILD)/debug)
	@$(call build,$(BUILD)/debug,pure_tests fuzz_targets)
	@$(call ctest,$(BUILD)/debug) --label-regex 'pure|corpus'

# Only base and port know threads.
test-tsan:
	@$(call configure,tsan,$(BUILD)/tsan)
	@$(call build,$(BUILD)/tsan,thread_tests)
	@$(call ctest,$(BUILD)/tsan) --label-regex threads

test-fuzz: SECONDS := 10
test-fuzz soak-fuzz:
	@$(call configure,debug,$(BUILD)/debug)
	@$(call build,$(BUILD)/debug,fuzz_targets)
	@tools/fuzz.sh $(BUILD)/debug $(SECONDS)

test-package:
	@$(call configure,release,$(BUILD),-D TESSERA_TESTS=ON)
	@$(call build,$(BUILD),product)
	@tests/package/run.sh $(BUILD)

test-docs:
	@$(PYTHON) tools/check_docs.py . $(BUILD)/bin/tessera

soak-model:
	@$(call configure,release,$(BUILD),-D TESSERA_TESTS=ON)
	@$(call build,$(BUILD),all)
	@tools/soak_model.sh $(BUILD) $(SECONDS)
