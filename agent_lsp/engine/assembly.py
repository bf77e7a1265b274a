"""What is sent to the model beside its own calls' outputs: prompts, reports, steering, notes of the harness."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from agent_lsp.messages import markers
from agent_lsp.messages.content import ImageUrl, Text, UserContent
from agent_lsp.slotted import frozen

if TYPE_CHECKING:
    from agent_lsp.engine.interrupt import Interrupt
    from agent_lsp.engine.runtime import Runtime
    from agent_lsp.engine.steering import SteeringQueue


@frozen
class Assembled:
    """Whether there is something to send, and how many entries of steering are in it."""

    goes_on: bool
    steered: int


async def prepare(runtime: Runtime, interrupt: Interrupt, run_id: str) -> None:
    """Waits for what has to be there before anything of a run is sent; an interrupt ends the wait."""
    awaited = (runtime.environment.prepare(runtime.emit), runtime.hooks.before_run(run_id))
    await interrupt.wait_all(one for one in awaited if one)


def begin(runtime: Runtime, input: Sequence[UserContent]) -> None:
    """The input of a run: what goes on beside it first, then what was said (traced; a person's not echoed)."""
    runtime.show_tools()
    report(runtime)
    for one in folded(runtime, input):
        runtime.emit(one, traced_only=getattr(one, "sender", None) != "harness")


def assemble(runtime: Runtime, steering: SteeringQueue, *, has_calls: bool) -> Assembled:
    """The input of the next request of a task, behind the outputs of its calls."""
    ledger = runtime.ledger
    runtime.show_tools()
    cut = tuple(ledger.cut_calls)
    if cut:
        runtime.emit(_harness(markers.output_limit(cut)))
    entries = steering.take()
    goes_on = has_calls or bool(cut or entries)
    if goes_on:
        report(runtime)
    for entry in entries:
        for message in entry.messages(None if runtime.options.vision else lambda image: _attached(runtime, image)):
            runtime.emit(message)
    feedback = () if goes_on else runtime.hooks.before_end()
    for text in feedback:
        runtime.emit(text)
    if goes_on and not ledger.has_input():  # a compaction that failed has taken in all there was
        runtime.emit(_harness(markers.GO_ON))
    return Assembled(goes_on or bool(feedback), len(entries))


def report(runtime: Runtime) -> None:
    """Tells the model of what has happened beside its calls."""
    for text in runtime.environment.reports():
        runtime.emit(_harness(text))


def folded(runtime: Runtime, input: Iterable[UserContent], *, always: bool = False) -> Iterable[UserContent]:
    """The input with its images kept as files and named, if the model cannot see (or `always`)."""
    for one in input:
        if isinstance(one, ImageUrl) and (always or not runtime.options.vision):
            yield Text(role="user", text=_attached(runtime, one))
        else:
            yield one


def _attached(runtime: Runtime, image: ImageUrl) -> str:
    where = runtime.pictures.keep(image.image_url) if runtime.pictures else "it could not be kept"
    return markers.attached_image(where)


def _harness(text: str) -> Text:
    return Text(role="user", text=text, sender="harness")
