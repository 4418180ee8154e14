# make run and make test are all that is needed; the rest is for people who work on wh-judge.
PYTHON ?= python3
BIN := .venv/bin
HOST := 127.0.0.1
DAGSTER_HOME ?= $(CURDIR)
export DAGSTER_HOME
DATA := $(or $(WH_JUDGE_DATA),data)
# No dependency may report anything to anyone.
export DAGSTER_DISABLE_TELEMETRY := 1
export GX_ANALYTICS_ENABLED := False
export DO_NOT_TRACK := 1

.PHONY: help run test lint bench ui serve clean lock model

help:
	@echo "make run    judge the sample log and show the result"
	@echo "make test   run all tests"
	@echo "make lint   ruff, mypy and dagster definitions validate"
	@echo "make serve  the screen on http://$(HOST):3002 beside the Dagster UI of make ui"
	@echo "make bench  measure speed and memory beside what else one could use (hours; BENCH=\"judge-1m lexicon\" for some)"
	@echo "make ui     the Dagster UI with its daemon on http://$(HOST):3000"
	@echo "make model  build the small language model that tests of drafts ask, into .wheels/"
	@echo "make clean  delete what runs have made (data/, .dagster/), not the sample"

# Exit code 1 means that there is something to look at, such as the rejected rows of the sample: the run itself is done.
run: .venv/run
	@$(BIN)/wh-judge run || [ $$? -eq 1 ]

test: .venv/dev
	@PYTHONHASHSEED=0 $(BIN)/python -m pytest -n 2 --dist loadfile

lint: .venv/dev
	@$(BIN)/ruff check wh_judge wh_judge_tests benchmarks
	@$(BIN)/ruff format --check wh_judge wh_judge_tests benchmarks
	@$(BIN)/mypy
	@$(BIN)/dagster definitions validate --log-level warning

bench: .venv/dev
	@$(BIN)/python -m benchmarks $(BENCH)

# The second server shows the Data Docs that the checks link to: a browser opens no file from a served page.
ui: .venv/run
	@mkdir -p $(DATA)/docs
	@$(BIN)/python -m http.server --bind $(HOST) --directory $(DATA)/docs 3001 >/dev/null 2>&1 & docs=$$!; \
	trap "kill $$docs 2>/dev/null" EXIT; \
	$(BIN)/dagster dev --host $(HOST) --port 3000

# The screen and the Dagster UI end together.
serve: .venv/run
	@$(BIN)/wh-judge screen --host $(HOST) & screen=$$!; \
	trap "kill $$screen 2>/dev/null" EXIT; \
	$(MAKE) --no-print-directory ui

.venv/run: requirements.lock pyproject.toml
	@sh tools/make-venv.sh $(PYTHON)
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --no-deps -e .
	@touch $@

.venv/dev: .venv/run requirements-dev.lock
	@$(BIN)/python -m pip install --quiet --require-hashes -r requirements-dev.lock
	@touch $@

model: .venv/dev
	@sh tools/make-model.sh $(BIN)/python

# Extras stay in the pins: older versions of pip refuse a hashed lock without them.
LOCK := $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
	--no-strip-extras --quiet pyproject.toml

lock: .venv/run
	@$(BIN)/python -m pip install --quiet uv
	$(LOCK) -o requirements.lock
	$(LOCK) --extra dev --extra spark -c requirements.lock -o requirements-dev.lock

clean:
	rm -rf .dagster .nux data/dagster data/docs data/published data/warehouse.duckdb data/warehouse.duckdb.wal
