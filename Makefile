# The front door. Everything here is a preset (CMakePresets.json) or a script (scripts/).

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local

.PHONY: help demo test test-mpich sanitize fuzz soak bench bench-gate format lint install deps clean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

demo: deps ## build, then check and correct the example trace, and show what changed
	cmake --preset release --log-level=WARNING
	cmake --build --preset release -j $(JOBS)
	scripts/demo build/release/bin/entrain build/demo

test: deps ## build with warnings as errors and run all quick tests
	cmake --preset dev --log-level=WARNING
	cmake --build --preset dev -j $(JOBS)
	ctest --preset dev -j $(JOBS)

test-mpich: ## build with MPICH instead of Open MPI and run the tests of several processes
	@scripts/install-deps libmpich-dev mpich
	cmake --preset mpich --log-level=WARNING
	cmake --build --preset mpich -j $(JOBS) --target tests_mpi entrain_cli
	ctest --preset mpich

sanitize: deps ## all quick tests under the address, undefined-behaviour and thread sanitizers
	cmake --preset asan-ubsan --log-level=WARNING
	cmake --build --preset asan-ubsan -j $(JOBS)
	ctest --preset asan-ubsan -j $(JOBS)
	cmake --preset tsan --log-level=WARNING
	cmake --build --preset tsan -j $(JOBS)
	ctest --preset tsan -j $(JOBS)

fuzz: ## every fuzzer for FUZZ_SECONDS (default 60), with clang
	@scripts/install-deps clang libclang-rt-dev
	cmake --preset fuzz --log-level=WARNING
	cmake --build --preset fuzz -j $(JOBS)
	scripts/fuzz build/fuzz

soak: deps ## the long tests
	cmake --preset dev --log-level=WARNING
	cmake --build --preset dev -j $(JOBS)
	ctest --preset soak

bench: deps ## measure against cp, the OTF2 library and memory: hours, 24 GB of disk
	cmake --preset release --log-level=WARNING
	cmake --build --preset release -j $(JOBS)
	bench/run $(BENCH_FLAGS)

bench-gate: ## compare results A=old.json with B=new.json; fails if B is slower or hungrier
	bench/gate $(A) $(B)

format: ## clang-format all sources
	@scripts/install-deps clang-format
	git ls-files '*.cpp' '*.hpp' '*.h' | xargs clang-format -i

lint: deps ## clang-tidy all sources
	@scripts/install-deps clang-tidy
	cmake --preset dev --log-level=WARNING
	run-clang-tidy -quiet -p build/dev -j $(JOBS) '/(src|tests)/.*\.cpp$$'

install: deps ## install under PREFIX (default /usr/local)
	cmake --preset release --log-level=WARNING
	cmake --build --preset release -j $(JOBS)
	cmake --install build/release --prefix $(PREFIX)

deps: ## install the Debian packages that are missing
	@scripts/install-deps

clean: ## remove everything that was built
	rm -rf build
