# Every target sets up what it needs first. On a fresh machine: `make demo`, `make test`.

VENV := .venv/bin
PYTHON_IN := $(VENV)/python
# A worker that has nothing left to do takes tests from another.
PYTEST := $(PYTHON_IN) -m pytest -n auto --dist worksteal
# What nobody waits for who changes something: servers, browsers, corpora, referees, faults, and what takes minutes.
DEEP := process or corpus or referee or faults or slow
# BENCH=quick makes `make bench` short: fewer rounds, the same ratios.
BENCH ?=
# RIVAL=PROGRAM names the server that is measured beside ours, RECORD=yes appends the figures to their history.
RIVAL ?=
RECORD ?=
NAME ?=
CAPABILITY ?=

.DEFAULT_GOAL := help
.PHONY: help setup demo test check lint format types specs docs-check fix docs site new first-answer image-steps bundle test-deep slow test-all test-nightly coverage mutate conformance \
	bench bench-answers bench-extraction bench-trust clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / {printf "  %-17s %s\n", $$1, $$2}' Makefile

setup: ## make .venv and install everything; does nothing when nothing changed
	@sh scripts/setup.sh

demo: setup ## run the main job once, and show what it sends and returns
	@$(PYTHON_IN) scripts/demo.py

# All checks run even if one fails, two at a time, and pytest's summary closes the output.
test: setup ## all checks and the tests that a change waits for: at most four minutes on two cores
	@failed=; \
	$(MAKE) --no-print-directory -k -j2 check || failed=checks; \
	test -z "$$failed" || echo "test: a check failed before pytest (make check repeats them)"; \
	$(PYTEST) -m "not ($(DEEP))" || failed="$$failed pytest"; \
	test -z "$$failed"

test-deep: setup ## the tests that `make test` leaves out, and property tests with 200 examples instead of 25
	$(PYTEST) -m "$(DEEP) or hypothesis" --hypothesis-profile ci

slow: setup ## faults, kills and made-up input with all their tries: disks, clocks, bad upstreams, hostile bodies
	$(PYTHON_IN) -m pytest -m "faults or slow" --many

test-all: test test-deep ## all checks and all tests

test-nightly: setup ## property tests with 2,000 examples, others each time
	$(PYTEST) -m hypothesis --hypothesis-profile nightly

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
	$(PYTHON_IN) scripts/manual.py --check
	$(PYTHON_IN) scripts/cookbook.py --check
	$(PYTHON_IN) bench/history.py --check
	$(PYTHON_IN) scripts/site.py --check

fix: setup ## repair what ruff can repair, and format
	$(VENV)/ruff check --fix
	$(VENV)/ruff format

docs: setup ## generate the pages, tables and schemas that are generated
	$(VENV)/specloom docs
	$(PYTHON_IN) scripts/rooms.py
	$(PYTHON_IN) scripts/manual.py
	$(PYTHON_IN) scripts/cookbook.py
	$(PYTHON_IN) bench/history.py

site: setup ## the documentation as a site, in out/site
	$(PYTHON_IN) scripts/site.py

new: setup ## start a provider: make new NAME=openlibrary CAPABILITY=web
	@test -n "$(NAME)" || { echo 'new: say which: make new NAME=openlibrary [CAPABILITY=web]' >&2; exit 2; }
	$(VENV)/specloom new provider $(NAME) $(if $(CAPABILITY),--capability $(CAPABILITY))

first-answer: setup ## from an empty home to a first answer in two commands, with the seconds; needs an index of packages
	$(PYTHON_IN) scripts/first_answer.py

image-steps: setup ## the steps of deploy/Dockerfile one after the other, without a builder; needs an index of packages
	$(PYTHON_IN) scripts/image_steps.py

bundle: setup ## the wheel, and the bundle that hosts install with one click (.mcpb), in dist
	rm -rf dist
	$(PYTHON_IN) -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .
	$(PYTHON_IN) scripts/bundle.py dist/specloom-*.whl

coverage: setup ## branch coverage of the package
	$(VENV)/coverage run -m pytest -m "not ($(DEEP))"
	$(VENV)/coverage report --skip-covered --show-missing

mutate: setup ## change the specs one detail at a time; their examples must notice
	$(VENV)/specloom mutate --floor 0.9

conformance: setup ## the official protocol suite (Node 22.19 or newer, or npm to fetch one), and the Inspector's lint
	$(PYTHON_IN) -m tests.referees.run --install
	$(PYTHON_IN) -m tests.referees.run --product $(VENV)/specloom serve
	$(PYTHON_IN) -m tests.referees.run --http
	$(PYTHON_IN) -m tests.referees.run --http --product $(VENV)/specloom serve
	$(PYTHON_IN) -m tests.referees.run --inspector $(VENV)/specloom serve

bench: setup ## the benchmarks; BENCH=quick for a short run
	$(PYTHON_IN) bench/run.py $(if $(filter quick,$(BENCH)),--quick) $(if $(RIVAL),--rival $(RIVAL)) $(if $(RECORD),--record)

bench-extraction: setup ## how well content is found, beside other extractors; needs the benchmark's pages (SPECLOOM_BENCH)
	$(VENV)/python -m pip install --quiet trafilatura resiliparse readability-lxml html-text html-to-markdown rapidfuzz scipy
	$(PYTHON_IN) bench/extraction/run.py

bench-answers: setup ## whether answers carry what answers a question, and at what cost; needs pages and recordings (SPECLOOM_BENCH, SPECLOOM_FIXTURES)
	$(PYTHON_IN) bench/answers/judge.py

bench-trust: setup ## precision and recall of the trust checks on the gold set
	$(PYTHON_IN) bench/trust.py

clean: ## remove what tools leave behind (.venv stays)
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage build dist out
	find engine tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +
