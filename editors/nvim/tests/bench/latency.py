"""How long a typed key takes to reach the screen while an answer streams into a chat beside it.

    latency.py [SCENARIO …]      prints a row for each scenario; exits 1 if one is over its bound

A process of its own streams 20,000 notifications at 4,000 a second to a real Neovim with a screen attached; the person
types fifty keys a second into a file meanwhile.
"""

import json
import os
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

DELTAS, RATE = 20_000, 4_000
KEY_EVERY_S = 0.02
WIDTH, HEIGHT = 120, 40
BOUND_P95_MS, BOUND_MAX_MS, BOUND_WRITES_PER_S = 15, 60, 22
ROW = "{scenario:10} {keys:5} {lost:5} {p50:7.1f} {p95:7.1f} {max:7.1f} {writes:7} {bytes:7} {cpu:5.2f} {error}"
PLUGIN = Path(__file__).resolve().parents[2]
NVIM = PLUGIN.parents[1] / ".venv" / "nvim"


def _markdown():
    lines = []
    for number in range(580):
        lines += [
            f"## Step {number}",
            "",
            f"The parser *drops* the `{number}`th token, **always**.",
            "- one",
            "- two",
            "",
        ]
        lines += [] if number % 2 else ["```lua", f"local x = {number}", "```", ""]
    return "\n".join(lines)


SCENARIOS = {
    "nothing": lambda: "",
    "markdown": lambda: _markdown(),
    "fence": lambda: "```lua\n" + "\n".join(f"local value_{n} = compute({n})" for n in range(4_500)),
    "line": lambda: "word " * 18_000,
}


# --- the server -------------------------------------------------------------------------------------------------------


def _pieces(text):
    step = max(1, len(text) // DELTAS + 1)
    cut = [text[at : at + step] for at in range(0, len(text), step)]
    return (cut + [""] * DELTAS)[: max(len(cut), DELTAS)] if text else []


def serve(scenario):
    """A server that knows just enough: one session, and a run that streams the scenario."""
    source, target = sys.stdin.buffer, sys.stdout.buffer

    def send(**body):
        data = json.dumps({"jsonrpc": "2.0"} | body).encode()
        target.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))

    def message(seq, payload):
        stamped = {"timestamp": "2026-11-29T21:20:41.123Z", "type": "model_msg", "payload": payload}
        send(method="agent/message", params={"sessionId": "s", "runId": "r", "seq": seq, "messages": [stamped]})

    def stream():
        text = SCENARIOS[scenario]()
        message(0, {"type": "partial_text", "role": "assistant", "event_type": "start", "text": ""})
        began = time.perf_counter()
        for number, piece in enumerate(_pieces(text)):
            message(number + 1, {"type": "partial_text", "role": "assistant", "event_type": "delta", "text": piece})
            if number % 8 == 7:
                target.flush()
                time.sleep(max(0, began + number / RATE - time.perf_counter()))
        target.flush()

    info = {"sessionId": "s", "workspace": "file:///", "model": {"provider": "p", "model": "m"}, "state": "idle"}
    info |= {"mode": "native", "approvalMode": "ask", "createdAt": "", "updatedAt": "", "turns": 0, "contextTokens": 0}
    told = {"protocolVersion": 1, "methods": [], "serverRequests": []}
    answers = {
        "initialize": {"capabilities": {"textDocumentSync": 2, "experimental": {"agent": told}}},
        "agent/session/new": info,
    }
    while head := source.readline():
        length = int(head.split(b":")[1])
        while source.readline().strip():
            pass
        body = json.loads(source.read(length))
        if body["method"] == "exit":
            return
        if body["method"] == "agent/run":
            stream()
        elif "id" in body:
            send(id=body["id"], result=answers.get(body["method"]))
            target.flush()


# --- the person -------------------------------------------------------------------------------------------------------


