"""The scripted model of the server's own end-to-end tests, on a thread of its own."""

import asyncio
import threading
from pathlib import Path

from tests.e2e.model_server import CUT, Flood, Gate, ModelServer, refuse, say, think, use

__all__ = ["CUT", "Flood", "Model", "refuse", "say", "think", "use"]


class Stop:
    """A place in a turn where the model waits until the test opens it."""

    def __init__(self, loop):
        self.gate, self._loop = Gate(), loop

    def reached(self, within_s=15):
        """Waits until the model has come to it."""
        asyncio.run_coroutine_threadsafe(self.gate.reached.wait(), self._loop).result(within_s)

    def open(self):
        """Lets the model go on."""
        self._loop.call_soon_threadsafe(self.gate.open)


class Model:
    """Says what it is told to; `with` starts and ends it."""

    def __enter__(self):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="model", daemon=True)
        self._thread.start()
        self._server = ModelServer()
        self._wait(self._server.__aenter__())
        return self

    def __exit__(self, *_):
        self._wait(self._server.__aexit__(None, None, None))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        self._loop.close()

    def _wait(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(15)

    def script(self, *turns):
        """What it answers next, a turn for each request; a `Stop` in a turn holds it there."""
        self._server.script(*[_plain(turn) for turn in turns])

    def stop(self):
        """A new place to wait at."""
        return Stop(self._loop)

    @property
    def asked(self):
        """The requests that came."""
        return self._server.asked

    @property
    def is_spent(self):
        """Whether all that was scripted has been said."""
        return self._server.is_spent

    def configure(self, config: Path, **settings):
        """Writes a configuration of the server that knows this model and no other."""
        lines = [f"{name} = {_toml(value)}" for name, value in settings.items()]
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(
            "\n".join(
                [
                    'default_model = "chat/big"',
                    "titles = false",
                    *lines,
                    "[providers.chat]",
                    'api = "openai-chat"',
                    f'base_url = "{self._server.url}/v1"',
                    'api_key = "sk-planted-in-the-configuration"',
                    "[providers.chat.models.big]",
                    "context_window = 100000",
                    "max_output_tokens = 4000",
                    "tool_calling = true",
                    "vision = true",
                    "",
                ]
            )
        )


def _plain(turn):
    return [step.gate if isinstance(step, Stop) else step for step in turn] if isinstance(turn, list) else turn


def _toml(value):
    return str(value).lower() if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)
