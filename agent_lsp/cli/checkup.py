"""What doctor tells beside the configuration: libraries, network, model, sandbox, editors, traces.

Nothing of it leaves the machine, unless the model is to be tried. No credential is in it, and no name of a home.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agent_lsp.cli.inquiry import inquire
from agent_lsp.errors import AgentError
from agent_lsp.policy.visible import visible_line
from agent_lsp.providers import catalog
from agent_lsp.trace.paths import DataDir
from agent_lsp.trace.view.figures import plural

if TYPE_CHECKING:
    from agent_lsp.config.layers import Merged
    from agent_lsp.providers.catalog import Providers

LIBRARIES = ("pydantic", "httpx", "truststore", "tree-sitter", "mcp", "keyring", "genai-prices", "opentelemetry-sdk")
EDITORS = ("code", "codium", "code-server", "nvim", "emacs", "zed", "hx", "kate", "subl")
_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY")
_WITHIN_S = 5.0

Rows = Iterator[tuple[str, str]]


def checkup(merged: Merged, workspace: Path, kept: frozenset[str], *, is_tried: bool) -> str:
    """The sections, each a title and rows below it. `kept`: providers with a key in the keyring alone."""
    sections = (
        ("Libraries", _libraries()),
        ("Sandbox", _sandbox()),
        ("Editors", _editors()),
        ("Traces", _traces(Path(merged.data_dir))),
        ("Network", _network(os.environ)),
        ("Model", _model(merged, workspace, kept, is_tried=is_tried)),
    )
    return "".join(_section(title, list(rows)) for title, rows in sections)


def without_home(text: str) -> str:
    """The text with `~` for the home folder: whose it is is nobody's business in a bug report."""
    home = os.path.expanduser("~")  # noqa: PTH111 - a home that cannot be told is no error here
    return text.replace(f"{home}/", "~/") if home not in ("~", "/") else text


def _section(title: str, rows: list[tuple[str, str]]) -> str:
    width = max((len(name) for name, _ in rows), default=0)
    lines = "".join(f"  {name:<{width}}  {visible_line(value, 300)}".rstrip() + "\n" for name, value in rows)
    return f"\n{title}\n{lines}" if rows else ""


def _libraries() -> Rows:
    for name in LIBRARIES:
        try:
            yield name, version(name)
        except PackageNotFoundError:
            yield name, "not installed"


def _network(environ: Mapping[str, str]) -> Rows:
    for name in _PROXIES:
        value = environ.get(name) or environ.get(name.lower())
        if value:
            yield name, value if name == "NO_PROXY" else _address(value)
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        if place := environ.get(name):
            yield name, place if os.access(place, os.R_OK) else f"{place}  cannot be read"


def _address(url: str) -> str:
    """A proxy's host and port; of its name and password only that there are any."""
    try:
        parts = urlsplit(url if "//" in url else f"//{url}")
        return f"{parts.hostname}:{parts.port or 'usual port'}{', with a login' if parts.password else ''}"
    except ValueError:
        return "not an address"


def _model(merged: Merged, workspace: Path, kept: frozenset[str], *, is_tried: bool) -> Rows:
    providers: Providers = merged.values.get("providers", {})
    known = {**providers, **{name: {**providers.get(name, {}), "api_key": "kept"} for name in kept}}
    named = merged.values.get("default_model")
    chosen = catalog.default_model(named, known, os.environ)
    name = f"{chosen['provider']}/{chosen['model']}"
    if catalog.is_nothing_configured(named, known, os.environ):
        yield "default", "none is configured: that of a model server on this machine, else the rehearsal"
        yield "", "to have one: set a key such as ANTHROPIC_API_KEY, run agent-lsp login PROVIDER, or start Ollama"
    else:
        yield "default", name
    if is_tried:
        yield "tried", _tried(merged, workspace, name)
    else:
        yield "tried", "no; agent-lsp doctor --test makes the smallest request there is"


def _tried(merged: Merged, workspace: Path, name: str) -> str:
    options = {"config": merged.user_file, "dataDir": merged.data_dir}
    try:
        answer = inquire("agent/models/test", {"model": name}, workspace, options)
    except AgentError as error:
        return f"✗ {error.message}"
    return f"✓ answers, after {answer['latencyMs']} ms" if answer["ok"] else f"✗ {answer.get('message')}"


def _sandbox() -> Rows:
    program = shutil.which("bwrap")
    if program is None:
        yield "bwrap", "not installed (tools.sandbox needs it; Linux only)"
        return
    try:
        trial = [program, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-pid", "true"]
        done = subprocess.run(trial, capture_output=True, text=True, timeout=_WITHIN_S)
        yield "bwrap", "works" if done.returncode == 0 else f"does not work here: {done.stderr.strip()}"
    except (OSError, subprocess.TimeoutExpired) as error:
        yield "bwrap", f"does not work here: {error}"


def _editors() -> Rows:
    return ((name, path) for name in EDITORS if (path := shutil.which(name)))


def _traces(data_dir: Path) -> Rows:
    try:
        sessions = DataDir(data_dir).all_trace_files()
        size = sum(file.path.stat().st_size for files in sessions.values() for file in files)
    except OSError as error:
        yield "kept", f"cannot be read: {error.strerror}"
        return
    yield "kept", f"{plural(len(sessions), 'session')}, {size / 1e6:.1f} MB"
