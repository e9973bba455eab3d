# The front door. Everything here is a preset (CMakePresets.json) or a script (scripts/).

JOBS ?= $(shell nproc)
# Tests of several processes wait for a fifth of their time.
TEST_JOBS ?= $(shell expr $(JOBS) + 1)
PREFIX ?= /usr/local
TORTURE_SECONDS ?= 600

# Targets that build make sure of the packages first: they install only where nobody has to be asked
# (as root, as in CI); elsewhere they name the packages and 'make deps'.

.PHONY: help ready ready-for-tool npm browser demo test test-mpich sanitize sanitize-quick fuzz torture soak
.PHONY: includes coverage ci-full bench bench-quick bench-field bench-gate format lint lint-changed install
.PHONY: dist deps clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

demo: ready-for-tool npm ## build, then check and correct the example trace, and show what changed
	cmake --preset demo --log-level=WARNING
	cmake --build --preset demo -j $(JOBS) --target entrain_cli
	scripts/demo build/demo/bin/entrain build/demo/output

test: ready npm browser ## build with warnings as errors and run all quick tests
	cmake --preset dev --log-level=WARNING
	cmake --build --preset dev -j $(JOBS)
	ctest --preset dev -j $(TEST_JOBS)

test-mpich: ## build with MPICH instead of Open MPI: tests of several processes and of the recorder
	@scripts/install-deps --ask-nothing libmpich-dev mpich
	cmake --preset mpich --log-level=WARNING
	cmake --build --preset mpich -j $(JOBS) --target tests_mpi tests_record entrain_cli
	ctest --preset mpich

sanitize: ready ## all quick tests under the address, undefined-behaviour and thread sanitizers
	cmake --preset asan-ubsan --log-level=WARNING
	cmake --build --preset asan-ubsan -j $(JOBS)
	ctest --preset asan-ubsan -j $(JOBS)
	cmake --preset tsan --log-level=WARNING
	cmake --build --preset tsan -j $(JOBS)
	ctest --preset tsan -j $(JOBS)

# Unit tests of the rooms that compile fast; figures in .ci/run.
QUICK_SANITIZED = base output trace formats_perfetto formats_otf2_format formats_otf2_read \
  clocks sim_model difference formats_json

sanitize-quick: ready ## unit tests of the lowest rooms under the address and undefined-behaviour sanitizers
	cmake --preset asan-ubsan --log-level=WARNING
	cmake --build --preset asan-ubsan -j $(JOBS) --target $(QUICK_SANITIZED:%=test_%)
	scripts/run-unit-tests build/asan-ubsan $(QUICK_SANITIZED)

includes: ready ## compile every file by itself: finds missing #includes
	cmake --preset includes --log-level=WARNING
	cmake --build --preset includes -j $(JOBS) -- -k 0

coverage: ready npm browser ## which lines and branches of src/ and products/ the tests reach, per room
	@scripts/install-deps --ask-nothing gcovr
	cmake --preset coverage --log-level=WARNING
	cmake --build --preset coverage -j $(JOBS)
	scripts/coverage --jobs $(JOBS) build/coverage

ci-full: ## everything that is to be run before a release, or STEPS="lint coverage": hours
	@scripts/ci-full

fuzz: ## every fuzzer for FUZZ_SECONDS (default 60), with clang
	@scripts/install-deps --ask-nothing clang libclang-rt-dev
	cmake --preset fuzz --log-level=WARNING
	cmake --build --preset fuzz -j $(JOBS)
	scripts/fuzz build/fuzz

torture: ready ## try to make the tool fail for TORTURE_SECONDS (default 600)
	cmake --preset release --log-level=WARNING
	cmake --build --preset release -j $(JOBS) --target torture_tools
	cmake --preset asan-ubsan --log-level=WARNING
	cmake --build --preset asan-ubsan -j $(JOBS) --target torture_tools
	@test -e build/dev/python || echo "make torture: no Python module; make test builds it"
	tests/torture/torture --sanitized build/asan-ubsan/bin/entrain --jobs $(JOBS) \
	  --seconds $(TORTURE_SECONDS) --json bench/results/torture.json \
	  --markdown bench/results/torture.md $(TORTURE_FLAGS)

soak: ready ## the long tests
	cmake --preset dev --log-level=WARNING
	cmake --build --preset dev -j $(JOBS)
	ctest --preset soak

bench: ready ## measure against cp, the OTF2 library and memory: hours, 24 GB of disk
	cmake --preset release --log-level=WARNING
	cmake --build --preset release -j $(JOBS)
	bench/run $(BENCH_FLAGS)

bench-quick: ready ## measure a little; with BASE=REVISION compare with an older one: minutes
	cmake --preset release --log-level=WARNING
	cmake --build --preset release -j $(JOBS)
	bench/quick $(if $(BASE),--base $(BASE)) --jobs $(JOBS)

bench-field: ready ## traces of real machines beside the project, against what is known of them
	cmake --preset release --log-level=WARNING
	cmake --build --preset release -j $(JOBS)
	bench/field $(FIELD_FLAGS)

bench-gate: ## compare results A=old.json with B=new.json; fails if B is slower or hungrier
	bench/gate $(A) $(B)

format: ## clang-format all sources
	@scripts/install-deps --ask-nothing clang-format
	git ls-files '*.cpp' '*.hpp' '*.h' | xargs clang-format -i

lint: ready ## clang-format and clang-tidy over all sources; changes nothing
	@scripts/install-deps --ask-nothing clang-format clang-tidy
	cmake --preset includes --log-level=WARNING
	cmake --build --preset includes -j $(JOBS) --target entrain_record_generated
	scripts/lint --jobs $(JOBS) --tidy build/includes

lint-changed: ## clang-format over what differs from the main branch, or from BASE=REVISION
	@scripts/install-deps --ask-nothing clang-format
	scripts/lint --jobs $(JOBS) --changed $(BASE)

install: ready ## install under PREFIX (default /usr/local)
	cmake --preset release --log-level=WARNING
	cmake --build --preset release -j $(JOBS)
	cmake --install build/release --prefix $(PREFIX)

dist: ready npm ## pack the sources with the built page of the report: no npm is needed to build them
	cmake --preset release --log-level=WARNING -DENTRAIN_REPORT=ON
	scripts/dist build/release build/dist

deps: ## name and install the Debian packages that are missing (as root, or with sudo)
	@scripts/install-deps

ready:
	@scripts/install-deps --ask-nothing

# The tool alone needs half of the packages.
ready-for-tool:
	@scripts/install-deps --ask-nothing --tool

# For the page of `entrain report` and its tests; without them the tool builds, and the tests are
# skipped.
npm:
	@command -v npm >/dev/null || scripts/install-deps --ask-nothing nodejs npm || \
	  echo "make: going on without npm, so without the page of entrain report"

browser:
	@command -v chromium >/dev/null || scripts/install-deps --ask-nothing chromium || \
	  echo "make: going on without chromium, so without the tests of the page"

clean: ## remove everything that was built
	rm -rf build
