"""Editors without a plugin, collected with `AGENT_LSP_EDITORS=1`: they need programs that `make test` does not install."""

import os

if not os.environ.get("AGENT_LSP_EDITORS"):
    collect_ignore_glob = ["test_*"]
