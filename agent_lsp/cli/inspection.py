"""The commands that look at the installation and run nothing: `doctor` and `schema`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from agent_lsp.config.facts import gather
from agent_lsp.config.layers import load
from agent_lsp.config.report import report
from agent_lsp.config.schema import json_schema


def doctor(workspace: Path) -> int:
    """Prints what is in force and where it comes from; 1 if something in it is wrong. Raises ConfigError."""
    folder = str(workspace.absolute())
    facts = gather(load(workspace=folder), workspace=folder, trusted=False)
    sys.stdout.write(report(facts))
    return 1 if facts.problems else 0


def schema(*, camel: bool) -> int:
    """Prints the JSON Schema of the configuration."""
    print(json.dumps(json_schema(camel=camel), indent=2, ensure_ascii=False))
    return 0
