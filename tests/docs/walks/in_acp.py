"""An editor of the Agent Client Protocol, by the protocol's own library for Python: a greeting is mended.

    in_acp.py PAGE

The command comes from each of the page's settings. What the editor would show goes to the log.
"""

import asyncio
import json
import re
import shutil
import sys
from pathlib import Path

import acp
from acp import schema

WISH = "fix the greeting in greeter.py"


def commands(page):
    for text in re.findall(r"^```json\n(.*?)^```$", Path(page).read_text(encoding="utf-8"), flags=re.M | re.S):
        one = json.loads(text)["agent_servers"]["agent-lsp"]
        program = shutil.which("agent-lsp") if one["command"].startswith("/path/to/") else one["command"]
        yield [program, *one["args"]]


class Editor:
    """Shows what it is told; its person allows."""

    async def session_update(self, session_id, update, **_):
        match update.session_update:
            case "agent_message_chunk" | "agent_thought_chunk":
                print(f"[{update.session_update}] {update.content.text}")
            case "tool_call" | "tool_call_update":
                print(f"[{update.session_update}] {update.title or update.tool_call_id}: {update.status}")
            case other:
                print(f"[{other}]")

    async def request_permission(self, session_id, tool_call, options, **_):
        shown = [one.type for one in tool_call.content]
        print(f"[asked] {tool_call.title} {shown}: {', '.join(one.name for one in options)}")
        once = next(one for one in options if one.kind == "allow_once")
        chosen = schema.AllowedOutcome(outcome="selected", option_id=once.option_id)
        return schema.RequestPermissionResponse(outcome=chosen)

    def on_connect(self, agent):
        pass


async def walk(command):
    print("[command]", *command)
    async with acp.spawn_agent_process(Editor(), *command, cwd=Path.cwd()) as (agent, process):
        about = await agent.initialize(acp.PROTOCOL_VERSION)
        print("[protocol]", about.protocol_version, [one.id for one in about.auth_methods or []])
        session = await agent.new_session(str(Path.cwd()), mcp_servers=[])
        print("[modes]", ", ".join(one.name for one in session.modes.available_modes))
        ended = await agent.prompt(session.session_id, [acp.text_block(WISH)])
        print("[ended]", ended.stop_reason)
    assert process.returncode == 0, process.returncode


for one in commands(sys.argv[1]):
    Path("greeter.py").write_text(Path("greeter.py").read_text().replace("Hello", "Helo"))
    asyncio.run(walk(one))
    assert "Hello" in Path("greeter.py").read_text()
