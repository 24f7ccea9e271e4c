# Each target makes what it needs and can be called alone, in an empty clone, any number of times.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test lint bench clean

demo: .venv/ready-lab            ## order lost and restored; then every encoding compared on one small question
	$(BIN)/python examples/tour.py
	$(BIN)/locant compare order --quick

test: .venv/ready-dev            ## the everyday tests, doctests included; those marked slow are for pytest -m slow
	$(BIN)/python -m pytest -n 3 --dist worksteal

lint: .venv/ready-dev            ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/ready-dev           ## ours and the peers', as ratios in one run
	$(BIN)/locant bench

clean:
	rm -rf .venv dist

.venv/bin/python:
	$(PYTHON) -m venv .venv

# one stamp for each set of extras; torch first, so that the pinned CPU build is the one that is taken
.venv/ready-lab: .venv/bin/python pyproject.toml constraints.txt
	@echo "making the environment in .venv (a minute or two, once)"
	$(PIP) torch
	$(PIP) -e ".[lab]"
	touch $@

.venv/ready-dev: .venv/ready-lab
	@echo "adding what the tests need to .venv (a minute or two, once)"
	$(PIP) -e ".[dev]"
	touch $@
