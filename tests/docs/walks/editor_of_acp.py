"""An editor of the Agent Client Protocol: reads its settings from a page, starts the agent, has a greeting mended."""

import json
import re
import shutil
import sys
from pathlib import Path

from framed import Peer


def settings(page):
    for text in re.findall(r"^```json\n(.*?)^```$", Path(page).read_text(encoding="utf-8"), flags=re.M | re.S):
        yield json.loads(text)["agent_servers"]["agent-lsp"]


def allow(method, params):
    print(f"[asked] {params['toolCall'].get('title')}")
    option = next(one for one in params["options"] if one["kind"] == "allow_once")
    return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}


for one in settings(sys.argv[1]):
    command = shutil.which("agent-lsp") if one["command"].startswith("/path/to/") else one["command"]
    peer = Peer([command, *one["args"]], allow, framed=False)
    about = peer.ask("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
    print("[protocol]", about["protocolVersion"])
    session = peer.ask("session/new", {"cwd": str(Path.cwd()), "mcpServers": []})["sessionId"]
    words = [{"type": "text", "text": "fix the greeting in greeter.py"}]
    print("[ended]", peer.ask("session/prompt", {"sessionId": session, "prompt": words})["stopReason"])
    peer.leave()
