# make run   sets up .venv, installs the package and runs the main job
# make web   builds the viewer of reports from TypeScript (make run and make test do it too)
# make docs  builds the site in out/site
# make test  sets up .venv and runs the tests of every change; make test-slow runs those that take long
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
JOBS   ?= auto
export PYTHONDONTWRITEBYTECODE := # empty: sources are compiled once, not by every process that a test starts

.PHONY: run test test-slow check web docs bench clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run-ready: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.test-ready: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,check]'
	@touch $@ $(VENV)/.run-ready

$(VENV)/.docs-ready: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $@ $(VENV)/.run-ready

run: $(VENV)/.run-ready
	$(BIN)/manipula run examples/scara_circle.toml -o out/scara_circle --force

web: | $(BIN)/python
	$(BIN)/python web/build.py

test: $(VENV)/.test-ready web
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not slow"

test-slow: $(VENV)/.test-ready web
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m slow

check: $(VENV)/.test-ready
	$(BIN)/ruff check src tests benchmarks examples
	$(BIN)/ruff format --check src tests benchmarks examples
	$(BIN)/pyright
	$(BIN)/lint-imports --no-cache
	$(BIN)/python web/build.py check

docs: $(VENV)/.docs-ready
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "out/site/index.html"

bench: $(VENV)/.test-ready
	$(BIN)/manipula bench

clean:
	rm -rf $(VENV) build dist out web/node_modules src/manipula/reports/web/built
