# A thin front of the CMake presets. `make` alone lists the targets.
JOBS ?= $(shell nproc)
SOURCES = $(shell find include src lab compiler tests examples python \
            \( -name '*.cpp' -o -name '*.hpp' \) 2>/dev/null)

.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help bootstrap bootstrap-demo build tool demo test test-release test-tsan test-asan \
        asan-library asan-programs test-debug test-gcc test-in-turn test-nightly nightly-release \
        nightly-tsan check check-quick coverage stress fuzz bench lint tidy tidy-runtime \
        tidy-store tidy-tools format format-check lab lab-kernel package clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 16

bootstrap: ## install the Debian packages that are missing
	@scripts/bootstrap

build: ## build everything; the tool is build/release/bin/isotherm
	cmake --preset release -DISOTHERM_BUILD_TESTS=ON -DISOTHERM_BUILD_BENCH=ON
	cmake --build --preset release -j $(JOBS)

# Configures without tests, whose packages need not be there, unless a build is configured already.
tool: ## build the tool alone: build/release/bin/isotherm
	@[ -e build/release/build.ninja ] || \
	  cmake --preset release -DISOTHERM_BUILD_TESTS=OFF -DISOTHERM_BUILD_BENCH=OFF
	cmake --build --preset release -j $(JOBS) --target isotherm

bootstrap-demo: ## install what the demo needs, and no more
	@scripts/bootstrap demo

# Builds the two commands that the demo runs, in build/demo.
demo: bootstrap-demo ## load, serve and cool a store, before your eyes (at most 5 minutes)
	cmake --preset demo
	cmake --build --preset demo -j $(JOBS)
	@scripts/demo

check-quick: ## what fails fast, in a minute once built
	@scripts/check --quick

check: ## all that CI runs (CHANGED=1: tests that changes since main touch)
ifdef CHANGED
	@scripts/check --changed $(filter-out 1,$(CHANGED))
else
	@scripts/check
endif

test: bootstrap test-release test-tsan test-in-turn ## all tests, and of the nightly ones a part

# Parts too long for each commit. The commit's own number picks one of the eight, the same wherever
# that commit is tested.
NIGHTLY = nightly-release nightly-tsan asan-library asan-programs test-gcc \
          tidy-runtime tidy-store tidy-tools

test-nightly: $(NIGHTLY) ## each part that commits meet by turns (about an hour)

