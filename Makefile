# SPDX-License-Identifier: Apache-2.0
# The newcomer's entry: `make demo` shows what Nacre does, `make test` shows that it works. CMake does the building.
.DEFAULT_GOAL := help
.PHONY: help demo test install docs install-deps format clean
.NOTPARALLEL:
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
# Where `make install` puts everything; DESTDIR stands in front of it for whoever packs it.
PREFIX ?= /usr/local
# Options for CMake, such as -DNACRE_WERROR=ON.
CONFIGURE ?=

help:
	@echo 'make demo          install what is missing, build, and run Nacre on 2 processes and on 64 simulated ranks'
	@echo 'make test          install what is missing, build everything, run every test'
	@echo 'make install       build and install everything, documents and examples too, in PREFIX=$(PREFIX)'
	@echo 'make docs          build the site of the documents, build/docs/site/index.html'
	@echo 'make install-deps  only install what is missing (Debian, Ubuntu)'
	@echo 'make format        clang-format the sources in place'
	@echo 'make clean         remove build/'

install-deps:
	@sh tools/install_deps.sh test

# The argument is what for, see tools/install_deps.sh: `make demo test` needs more packages the second time.
define configure
	@sh tools/install_deps.sh $(1)
	@cmake --preset release $(CONFIGURE)
endef

demo:
	$(call configure,demo)
	@cmake --build --preset release -j $(JOBS) --target demo
	@sh tools/demo.sh

test:
	$(call configure,test)
	@cmake --build --preset release -j $(JOBS)
	@sh tools/run_tests.sh release

install:
	$(call configure,demo)
	@cmake --build --preset release -j $(JOBS) --target nacre_package nacre_tools
	@cmake --install build/release --prefix "$(PREFIX)"

docs:
	@sh tools/docs.sh

format:
	@sh tools/format.sh

clean:
	@rm -rf build