class Screen:
    """The grid of an attached Neovim, and when each typed key has come to be on it."""

    def __init__(self, nvim):
        self.nvim, self.rows = nvim, [[" "] * WIDTH for _ in range(HEIGHT)]
        self.sent, self.seen, self._typing = [], [], True
        self.is_over = False

    def typed(self):
        """How many of the typed letters stand on the screen."""
        return sum("".join(row[: WIDTH // 3]).count("j") for row in self.rows[:-2])

    def redraw(self, batch):
        now = time.perf_counter()
        for name, *calls in batch:
            for call in calls:
                if name == "grid_line":
                    self._line(*call[1:4])
                elif name == "grid_clear":
                    self.rows = [[" "] * WIDTH for _ in range(HEIGHT)]
                elif name == "grid_scroll":
                    self._scroll(*call[1:6])
        while len(self.seen) < min(self.typed(), len(self.sent)):
            self.seen.append(now)

    def _line(self, row, column, cells):
        for text, *more in cells:
            for _ in range(more[1] if len(more) > 1 else 1):
                if column < WIDTH:
                    self.rows[row][column] = text
                column += 1

    def _scroll(self, top, bottom, left, right, by):
        before = [row[:] for row in self.rows]
        for row in range(top, bottom):
            if top <= row + by < bottom:
                self.rows[row][left:right] = before[row + by][left:right]

    def type_until(self, ends):
        """Types one letter after the other, a line break now and then, until `ends()`."""
        number = 0
        while not ends():
            time.sleep(KEY_EVERY_S)
            number += 1
            self.nvim.async_call(self._press, number)
        time.sleep(0.5)
        self.nvim.async_call(self.nvim.stop_loop)

    def _press(self, number):
        self.nvim.api.input("j" if number % 25 else "j<CR>", async_=True)
        self.sent.append(time.perf_counter())


def measure(scenario):
    """One scenario; the figures of it."""
    import pynvim

    with tempfile.TemporaryDirectory() as folder:
        for name in ("CONFIG", "DATA", "STATE", "CACHE"):
            os.environ[f"XDG_{name}_HOME"] = f"{folder}/{name}"
        command = [sys.executable, str(Path(__file__).resolve()), "--serve", scenario]
        nvim = pynvim.attach("child", argv=[str(NVIM), "--embed", "--clean", "-i", "NONE", "-n"])
        try:
            nvim.ui_attach(WIDTH, HEIGHT, rgb=True, ext_linegrid=True)
            return _measured(nvim, scenario, command, folder)
        finally:
            nvim.command("qa!", async_=True)
            nvim.close()


def _measured(nvim, scenario, command, folder):
    nvim.command(f"cd {folder}")
    nvim.command(f"set runtimepath^={PLUGIN}")
    nvim.command("runtime plugin/agent_lsp.lua")
    nvim.exec_lua("require('agent_lsp').setup{ cmd = ... }", command)
    nvim.command("edit typed.txt")
    nvim.command("Agent go")
    nvim.exec_lua("return vim.wait(5000, function() return vim.fn.winnr('$') > 1 end, 10)")
    nvim.input("i")
    screen = Screen(nvim)
    began = time.perf_counter()
    typing = threading.Thread(target=screen.type_until, args=(lambda: time.perf_counter() - began > DELTAS / RATE,))

    def told(name, batch):
        if name == "redraw":
            screen.redraw(batch)

    before = nvim.exec_lua(
        "local u = vim.uv.getrusage() return u.utime.sec + u.utime.usec / 1e6 + u.stime.sec + u.stime.usec / 1e6"
    )
    typing.start()
    nvim.run_loop(lambda *_: None, told)
    typing.join()
    look = "local v = require('agent_lsp.chat').view('s') return { v.writes, #v.model:text(), vim.v.errmsg }"
    writes, shown_bytes, error = nvim.exec_lua(look)
    used = nvim.exec_lua(
        "local u = vim.uv.getrusage() return u.utime.sec + u.utime.usec / 1e6 + u.stime.sec + u.stime.usec / 1e6"
    )
    waits = sorted((seen - sent) * 1000 for sent, seen in zip(screen.sent, screen.seen, strict=False))
    return {
        "scenario": scenario,
        "keys": len(waits),
        "lost": len(screen.sent) - len(waits),
        "p50": statistics.median(waits),
        "p95": waits[int(len(waits) * 0.95)],
        "max": waits[-1],
        "writes": writes,
        "bytes": shown_bytes,
        "cpu": used - before,
        "error": error,
    }


def main(names):
    is_good = True
    print("scenario    keys  lost  p50 ms  p95 ms  max ms  writes   bytes cpu s")
    for name in names or SCENARIOS:
        row = measure(name)
        print(ROW.format(**row))
        is_good &= row["p95"] < BOUND_P95_MS and row["max"] < BOUND_MAX_MS and not row["error"]
        is_good &= row["writes"] <= BOUND_WRITES_PER_S * DELTAS / RATE and row["lost"] == 0
    return 0 if is_good else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2])
    else:
        sys.exit(main(sys.argv[1:]))