test-in-turn: ## the part of test-nightly whose turn it is at this commit
	@commit=$$(git rev-parse --short=7 HEAD 2>/dev/null || echo 0); set -- $(NIGHTLY); \
	shift $$((0x$$commit % $$#)); echo "== $$1, in turn at $$commit"; \
	$(MAKE) --no-print-directory $$1

test-release: build ## all tests, optimised build
	ctest --preset release

test-tsan: ## tests labelled concurrency, under ThreadSanitizer
	cmake --preset tsan
	cmake --build --preset tsan -j $(JOBS) --target tests-concurrency
	ctest --preset tsan

nightly-release: build ## what test-release leaves out for its length (in turn)
	ctest --preset nightly

nightly-tsan: ## what test-tsan leaves out for its length (in turn)
	cmake --preset tsan
	cmake --build --preset tsan -j $(JOBS) --target tests-concurrency
	ctest --preset nightly-tsan -L "^concurrency$$"

# Test programs of what a user of the library compiles, and of the store.
GCC_TESTS = base_test sync_test heap_test guide_test collector_test collector_hot_test \
            compiler_plain_test index_model_test index_storage_test store_test server_test

test-gcc: ## the runtime and the store, built by gcc 12 (in turn)
	cmake --preset gcc -DISOTHERM_BUILD_BENCH=OFF
	cmake --build --preset gcc -j $(JOBS) --target $(GCC_TESTS)
	ctest --preset gcc

test-asan: asan-library asan-programs ## tests labelled memory, under ASan and UBSan (in turn)

asan-library asan-programs: asan-%:
	cmake --preset asan
	cmake --build --preset asan -j $(JOBS) --target tests-memory-$*
	ctest --preset asan -L '^memory-$*$$'

test-debug: ## the same tests without sanitizers and optimisation (not part of test)
	cmake --preset debug -DISOTHERM_BUILD_BENCH=OFF
	cmake --build --preset debug -j $(JOBS) --target tests-memory
	ctest --preset debug

coverage: ## which lines of src/ the tests reach (build/coverage/html)
	cmake --preset coverage -DISOTHERM_BUILD_BENCH=OFF
	cmake --build --preset coverage -j $(JOBS) --target tests-concurrency tests-memory
	scripts/coverage

# Operations of each thread: in each of 2 phases; 8 mixes x all indexes x both protocols; and of
# reads past the mapping, with either policy. The default takes some minutes on two cores.
STRESS_OPS ?= 10000
STRESS_TESTS = migration_stress_test fetch_stress_test

stress: bootstrap ## every index, protocol and mix, under both sanitizers (STRESS_OPS=N: longer)
	@for preset in tsan asan; do \
	  cmake --preset $$preset && \
	  cmake --build --preset $$preset -j $(JOBS) --target $(STRESS_TESTS) || exit 1; \
	  for program in $(STRESS_TESTS); do \
	    echo "== $$preset, $$program, $(STRESS_OPS) operations a thread" && \
	    ISOTHERM_STRESS_OPS=$(STRESS_OPS) build/$$preset/bin/$$program --gtest_brief=1 || exit 1; \
	  done; \
	done

# Of each target. What is found on the way is kept in build/asan/tests/fuzz/found.
FUZZ_SECONDS ?= 60

fuzz: ## requests, commands and traces that libFuzzer thinks of (FUZZ_SECONDS=N: longer)
	cmake --preset asan
	cmake --build --preset asan -j $(JOBS) --target fuzz_resp fuzz_commands fuzz_http fuzz_traces
	@for target in resp commands http traces; do \
	  echo "== $$target, $(FUZZ_SECONDS) seconds" && \
	  (cd build/asan/tests/fuzz && ../../bin/fuzz_$$target -max_total_time=$(FUZZ_SECONDS) \
	    -max_len=512 -print_final_stats=1 -verbosity=0 found/$$target \
	    $(CURDIR)/tests/fuzz/corpus/$$target) || exit 1; \
	done

bench: build ## micro-benchmarks
	@found=0; for program in build/release/bin/*_bench; do \
	  [ -x "$$program" ] || continue; found=1; echo "== $$program"; "$$program" || exit 1; \
	done; [ $$found = 1 ] || { echo "bench: no micro-benchmark is built" >&2; exit 1; }

lint: ## the rules of the house (layers, lengths, banned calls)
	@python3 -B tests/lint/lint.py .

tidy: tidy-runtime tidy-store tidy-tools ## clang-tidy over src/ and lab/ (in turn, in three parts)

tidy-runtime: TIDIED = src/(base|os|sync|heap|guide|collector|live)
tidy-store: TIDIED = src/(placement|index|store|server|tool|top)
tidy-tools: TIDIED = src/(device|sort|pages|cli)|lab

# Nothing has to be built.
tidy-runtime tidy-store tidy-tools:
	cmake --preset release -B build/tidy -DISOTHERM_BUILD_TESTS=OFF -DISOTHERM_BUILD_BENCH=OFF \
	  -DISOTHERM_PRECOMPILE=OFF
	run-clang-tidy-19 -quiet -p build/tidy -j $(JOBS) '^$(CURDIR)/($(TIDIED))/.*\.cpp$$'

format: ## rewrite the sources by .clang-format
	@clang-format-19 -i $(SOURCES)

format-check: ## fail when format would change something
	@clang-format-19 --dry-run -Werror $(SOURCES)

# Needs nothing that is built here.
lab: ## a virtual machine with two tiers of memory: fetch its kernel, boot it, show the tiers
	@scripts/bootstrap lab
	@lab/vm/machine.py "$$(cat lab/vm/tiers.sh)"

lab-kernel: ## build Linux 6.12 with the patches of lab/kernel and check it (an hour)
	@scripts/bootstrap lab
	@lab/kernel/check.py measure
	@lab/kernel/check.py pressure

package: build ## TGZ and DEB in dist/
	cd build/release && cpack
	@rm -rf dist/_CPack_Packages

clean: ## remove what was built
	rm -rf build dist
