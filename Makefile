# `make` lists the commands; CI runs the same ones.
.DEFAULT_GOAL := help
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

setup: $(STAMP) ## make .venv with everything, from the hashed lock file

$(STAMP): pyproject.toml requirements-dev.lock
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

check: setup ## format, lint, types, import rules, contract, generated code
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/codespell README.md CHANGELOG.md CONTRIBUTING.md ARCHITECTURE.md SECURITY.md docs services clients proto/telha tests --skip '*.json,*.jsonl,*_pb2*,*/stop_words.py,*/models/*dates.py,*/word_forms.py,*/fuzz/corpus/*' --ignore-words-list caf,te,objet,beng,nd,explian
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/buf lint
	$(BIN)/buf format --diff --exit-code
	$(BIN)/buf breaking --against proto/baseline.binpb
	$(MAKE) --no-print-directory generate-check

test: setup ## every test (half an hour)
	$(BIN)/python -m pytest

fault: setup ## let everything fail under load and count what is lost (a quarter of an hour); CALLS=2000 SEED=7 STORES=postgres
	GRPC_ENABLE_FORK_SUPPORT=0 $(BIN)/python tests/fault_suite.py --calls $(or $(CALLS),20000) --stores $(or $(STORES),sqlite) $(if $(SEED),--seed $(SEED)) $(ARGS)

schemathesis: setup ## hold the OpenAPI document against a running system; EXAMPLES=500 for longer
	$(BIN)/python tests/openapi_fuzzing.py --examples $(or $(EXAMPLES),100)

fuzz: setup ## feed every decoder hostile input: make fuzz SECONDS=60 TARGET=markdown SEED=1
	$(BIN)/python tests/fuzz/run.py --seconds $(or $(SECONDS),60) $(if $(TARGET),--target $(TARGET)) $(if $(SEED),--seed $(SEED)) $(if $(ENGINE),--engine $(ENGINE))

demo: setup ## the whole system on embedded parts: ingest examples/, ask eight questions, stop
	$(BIN)/telha demo

up: setup ## start the whole system on embedded parts and stay
	$(BIN)/telha up

bench: setup ## measure speed, each figure beside target and floor (three minutes)
	$(BIN)/python bench/run.py

screenshots: setup ## draw the pictures of the trace viewer anew; look at them before committing them
	$(BIN)/python tests/screenshots.py

load: setup ## a running system at half and at twice its capacity: latency, refusals, health (two minutes)
	$(BIN)/python bench/load.py

eval: setup ## measure evidence recall on a labelled set: make eval DATA=folder ARGS="--sample 100"
	@test -n "$(DATA)" || { echo "make eval DATA=folder; docs/evaluation.md has the format"; exit 2; }
	$(BIN)/telha eval $(ARGS) $(DATA)

generate: setup ## write proto/gen from proto/telha
	VENV=$(VENV) proto/generate.sh

generate-check: setup ## fail if proto/gen is not what proto/telha gives
	@before=$$(cd proto/gen && find . -type f -not -path '*/__pycache__/*' | sort | xargs sha256sum) && \
	  VENV=$(VENV) proto/generate.sh 2>/dev/null && \
	  after=$$(cd proto/gen && find . -type f -not -path '*/__pycache__/*' | sort | xargs sha256sum) && \
	  if [ "$$before" != "$$after" ]; then echo "proto/gen was stale; commit what make generate wrote"; exit 1; fi

baseline: setup ## renew the contract that breaking changes are held against; at a release, never to silence the check
	$(BIN)/buf build -o proto/baseline.binpb

golden: setup ## rewrite the golden files; read the diff before committing it
	PYTHONPATH=tests $(BIN)/python tests/golden/write.py

lock: setup ## resolve the lock files anew
	$(BIN)/uv pip compile -q --universal --generate-hashes --python-version 3.11 pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile -q --universal --generate-hashes --python-version 3.11 --all-extras pyproject.toml -c requirements.lock -o requirements-dev.lock
	$(BIN)/uv pip compile -q --universal --generate-hashes --python-version 3.11 --extra postgres --extra embed pyproject.toml -c requirements-dev.lock -o requirements-server.lock
	echo hatchling | $(BIN)/uv pip compile -q --universal --generate-hashes --python-version 3.11 - -c requirements-dev.lock -o requirements-build.lock

clean: ## remove what was built, not your data
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

.PHONY: help setup check test fault schemathesis demo up bench screenshots load eval generate generate-check baseline golden lock clean fuzz
