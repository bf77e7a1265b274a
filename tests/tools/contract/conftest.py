"""All the tools there are, those that a session may be without too."""

from __future__ import annotations

import pytest

from agent_lsp.tools.errands import NoSubagents
from agent_lsp.tools.findings import Finding


class Planning:
    """A plan mode that is on."""

    is_on = True

    def leave(self) -> str:
        return "ask"


async def nowhere(url):
    return "there is no web here"


@pytest.fixture
def make_whole_session(make_session, root):
    """make_whole_session(limits=…, fetch=…) → a session that has every built-in tool."""

    async def findings(path):
        return [Finding(root / "hello.txt", 1, 1, "error", "no greeting")]

    def make(**context):
        whole = {
            "subagents": NoSubagents({"scout": "Looks around."}),
            "plan_mode": Planning(),
            "fetch": nowhere,
            "findings": findings,
        }
        return make_session(**{**whole, **context})

    return make


@pytest.fixture
def session(make_whole_session):
    return make_whole_session()
