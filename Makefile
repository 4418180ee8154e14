# make run and make test are all that is needed; the rest is for people who work on wh-judge.
PYTHON ?= python3
BIN := .venv/bin
HOST := 127.0.0.1
UI_PORT ?= 3000
DOCS_PORT ?= 3001
SCREEN_PORT ?= 3002
DAGSTER_HOME ?= $(CURDIR)
export DAGSTER_HOME
DATA := $(or $(WH_JUDGE_DATA),data)
# No dependency may report anything to anyone.
export DAGSTER_DISABLE_TELEMETRY := 1
export GX_ANALYTICS_ENABLED := False
export DO_NOT_TRACK := 1

.PHONY: help run test lint bench ui serve clean lock

help:
	@echo "make run    judge the sample log and show the result"
	@echo "make test   run all tests"
	@echo "make lint   ruff, mypy and dagster definitions validate"
	@echo "make serve  the screen on http://$(HOST):$(SCREEN_PORT), and all that make ui starts"
	@echo "make bench  measure speed and memory beside what else one could use (hours; BENCH=\"judge-1m lexicon\" for some)"
	@echo "make ui     the Dagster UI with its daemon on http://$(HOST):$(UI_PORT), the Data Docs on port $(DOCS_PORT)"
	@echo "make lock   pin the versions of all dependencies anew"
	@echo "make clean  delete what runs have made (data/, .dagster/), not the sample"

# Exit code 1 means that there is something to look at, such as the rejected rows of the sample: the run itself is done.
run: .venv/run
	@$(BIN)/wh-judge run || [ $$? -eq 1 ]

test: .venv/dev
	@PYTHONHASHSEED=0 $(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

lint: .venv/dev
	@$(BIN)/ruff check wh_judge wh_judge_tests benchmarks
	@$(BIN)/ruff format --check wh_judge wh_judge_tests benchmarks
	@$(BIN)/mypy
	@$(BIN)/dagster definitions validate --log-level warning

bench: .venv/dev
	@$(BIN)/python -m benchmarks $(BENCH)

# Two daemons on one history get in each other's way, so that a port in use ends it before anything is started.
define free
	@for port in $(1); do \
	$(BIN)/python -c 'import socket, sys; s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind((sys.argv[1], int(sys.argv[2])))' \
	$(HOST) $$port 2>/dev/null || { echo "port $$port is in use: end what runs there (make serve starts all of make ui), or give" \
	"UI_PORT, DOCS_PORT or SCREEN_PORT, such as: make ui UI_PORT=3010" >&2; exit 2; }; done
endef

# dagster recommends dg dev, which reads a layout of its own that this project does not have.
QUIET := PYTHONWARNINGS='ignore:Function `dev_command` is superseded:FutureWarning'

# A shell starts what is in its background deaf to Ctrl-C, and Dagster then hears no other signal either.
HEARING := -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])'

# Waits for the end of $(1), which Ctrl-C meets, too, and which TERM is passed on to; $(2) ends after it.
define until_the_end
	trap : INT; trap "kill $(1)" TERM; trap "kill $(2) 2>/dev/null" EXIT; \
	while kill -0 $(1) 2>/dev/null; do wait $(1); done
endef

# The second server shows the Data Docs that the checks link to: a browser opens no file from a served page.
ui: .venv/run
	$(call free,$(UI_PORT) $(DOCS_PORT))
	@mkdir -p $(DATA)/docs
	@$(BIN)/python -m http.server --bind $(HOST) --directory $(DATA)/docs $(DOCS_PORT) >/dev/null 2>&1 & docs=$$!; \
	echo "Dagster UI  http://$(HOST):$(UI_PORT)" >&2; echo "Data Docs   http://$(HOST):$(DOCS_PORT)" >&2; \
	$(QUIET) $(BIN)/python $(HEARING) $(BIN)/dagster dev --host $(HOST) --port $(UI_PORT) & ui=$$!; \
	$(call until_the_end,$$ui,$$docs)

# The screen and the Dagster UI end together.
serve: .venv/run
	$(call free,$(UI_PORT) $(DOCS_PORT) $(SCREEN_PORT))
	@$(BIN)/wh-judge screen --host $(HOST) --port $(SCREEN_PORT) & screen=$$!; \
	$(MAKE) --no-print-directory ui & ui=$$!; \
	$(call until_the_end,$$ui,$$screen)

.venv/run: requirements.lock pyproject.toml
	@sh tools/make-venv.sh $(PYTHON)
	@echo "installing what wh-judge needs into .venv; this takes some minutes, once" >&2
	@sh tools/install.sh requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	@touch $@

.venv/dev: .venv/run requirements-dev.lock
	@echo "installing what the tests need into .venv" >&2
	@sh tools/install.sh requirements-dev.lock
	@touch $@

# Extras stay in the pins: older versions of pip refuse a hashed lock without them.
LOCK := $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
	--no-strip-extras --quiet pyproject.toml

lock: .venv/run
	@$(BIN)/python -m pip install --quiet uv
	$(LOCK) -o requirements.lock
	$(LOCK) --extra dev --extra spark -c requirements.lock -o requirements-dev.lock

clean:
	rm -rf .dagster .nux data/dagster data/docs data/published data/warehouse.duckdb data/warehouse.duckdb.wal
