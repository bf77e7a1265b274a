"""The commands that look at the installation, or set what is not in a file, and run nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from agent_lsp.config.facts import gather
from agent_lsp.config.layers import load
from agent_lsp.config.report import report
from agent_lsp.config.schema import json_schema
from agent_lsp.errors import ConfigError
from agent_lsp.policy.trust import Trust
from agent_lsp.policy.visible import visible_line


def doctor(workspace: Path) -> int:
    """Prints what is in force and where it comes from; 1 if something in it is wrong. Raises ConfigError."""
    folder = str(workspace.absolute())
    trusted = Trust(Path(load(workspace=folder).data_dir)).is_trusted(workspace)
    facts = gather(load(workspace=folder, trusted=trusted), workspace=folder, trusted=trusted)
    sys.stdout.write(report(facts))
    return 1 if facts.problems else 0


def schema(*, camel: bool) -> int:
    """Prints the JSON Schema of the configuration."""
    print(json.dumps(json_schema(camel=camel), indent=2, ensure_ascii=False))
    return 0


def trust(workspace: Path, *, remove: bool) -> int:
    """Trusts a workspace, or no longer. Raises ConfigError."""
    known = Trust(Path(load().data_dir))
    try:
        if remove:
            said = "is no longer trusted" if known.remove(workspace) else "was not trusted"
        else:
            workspace, said = known.add(workspace), "is trusted from now on"
    except OSError as error:
        raise ConfigError(f"{error.filename or workspace}: {error.strerror}") from error
    print(visible_line(f"{workspace.resolve()} {said}"))
    return 0
