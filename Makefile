# Every target works on a fresh machine that has Python 3.11 or later and make: the first one to run builds .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
# One more than the cores of the smallest machine: tests in a browser mostly wait.
JOBS   ?= 3
# Tests start hundreds of processes, and each would read the source of this package anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo check hooks browser bytecode test test-slow format docs bench audit study compare prompt-choice recorded model-search boosting rivals pictures clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

setup: $(STAMP) ## Build the virtual environment

demo: $(STAMP) ## Find a near-best arm of an endless pool, and show what was proved
	@$(BIN)/topalpha demo

check: $(STAMP) ## Lint, formatting, types and import layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

hooks: $(STAMP) ## Run `make check` before each commit from now on
	@$(BIN)/pre-commit install

browser: $(STAMP)
	@$(BIN)/python -m tests.support.chromium

# All workers need the tests as bytecode: it is made once, beside the static checks.
bytecode: $(STAMP)
	@$(BIN)/pytest --collect-only -qqq > /dev/null || true # what is wrong with them, the tests say themselves

test: $(STAMP) ## Static checks, then all tests that take seconds
	@$(MAKE) --no-print-directory --jobs=2 check browser bytecode
	@$(BIN)/pytest -m 'not slow' -n $(JOBS) --dist worksteal --durations=10

test-slow: $(STAMP) ## The tests that take minutes
	@$(BIN)/pytest -m slow -n $(JOBS) --dist worksteal --durations=10 --timeout=3600 -o faulthandler_timeout=4000
	@$(BIN)/pytest -m 'not slow' -n $(JOBS) --hypothesis-profile=long tests/families tests/confidence

format: $(STAMP) ## Rewrite the sources in the house format
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: $(STAMP) ## Build the documentation site into build/site
	@rm -rf docs/gallery build/site
	@$(BIN)/python -m sphinx -W --keep-going -q -d build/doctrees docs build/site
	@echo "The site is in build/site/index.html"

bench: $(STAMP) ## Speed, start-up and pulls, against their targets
	@$(BIN)/python -m benchmarks
	@$(BIN)/python -m benchmarks.algorithms_page

audit: $(STAMP) ## Error rates on hard reservoirs, and both drivers on every algorithm and family
	@$(BIN)/topalpha audit --full

study: $(STAMP) ## Run the paper's table again
	@$(BIN)/python -m studies.reproduction

compare: $(STAMP) ## Measure the whole field side by side again
	@$(BIN)/python -m studies.comparison

prompt-choice: $(STAMP) ## Measure choices on a test set again: costs and errors
	@$(BIN)/python -m studies.prompt_choice

recorded: $(STAMP) ## Measure choices on tables that others recorded again
	@$(BIN)/python -m studies.recorded_tables

rivals: $(STAMP)
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,rivals]'

model-search: rivals ## Compare the search for models with those that people use
	@$(BIN)/python -m studies.model_search

boosting: rivals ## Compare boosting by bandits with others, about half an hour
	@$(BIN)/python -m studies.boosting

pictures: browser ## Take the pictures of the README again
	@$(BIN)/python -m docs.pictures

clean: ## Remove everything that can be built again
	rm -rf $(VENV) build dist docs/gallery docs/project .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
