# Each target makes what it needs and can be called alone, in an empty clone, any number of times.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test lint bench course slides docs clean

demo: .venv/ready-lab            ## order lost and restored; then eight encodings compared on one small question
	$(BIN)/python examples/tour.py
	$(BIN)/locant compare order --quick --encodings sinusoidal,learned,rotary,alibi,t5,shaw,pope,kerple

test: .venv/ready-dev            ## the everyday tests, doctests included; those marked slow are for pytest -m slow
	$(BIN)/python -m pytest -n 3 --dist worksteal

lint: .venv/ready-dev            ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: .venv/ready-dev           ## ours and the peers', as ratios in one run
	$(BIN)/locant bench

course: .venv/ready-dev          ## run the notebooks of the course again, and keep their outputs
	$(BIN)/python course/run.py

slides: .venv/ready-dev          ## the lecture as one HTML file, into dist/slides.html
	$(BIN)/python course/lecture/build.py

docs: .venv/ready-dev            ## the documentation site, into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

clean:
	rm -rf .venv dist site

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
