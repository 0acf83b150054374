# SPDX-License-Identifier: Apache-2.0
# The newcomer's entry: `make demo` shows what Nacre does, `make test` shows that it works. CMake does the building.
.DEFAULT_GOAL := help
.PHONY: help demo test docs install-deps configure format clean
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Options for CMake, such as -DNACRE_WERROR=ON.
CONFIGURE ?=

help:
	@echo 'make demo          install what is missing, build, and run Nacre on 2 processes and on 64 simulated ranks'
	@echo 'make test          install what is missing, build everything, run every test'
	@echo 'make docs          build the site of the documents, build/docs/site/index.html'
	@echo 'make install-deps  only install what is missing (Debian, Ubuntu)'
	@echo 'make format        clang-format the sources in place'
	@echo 'make clean         remove build/'

install-deps:
	@sh tools/install_deps.sh test

configure:
	@sh tools/install_deps.sh $(PURPOSE)
	@cmake --preset release $(CONFIGURE)

demo: PURPOSE = demo
demo: configure
	@cmake --build --preset release -j $(JOBS) --target demo
	@sh tools/demo.sh

test: PURPOSE = test
test: configure
	@cmake --build --preset release -j $(JOBS)
	@sh tools/run_tests.sh release

docs:
	@sh tools/docs.sh

format:
	@sh tools/format.sh

clean:
	@rm -rf build
