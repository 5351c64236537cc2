# make run   sets up .venv, installs the package and runs the main job
# make test  sets up .venv and runs the tests of every change; make test-slow runs those that take long
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
JOBS   ?= auto

.PHONY: run test test-slow check bench clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run-ready: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.test-ready: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,check]'
	@touch $@ $(VENV)/.run-ready

run: $(VENV)/.run-ready
	$(BIN)/manipula run examples/scara_circle.toml -o out/scara_circle --force

test: $(VENV)/.test-ready
	$(BIN)/python -m pytest -n $(JOBS) -m "not slow"

test-slow: $(VENV)/.test-ready
	$(BIN)/python -m pytest -n $(JOBS) -m slow

check: $(VENV)/.test-ready
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/pyright
	$(BIN)/lint-imports --no-cache

bench: $(VENV)/.test-ready
	$(BIN)/manipula bench

clean:
	rm -rf $(VENV) build dist out
