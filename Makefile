# Everything a developer types. `make demo` and `make test` need nothing but Python 3.11 or newer; both install into .venv.

PYTHON ?= $(firstword $(foreach name,python3 python3.13 python3.12 python3.11,$(shell \
	$(name) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(name))))
BIN := .venv/bin
INSTALLED := .venv/.installed
RUNNABLE := .venv/.runnable
ACP_SDK := @agentclientprotocol/sdk@2.4.0 zod@4.6.7
ACP_SDK_INSTALLED := .venv/npm/.installed
NODE := $(CURDIR)/.venv/node24
BENCH ?= ../shared/bench
BENCH_HOME := $(CURDIR)/.bench
PHASES ?=
PEERS ?=
PYTEST_ARGS ?=
FUZZ_INPUTS ?= 1000000
FUZZ_MINUTES ?= 60
FUZZ_ARGS ?=
SOAK_SESSIONS ?= 64
SOAK_MINUTES ?= 10

# need(PROGRAM,PACKAGE)
define need
command -v $(1) >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
	&& { apt-get install --quiet --quiet --yes $(2) >/dev/null 2>&1 || { apt-get update --quiet --quiet >/dev/null 2>&1 \
	&& apt-get install --quiet --quiet --yes $(2) >/dev/null 2>&1; }; }; } \
	|| echo '$(2) is not installed: its tests are skipped'
endef

.DEFAULT_GOAL := help
.PHONY: help install venv demo programs clients plugins test e2e e2e-nvim e2e-emacs e2e-vscode walks vsix live fuzz soak lint style types layers size docs package bench bench-guard clean

help:
	@echo 'make demo     watch the agent work, offline, on a sample workspace'
	@echo 'make test     everything that needs no editor    (PYTEST_ARGS="-k name" for less)'
	@echo 'make e2e      the plugins in a real VS Code, Neovim and Emacs; they are installed first'
	@echo 'make walks    each start page as a new user goes through it; logs and pictures in build/walks'
	@echo 'make vsix     the extension for VS Code, as a file to install'
	@echo 'make live     the model that AGENT_LSP_LIVE_BASE_URL and AGENT_LSP_LIVE_MODEL name, say of Ollama or llama.cpp'
	@echo 'make fuzz     a million inputs that are nearly right, 2 processes     (FUZZ_INPUTS=, FUZZ_MINUTES=, FUZZ_ARGS=--help)'
	@echo 'make soak     64 sessions at once for 10 minutes                     (SOAK_SESSIONS=, SOAK_MINUTES=)'
	@echo 'make lint     style, types, layers, and what has grown too big'
	@echo 'make docs     the documentation as a site, in build/site'
	@echo 'make package  wheel and sdist in dist, tried out; and the walks'
	@echo 'make bench    speed against the agents in .bench, into docs/performance.md (PEERS="codex agent-lsp", PHASES=cold,stream for less)'
	@echo 'make bench-guard    half a minute against a small floor of our own, with generous limits'
	@echo 'make clean    remove .venv, caches and measurements'

install: $(INSTALLED)

