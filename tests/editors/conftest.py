"""Editors without a plugin. `AGENT_LSP_EDITORS=1` collects them: they need what `make test` does not install."""

import os

if not os.environ.get("AGENT_LSP_EDITORS"):
    collect_ignore_glob = ["test_*"]
