"""Scenes of a session's life with the official TypeScript client, where Node.js and the package are there."""

import asyncio
import os
import shutil
from pathlib import Path

import pytest

from tests.e2e.launch import AGENT_LSP
from tests.e2e.model_server import Gate, ModelServer, say, think, use

VENV = Path(__file__).parents[2] / ".venv"
INSTALLED = os.environ.get("ACP_TYPESCRIPT_SDK") or VENV / "npm"
NODE = shutil.which("node") or shutil.which("node", path=VENV / "node24" / "bin")  # the plugins' own
SDK = Path(INSTALLED, "node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js")
SCENES = Path(__file__).with_name("client.mjs")

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.skipif(
        not (SDK.exists() and NODE),
        reason="needs node and the npm package, which `make test` installs where it can",
    ),
]
TOUCH = use("exec_command", {"cmd": "touch made"})


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "notes.txt").write_text("first line\nsecond line\n")
    return folder


async def play(scene, work, *turns):
    """Runs a scene, in which the model says these turns; returns what the model was asked."""
    config, data = work.parent / "config.toml", work.parent / "data"
    async with ModelServer() as model:
        config.write_text(
            f'default_model = "chat/big"\ntitles = false\n[providers.chat]\napi = "openai-chat"\n'
            f'base_url = "{model.url}/v1"\napi_key = "sk-test"\n'
            "[providers.chat.models.big]\ncontext_window = 100000\ntool_calling = true\n"
        )
        config.chmod(0o600)
        model.script(*turns)
        agent = (str(AGENT_LSP), "acp", "--config", str(config), "--data-dir", str(data))
        pipe = asyncio.subprocess.PIPE
        node = await asyncio.create_subprocess_exec(
            NODE, str(SCENES), str(SDK), scene, str(work), *agent, stdout=pipe, stderr=pipe
        )
        try:
            said, complaints = await asyncio.wait_for(node.communicate(), 40)
        finally:
            if node.returncode is None:
                node.kill()
            for gate in (piece for turn in turns for piece in turn if isinstance(piece, Gate)):
                gate.open()
    assert node.returncode == 0, complaints.decode()
    assert said == b"" and model.is_spent
    return model.asked


async def test_a_prompt_streams_reads_writes_and_asks(work):
    asked = await play(
        "works",
        work,
        [think("hm"), say("Let me ", "look."), use("read_file", {"file_path": "notes.txt"})],
        [use("edit_file", {"file_path": "notes.txt", "old_string": "first", "new_string": "1st"})],
        [say("Done.")],
    )
    assert "unsaved line" in asked[1].words


async def test_a_question_of_the_model_is_a_form_that_the_person_fills_in(work):
    question = use("ask_user", {"question": "Which colour?", "options": ["red", "blue"]})
    asked = await play("answers", work, [question], [say("Blue it is.")])
    assert "blue" in asked[1].words


async def test_what_the_person_does_not_allow_is_not_done(work):
    await play("denies", work, *[[TOUCH], [say("As you wish.")]] * 3)


async def test_a_cancel_is_answered_whatever_it_interrupts(work):
    await play(
        "cancels",
        work,
        [say("begun"), Gate()],
        [TOUCH],
        [use("exec_command", {"cmd": "echo run''ning; sleep 60"})],
        [say("again"), Gate()],
        [say("done")],
    )


async def test_a_session_is_steered_while_another_one_works(work):
    asked = await play("steers", work, [say("one"), use("exec_command", {"cmd": "true"})], [say("two")], [say(" more")])
    assert "sooner" in asked[2].words and "sooner" not in asked[1].words


async def test_a_session_outlives_its_process_until_it_is_deleted(work):
    asked = await play("returns", work, [say("Hi.")], [say("Still here.")])
    assert "hello" in asked[1].words


async def test_modes_options_and_commands_are_offered_and_followed(work):
    await play("chooses", work, [TOUCH], [say("done")])
