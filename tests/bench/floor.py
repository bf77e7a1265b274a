"""The floor: the least that an agent in Python does on httpx and json. Lines of JSON in, lines of JSON out.

{"url": …, "prompt": "5000"}  →  {"delta": "00000 "} …, {"done": true}
"""

from __future__ import annotations

import asyncio
import json
import os
import sys

import httpx


async def main() -> None:
    """Answers prompts until the input ends."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    waiting: list[bytes] = []

    def flush() -> None:
        data = memoryview(b"".join(waiting))
        waiting.clear()
        while data:
            data = data[os.write(1, data) :]

    def say(value: object) -> None:
        if not waiting:
            loop.call_soon(flush)
        waiting.append(json.dumps(value).encode() + b"\n")

    async with httpx.AsyncClient(verify=False, trust_env=False, timeout=60) as client:
        say({"ready": True})
        while line := await reader.readline():
            asked = json.loads(line)
            body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": asked["prompt"]}]}
            async with client.stream("POST", asked["url"] + "/chat/completions", json=body) as answer:
                async for one in answer.aiter_lines():
                    if one.startswith("data: {"):
                        choices = json.loads(one[6:])["choices"]
                        if choices and (text := choices[0]["delta"].get("content")):
                            say({"delta": text})
            say({"done": True})


asyncio.run(main())
