"""An editor that knows LSP and nothing of us: starts the command of a page, runs its commands, clicks its buttons."""

import json
import os
import re
import sys
from pathlib import Path

from framed import Peer

text = Path(sys.argv[1]).read_text(encoding="utf-8")
commands = {tuple(json.loads(one)) for one in re.findall(r'"command": (\[.*?\])', text)}
assert commands == {("agent-lsp",)}, commands
names = set(re.findall(r"`(agent\.\w+)`", text))


def click(method, params):
    print(f"[{method}] {str(params.get('message', ''))[:60]!r}")
    if method == "window/showMessageRequest":
        return next((one for one in params["actions"] if one["title"] == "Allow"), None)
    return None


peer = Peer(list(commands.pop()), click)
capabilities = {"window": {"showMessage": {"messageActionItem": {}}}, "workspace": {"executeCommand": {}}}
root = Path.cwd().as_uri()
about = peer.ask("initialize", {"processId": os.getpid(), "rootUri": root, "capabilities": capabilities})
offered = set(about["capabilities"]["executeCommandProvider"]["commands"])
assert names <= offered, f"the page names commands that there are not: {names - offered}"
peer.send(method="initialized", params={})
arguments = ["fix the greeting in greeter.py", None, {"wait": True}]
print("[ended]", peer.ask("workspace/executeCommand", {"command": "agent.run", "arguments": arguments})["status"])
peer.ask("shutdown", None)
peer.leave()
