"""`agent-lsp models`: which models there are, and whether one of them answers."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent_lsp.cli.inquiry import inquire
from agent_lsp.cli.kept import DATA_DIR_HELP, width
from agent_lsp.cli.shapes import ModelRef, Shape
from agent_lsp.cli.status import EXIT_STATUS, USAGE
from agent_lsp.cli.tables import Column, table
from agent_lsp.policy.visible import visible, visible_line
from agent_lsp.trace.view.figures import short_count

_COLUMNS = (
    Column(""),
    Column("model", shrinks=True),
    Column("context", is_number=True),
    Column("vision"),
    Column("tools"),
    Column("key"),
)
_FAILED = EXIT_STATUS["failed"]


class _Model(ModelRef):
    context_window: int | None = None
    vision: bool = False
    tool_calling: bool = True
    has_credential: bool = False

    @property
    def name(self) -> str:
        return f"{self.provider}/{self.model}"


class _Listing(Shape):
    models: tuple[_Model, ...]
    default_model: ModelRef


def add_models(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Adds the command to those that `add` makes."""
    command = add(
        "models",
        help="which models there are, and whether one answers",
        description="Lists the models of the providers that are configured or have a key, and those of servers on this"
        " machine if there are none. With --test it makes the smallest request there is, and the exit status is that of"
        " a run that ends like it.",
    )
    command.add_argument("--test", metavar="PROVIDER/MODEL", help="try this one out")
    command.add_argument("--json", action="store_true", help="the server's answer as JSON")
    command.add_argument("--workspace", type=Path, default=Path(), metavar="DIR", help="default: the current folder")
    command.add_argument("--config", type=Path, metavar="FILE", help="a user configuration to read instead of yours")
    command.add_argument("--data-dir", type=Path, metavar="DIR", help=DATA_DIR_HELP)
    command.set_defaults(carry_out=_models)


def _models(given: argparse.Namespace) -> int:
    workspace = given.workspace.absolute()
    if not workspace.is_dir():
        print(f"agent-lsp: no folder {visible(str(workspace))}", file=sys.stderr)
        return USAGE
    chosen = {"config": given.config, "dataDir": given.data_dir}
    options = {name: str(path.absolute()) for name, path in chosen.items() if path}
    if given.test is not None:
        answer = inquire("agent/models/test", {"model": given.test}, workspace, options)
        return _tell_test(given.test, answer, as_json=given.json)
    # The first answer may come before the keyring was asked; whoever asks again gets all there is.
    answer = inquire("agent/models", {}, workspace, options, times=2)
    if given.json:
        print(json.dumps(answer, indent=2, ensure_ascii=False))
    else:
        _tell(_Listing.model_validate(answer))
    return 0


def _tell(listing: _Listing) -> None:
    for line in table(_COLUMNS, [_row(one, listing.default_model) for one in listing.models], width()):
        print(line)
    default = listing.default_model
    print(visible_line(f"* the default, {default.provider}/{default.model}"))
    if not any(one.has_credential and one.provider != "rehearsal" for one in listing.models):
        print("No language model is within reach: agent-lsp login PROVIDER keeps a key, or start a server like Ollama.")


def _row(model: _Model, default: ModelRef) -> tuple[str, ...]:
    return (
        "*" if (model.provider, model.model) == (default.provider, default.model) else "",
        model.name,
        short_count(model.context_window) if model.context_window else "?",
        _said(model.vision),
        _said(model.tool_calling),
        _said(model.has_credential),
    )


def _said(value: bool) -> str:
    return "yes" if value else "no"


def _tell_test(name: str, answer: dict[str, Any], *, as_json: bool) -> int:
    status = answer["status"]
    if as_json:
        print(json.dumps(answer, ensure_ascii=False))
    elif answer["ok"]:
        print(visible_line(f"✓ {name} answers, after {answer['latencyMs']} ms"))
    else:
        print(visible_line(f"✗ {name}: {answer.get('message') or status}"))
    return EXIT_STATUS.get(status, _FAILED)
