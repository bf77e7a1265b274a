"""Whatever a client sends, it gets one answer, which is never a bug of ours."""

import asyncio
import json
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_lsp.acp.handlers import service
from agent_lsp.acp.methods import ListParams, ModeParams, OldParams, OptionParams, PromptParams
from tests.acp.acp_end import acp_end

PARAMS = (OldParams, ListParams, ModeParams, OptionParams, PromptParams)
FIELDS = sorted(
    {field.alias or name for params in PARAMS for name, field in params.model_fields.items()} | {"methodId"}
)
WORDS = [
    "SESSION",
    "",
    "/",
    "relative",
    "plan",
    "mode",
    "login",
    "text",
    "stdio",
    "/tools",
    "a\0b",
    "\ud800",
    "file:///x",
]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "uri", "name", "data", "mimeType", "resource", "command", "url"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=8,
)
METHODS = ("authenticate", "session/new", "session/load", "session/resume", "session/fork", "session/list")
METHODS += ("session/close", "session/delete", "session/set_mode", "session/set_config_option", "session/prompt")
METHODS += ("_session/steering",)
SENT = st.tuples(st.sampled_from(METHODS), st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=5))


def test_all_methods_are_tried():
    hub = SimpleNamespace(opener=SimpleNamespace(models=None), close_all=None)
    assert sorted(service(None, hub).requests) == sorted(METHODS)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(SENT, min_size=1, max_size=6))
def test_nothing_that_is_sent_is_a_bug(tmp_path, sent):
    async def trial():
        with pytest.MonkeyPatch.context() as monkeypatch:
            async with acp_end(tmp_path, monkeypatch) as (client, model):
                session = await client.new(tmp_path / "work")
                model.script(*[[]] * 20)
                for method, params in sent:
                    params = json.loads(json.dumps(params).replace('"SESSION"', json.dumps(session)))
                    answer = client.send(method, **params)
                    await asyncio.wait([answer], timeout=5)
                    error = answer.exception()
                    assert error is None or error.code != -32603 or error.data["kind"] != "internal_error", (
                        method,
                        params,
                    )

    asyncio.run(trial())