venv:
	@test -n '$(PYTHON)' || { echo 'agent-lsp needs Python 3.11 or newer; none was found. PYTHON=… names one.' >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv

$(INSTALLED): pyproject.toml
	@$(MAKE) --no-print-directory venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $(RUNNABLE) $@

# No more than it takes to run: a first look should not wait for what only a developer needs.
$(RUNNABLE): pyproject.toml
	@$(MAKE) --no-print-directory venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

demo: $(RUNNABLE)
	@$(BIN)/agent-lsp demo

# What some tests need beside Python; without it they are skipped. Installed only where that takes no password.
programs:
	@$(call need,rg,ripgrep)
	@$(call need,bwrap,bubblewrap)

# Likewise what npm brings: a failure is no obstacle, and is tried again the next time. Where there is no Node, the plugins' is used.
clients: $(INSTALLED)
	@test "$$(cat $(ACP_SDK_INSTALLED) 2>/dev/null)" = '$(ACP_SDK)' || { npm=npm; command -v npm && command -v node \
		|| { $(MAKE) -C editors/vscode install && PATH="$(NODE)/bin:$$PATH" && npm="node $(NODE)/lib/node_modules/npm/bin/npm-cli.js"; }; \
		mkdir -p .venv/npm && $$npm install --prefix .venv/npm --no-save --no-package-lock --ignore-scripts --no-audit \
		--no-fund --fetch-retries=0 --fetch-timeout=10000 $(ACP_SDK) && echo '$(ACP_SDK)' > $(ACP_SDK_INSTALLED); } \
		>/dev/null 2>&1 || echo 'npm did not install the TypeScript client: its tests are skipped'

# What the plugins are built and checked with, all of it below .venv and their own folders.
plugins: $(INSTALLED)
	$(MAKE) -C editors/vscode install
	$(MAKE) -C editors/nvim install

test: $(INSTALLED) programs clients
	$(BIN)/python -m pytest $(PYTEST_ARGS)
	$(MAKE) -C editors/vscode test

# Each part runs, whatever became of the one before.
e2e: $(INSTALLED)
	$(MAKE) --keep-going e2e-nvim e2e-emacs e2e-vscode walks

e2e-nvim: $(INSTALLED)
	$(MAKE) -C editors/nvim test e2e

e2e-emacs: $(INSTALLED)
	$(MAKE) -C editors/nvim emacs

e2e-vscode: $(INSTALLED)
	$(MAKE) --keep-going -C editors/vscode hosted e2e

# Each start page, in a fresh home and a copy of the checkout; in editors where the page is about one.
walks: $(INSTALLED)
	WALKS=1 $(BIN)/python -m pytest tests/docs/test_docs_walks.py -v -rs

vsix:
	$(MAKE) -C editors/vscode vsix

live: $(INSTALLED)
	$(BIN)/python -m pytest tests/live -v -rs $(PYTEST_ARGS)

fuzz: $(INSTALLED)
	$(BIN)/python tests/fuzz/long.py --inputs $(FUZZ_INPUTS) --minutes $(FUZZ_MINUTES) $(FUZZ_ARGS)

soak: $(INSTALLED)
	$(BIN)/python tests/load/soak.py --sessions $(SOAK_SESSIONS) --minutes $(SOAK_MINUTES)

lint: style types layers size lint-vscode lint-nvim

lint-%: $(INSTALLED)
	$(MAKE) -C editors/$* lint

style: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(INSTALLED)
	$(BIN)/basedpyright

layers: $(INSTALLED)
	$(BIN)/lint-imports

size: $(INSTALLED)
	$(BIN)/python .ci/size_report.py

docs: $(INSTALLED)
	$(BIN)/python docs/mkdocs/pages.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --config-file docs/mkdocs/mkdocs.yml
	@echo 'build/site/index.html'

package: $(INSTALLED)
	PACKAGE=1 WALKS=1 $(BIN)/python -m pytest tests/packaging tests/docs/test_docs_walks.py -v -rs $(PYTEST_ARGS)

# Other agents are installed by $(BENCH)/install.sh (BENCH_HOME=.bench); those that are not there are named and left out.
bench: $(INSTALLED)
	$(BIN)/python tests/bench/long_session.py
	@test -x $(BENCH)/bench.py || { echo 'no bench harness in $(BENCH); BENCH=… names its folder' >&2; exit 1; }
	@test -x $(BENCH_HOME)/venv/bin/python || BENCH_HOME=$(BENCH_HOME) PYTHON=$(CURDIR)/$(BIN)/python $(BENCH)/install.sh floors
	BENCH_HOME=$(BENCH_HOME) AGENT_LSP_CMD=$(CURDIR)/$(BIN)/agent-lsp $(BENCH_HOME)/venv/bin/python $(BENCH)/bench.py $(if $(PHASES),--only=$(PHASES)) $(PEERS); \
		status=$$?; BENCH_HOME=$(BENCH_HOME) $(BIN)/python tests/bench/page.py $(BENCH) && exit $$status

bench-guard: $(INSTALLED)
	$(BIN)/python tests/bench/guard.py

clean:
	rm -rf .venv editors/*/node_modules editors/vscode/dist editors/vscode/artifacts editors/vscode/*.vsix .bench .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist build
	find agent_lsp tests -name __pycache__ -type d -prune -exec rm -rf {} +
