# The front door: `make` alone says what there is.
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
LEADLINE := .venv/bin/leadline
RUN ?= runs/quick-$(shell date +%Y%m%d-%H%M%S)
RUN := $(RUN)

.PHONY: help report test test-full bench packages ceph-test hdf5 lint format clean distclean

help: ## these lines
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' Makefile

report: ## set up what is missing, measure this machine in under 3 minutes, write report/report.html
	@./setup.sh
	@$(LEADLINE) run plans/quick.toml --output $(RUN) || { [ $$? -eq 1 ] && [ -e $(RUN)/records.parquet ]; } # points failed: the page says which
	@$(LEADLINE) report $(RUN)

test: ## set up what is missing, build, run the checks that take under 10 minutes
	@./setup.sh --test
	@tools/test.sh short

test-full: ## set up what is missing, build with two compilers, run every check; under 45 minutes
	@./setup.sh --full
	@tools/test.sh full

bench: ## measure speed and trust against their targets, on a quiet machine (PARTS=trust: one part; BENCH_RUNS=10: ten runs)
	@./setup.sh
	@.venv/bin/python bench/bench.py $(PARTS)

ceph-test: ## start a CephFS of four slow targets on this machine, tune its stripes, remove it (root; about 10 minutes)
	@./setup.sh
	@tools/ceph.sh

packages: ## check the wheel, completions, Spack package, images and module files as far as this machine can
	@./setup.sh
	@tools/packages.sh

hdf5: ## build HDF5 2 with subfiling for Open MPI into .state (needs cargo; LEADLINE_HDF5=current takes it)
	@./setup.sh
	@tools/hdf5.sh openmpi

lint: ## read every source without running it
	@./setup.sh --test
	@tools/lint.sh

format: ## lay out every source as `make lint` wants it
	@./setup.sh --test
	@tools/format.sh

clean: ## remove what was built; keep runs, reports, the environment and installed MPIs
	rm -rf build .state/build .pytest_cache .mypy_cache .ruff_cache

distclean: clean ## remove also the environment and the installed MPIs; keep runs and reports
	rm -rf .venv .state
