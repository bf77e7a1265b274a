"""The commands that look at the installation, or set what is not in a file, and run nothing."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from agent_lsp.cli.checkup import checkup, without_home
from agent_lsp.config.facts import gather
from agent_lsp.config.layers import Merged, load
from agent_lsp.config.report import report
from agent_lsp.config.schema import json_schema
from agent_lsp.config.settings import validate
from agent_lsp.errors import ConfigError
from agent_lsp.policy.trust import Trust
from agent_lsp.policy.visible import visible_line
from agent_lsp.providers.catalog import BUILT_IN, Providers
from agent_lsp.providers.credentials import kept_keys, lacks_key


def doctor(workspace: Path, config: Path | None = None, data_dir: Path | None = None, *, is_tried: bool = False) -> int:
    """Prints what is in force and where it comes from; 1 if something in it is wrong. Raises ConfigError.

    `config` and `data_dir` are those of a server that would be started with them. `is_tried`: the model is asked too.
    What is printed can be shown to anybody.
    """
    folder = str(workspace.absolute())
    chosen = {"config": config, "data_dir": data_dir}
    arguments = {name: str(path.absolute()) for name, path in chosen.items() if path}
    trusted = Trust(Path(load(workspace=folder, arguments=arguments).data_dir)).is_trusted(workspace)
    merged = load(workspace=folder, trusted=trusted, arguments=arguments)
    kept = _kept(merged)
    facts = gather(merged, workspace=folder, trusted=trusted, kept=kept)
    told = report(facts)
    if not facts.problems:
        told += checkup(merged, workspace.absolute(), kept, is_tried=is_tried)
    sys.stdout.write(without_home(told))
    return 1 if facts.problems else 0


def _kept(merged: Merged) -> frozenset[str]:
    """The providers that have nothing but a key in the keyring."""
    try:
        validate(merged)
    except ConfigError:
        return frozenset()
    providers: Providers = merged.values.get("providers", {})
    return frozenset(kept_keys(name for name in {*BUILT_IN, *providers} if lacks_key(name, providers, os.environ)))


def schema(of: str, *, camel: bool) -> int:
    """Prints the JSON Schema of the configuration or of the protocol, or the protocol's types in TypeScript."""
    if of == "config":
        print(json.dumps(json_schema(camel=camel), indent=2, ensure_ascii=False))
        return 0
    from agent_lsp.server.protocol_schema import protocol_schema

    if of == "protocol":
        print(json.dumps(protocol_schema(), indent=2, ensure_ascii=False))
        return 0
    from agent_lsp.server.protocol_typescript import typescript

    sys.stdout.write(typescript(protocol_schema()))
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
