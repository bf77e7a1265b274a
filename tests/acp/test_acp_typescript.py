"""The official TypeScript client, where Node.js and the package are there."""

import asyncio
import json
import os
import shutil
from pathlib import Path

import pytest

from tests.e2e.launch import AGENT_LSP
from tests.e2e.model_server import ModelServer, say, use

ENTRY = Path("node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js")
PLACES = [
    Path(os.environ.get("ACP_TYPESCRIPT_SDK", Path(__file__).parent)),
    Path(__file__).parents[2] / "editors/vscode",
]
SDK = next((place / ENTRY for place in PLACES if (place / ENTRY).exists()), None)

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.skipif(
        not (SDK and shutil.which("node")), reason="needs node, and ACP_TYPESCRIPT_SDK with the package"
    ),
]


async def test_a_session_from_its_first_word_to_its_last(tmp_path):
    work, config = tmp_path / "work", tmp_path / "config.toml"
    work.mkdir()
    (work / "a.txt").write_text("one\n")
    async with ModelServer() as model:
        config.write_text(
            f'default_model = "chat/big"\ntitles = false\n[providers.chat]\napi = "openai-chat"\n'
            f'base_url = "{model.url}/v1"\napi_key = "sk-test"\n'
            "[providers.chat.models.big]\ncontext_window = 100000\ntool_calling = true\n"
        )
        config.chmod(0o600)
        edit = {"file_path": "a.txt", "old_string": "one", "new_string": "1"}
        model.script([say("Well: "), use("edit_file", edit)], [say("done")], [say("too late")])
        agent = (str(AGENT_LSP), "acp", "--config", str(config), "--data-dir", str(tmp_path / "data"))
        script = str(Path(__file__).with_name("client.mjs"))
        node = await asyncio.create_subprocess_exec(
            "node", script, str(SDK), str(work), *agent, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
        )
        said, complaints = await asyncio.wait_for(node.communicate(), 40)
    assert node.returncode == 0, complaints.decode()
    answer = json.loads(said)
    assert (answer["reason"], answer["cancelled"]) == ("end_turn", "cancelled")
    assert answer["permissions"] == 1 and answer["sessions"] == 1 and answer["words"].startswith("Well: done")
    assert {"tool_call", "tool_call_update", "agent_message_chunk", "usage_update"} <= set(answer["kinds"])
    assert (work / "a.txt").read_text() == "1\n"
