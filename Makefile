# Every target sets up what it needs first. On a fresh machine: `make demo`, `make test`.

VENV := .venv/bin
PYTHON_IN := $(VENV)/python
# Long tests are a target of their own; a file stays on one worker, so that what it builds is built once.
PYTEST := $(PYTHON_IN) -m pytest
PYTEST_QUICK := $(PYTEST) -m "not slow" -n auto --dist loadfile
# BENCH=quick makes `make bench` short: fewer rounds, the same ratios.
BENCH ?=
NAME ?=
CAPABILITY ?=

.DEFAULT_GOAL := help
.PHONY: help setup demo test check lint format types specs docs-check fix docs new slow coverage mutate conformance \
	bench bench-extraction bench-trust clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / {printf "  %-17s %s\n", $$1, $$2}' Makefile

setup: ## make .venv and install everything; does nothing when nothing changed
	@sh scripts/setup.sh

demo: setup ## run the main job once, and show what it sends and returns
	@$(PYTHON_IN) scripts/demo.py

# All checks run even if one fails, and pytest's summary closes the output.
test: setup ## all checks and all tests but the long ones
	@failed=; \
	for step in lint format types specs docs-check; do \
		$(MAKE) --no-print-directory $$step || failed="$$failed $$step"; \
	done; \
	test -z "$$failed" || echo "test: failed before pytest:$$failed (make STEP repeats one)"; \
	$(PYTEST_QUICK) || failed="$$failed pytest"; \
	test -z "$$failed"

check: lint format types specs docs-check ## everything that `make test` checks, without the tests

lint: setup ## ruff
	$(VENV)/ruff check

format: setup ## ruff's formatter, changing nothing
	$(VENV)/ruff format --check

types: setup ## mypy --strict over the package
	$(VENV)/mypy

specs: setup ## compile all specs and run their examples
	$(VENV)/specloom check

docs-check: setup ## fail if a generated page is not what would be generated
	$(VENV)/specloom docs --check
	$(PYTHON_IN) scripts/rooms.py --check

fix: setup ## repair what ruff can repair, and format
	$(VENV)/ruff check --fix
	$(VENV)/ruff format

docs: setup ## generate the pages, tables and schemas that are generated
	$(VENV)/specloom docs
	$(PYTHON_IN) scripts/rooms.py

new: setup ## start a provider: make new NAME=openlibrary CAPABILITY=web
	@test -n "$(NAME)" || { echo 'new: say which: make new NAME=openlibrary [CAPABILITY=web]' >&2; exit 2; }
	$(VENV)/specloom new provider $(NAME) $(if $(CAPABILITY),--capability $(CAPABILITY))

# pytest's exit code 5 means that no test is marked slow, which is not a failure.
slow: setup ## the long tests
	$(PYTEST) -m slow || test $$? -eq 5

coverage: setup ## branch coverage of the package
	$(VENV)/coverage run -m pytest -m "not slow"
	$(VENV)/coverage report --skip-covered --show-missing

mutate: setup ## change the specs one detail at a time; their examples must notice
	$(VENV)/specloom mutate --floor 0.9

conformance: setup ## the official protocol suite (Node 22.19 or newer, or npm to fetch one), and the Inspector's lint
	$(PYTHON_IN) tests/referees/run.py --install
	$(PYTHON_IN) tests/referees/run.py --product $(VENV)/specloom serve
	$(PYTHON_IN) tests/referees/run.py --inspector $(VENV)/specloom serve

bench: setup ## the benchmarks; BENCH=quick for a short run
	$(PYTHON_IN) bench/run.py $(if $(filter quick,$(BENCH)),--quick)

bench-extraction: setup ## how well content is found, beside other extractors; needs the benchmark's pages (SPECLOOM_BENCH)
	$(VENV)/python -m pip install --quiet trafilatura resiliparse readability-lxml html-text html-to-markdown rapidfuzz scipy
	$(PYTHON_IN) bench/extraction/run.py

bench-trust: setup ## precision and recall of the trust checks on the gold set
	$(PYTHON_IN) bench/trust.py

clean: ## remove what tools leave behind (.venv stays)
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage build dist out
	find engine tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +
