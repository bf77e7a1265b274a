"""What the messages of a run look like in a terminal. Pure: a message goes in, the text to write comes out.

Blocks (the reply, a call, an output, a remark) begin on a line of their own. Whatever comes from a model, a tool or a
file has its control characters made visible before it is coloured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_lsp.cli.outputs import Outputs
from agent_lsp.cli.shapes import Approval, CommandShown, EditShown, Question, Result, Session, TextShown
from agent_lsp.cli.titles import TITLE_LENGTH, call_title, clipped
from agent_lsp.messages.content import PartialText, PartialThinking, PartialToolCallOutput, Text, Thinking, ToolCall
from agent_lsp.messages.content import ToolCallOutput as Output
from agent_lsp.messages.events import Abort, CompactionBegin, CompactionEnd, RequestEnd
from agent_lsp.policy.visible import visible, visible_line

if TYPE_CHECKING:
    from agent_lsp.cli.palette import Palette
    from agent_lsp.messages.envelope import Message

THINKING_SHOWN = 240
"""Characters of a thinking segment before the rest is folded."""
_AT_ONCE = "llm request error: "
"""How the engine marks what it did not try again: for traces, and nothing to a person."""
_GIVEN_UP = (_AT_ONCE, "llm request failed after ", "reconnect failed after ", "malformed response failed after ")
"""Reasons of the engine's own for an abort: the last line has them again, with more."""
ENDINGS = {
    "completed": "done",
    "failed": "failed",
    "aborted": "aborted",
    "timeout": "the model did not answer in time",
    "malformed": "the model's answers could not be read",
    "auth": "the provider refused the credential",
    "max_turns": "stopped at the limit of turns",
}


class Renderer:
    """Turns the messages of one session into text, in their order."""

    def __init__(self, palette: Palette) -> None:
        self._palette = palette
        self._outputs = Outputs(palette)
        self._column = 0
        self._after_call = False
        self._streamed = False
        self._thought = 0

    def message(self, message: Message) -> str:
        """What to write for the next message; often nothing."""
        if message.origin:
            return self._of_child(message)
        match message.payload:
            case PartialText(role="assistant") as part:
                return self._text_part(part)
            case Text(role="assistant", text=text):
                return self._text(text)
            case PartialThinking() as part:
                return self._thinking_part(part)
            case Thinking(thinking=thinking):
                return self._thinking(thinking)
            case ToolCall() as call:
                return self._call(call)
            case PartialToolCallOutput() as part:
                return self._lines(self._outputs.part(part))
            case Output() as output:
                return self._lines(self._outputs.complete(output))
            case RequestEnd() as end:
                return self._retry(end)
            case CompactionBegin() | CompactionEnd() as compaction:
                return self._compaction(compaction)
            case Abort(reason=reason) if reason and reason.startswith(_GIVEN_UP):
                return ""
            case Abort(reason=reason):
                return self._block(
                    self._palette.paint(f"■ aborted{f': {visible_line(reason)}' if reason else ''}", "yellow")
                )
            case _:
                return ""

    def header(self, session: Session, workspace: str, prompt: str) -> str:
        """Who works where and on what, before anything happens."""
        model = f"{session.model.provider}/{session.model.model}"
        facts = " · ".join(visible_line(fact) for fact in (model, f"mode {session.approval_mode}", workspace))
        about = clipped(visible_line(prompt.strip().split("\n")[0]), TITLE_LENGTH)
        return (
            f"{self._palette.paint('agent-lsp', 'bold', 'cyan')} {self._palette.paint(facts, 'dim')}\n"
            f"{self._palette.paint('›', 'bold', 'cyan')} {self._palette.paint(about, 'bold')}\n"
        )

    def approval(self, approval: Approval) -> str:
        """What the person is asked about, in full."""
        paint = self._palette.paint
        match approval.preview:
            case EditShown(diff=diff):
                body = self._palette.diff(visible(diff))
                self._outputs.approved(approval.tool_call.tool_call_id)
            case CommandShown(command=command, cwd=cwd):
                body = f"{paint('$ ' + visible(command), 'bold')}\n{paint('in ' + visible_line(cwd), 'dim')}"
            case TextShown(text=text):
                body = visible(text)
            case None:
                body = visible(approval.tool_call.arguments)
        edge = paint("│", "yellow")
        lines = [f"{edge} {line}" for line in body.split("\n")]
        text = "\n".join([paint(f"┌ {visible_line(approval.title)}", "bold", "yellow"), *lines])
        return self._below_call() + self._write(f"{text}\n")

    def question(self, asked: Question) -> str:
        """What the model asks, with its options numbered."""
        paint = self._palette.paint
        first, *rest = visible(asked.question).split("\n")
        edge = paint("│", "yellow")
        options = (f"{number}  {visible_line(option)}" for number, option in enumerate(asked.options, 1))
        lines = [f"{edge} {line}" for line in (*rest, *options)]
        text = "\n".join([paint(f"┌ {first}", "bold", "yellow"), *lines])
        return self._below_call() + self._write(f"{text}\n")

    def result(self, result: Result, elapsed_s: float) -> str:
        """How it ended: the last line."""
        good = result.status == "completed"
        mark, colour = ("✓", "green") if good else ("✗", "red")
        error = (result.error_message or "").removeprefix(_AT_ONCE)
        why = f": {visible_line(error)}" if error else ""
        turns = f"{result.turns} turn{'' if result.turns == 1 else 's'}"
        facts = f" · {turns} · {result.usage.total:,} tokens · {elapsed_s:.1f} s"
        ending = self._palette.paint(f"{mark} {ENDINGS[result.status]}{why}", "bold", colour)
        return self._block(f"{ending}{self._palette.paint(facts, 'dim')}")

    def warning(self, text: str) -> str:
        """What the server warns of."""
        return self._lines([self._palette.paint(f"! {text}", "yellow")])

    def remark(self, text: str) -> str:
        """A line of the program's own."""
        return self._lines([self._palette.paint(text, "dim")])

    def _text_part(self, part: PartialText) -> str:
        if part.event_type == "start":
            self._streamed = False
            return self._gap()
        if part.event_type == "stop":
            return self._break()
        self._streamed = True
        return self._write(visible(part.text))

    def _text(self, text: str) -> str:
        streamed, self._streamed = self._streamed, False
        return "" if streamed or not text else self._block(visible(text))

    def _thinking_part(self, part: PartialThinking) -> str:
        if part.event_type == "start":
            self._thought = 0
            return ""
        if part.event_type == "stop":
            fold = self._palette.paint("…", "dim") if self._thought > THINKING_SHOWN else ""
            return self._write(fold) + self._break()
        begin = self._thought
        self._thought += len(part.thinking)
        if begin >= THINKING_SHOWN:
            return ""
        shown = part.thinking[: THINKING_SHOWN - begin]
        lead = self._gap() + self._write(self._palette.paint("∴ ", "dim")) if begin == 0 else ""
        return lead + self._write(self._palette.paint(visible(shown).replace("\n", " "), "dim"))

    def _thinking(self, thinking: str) -> str:
        streamed, self._thought = self._thought > 0, 0
        if streamed or not thinking:
            return ""
        fold = "…" if len(thinking) > THINKING_SHOWN else ""
        shown = visible(thinking[:THINKING_SHOWN]).replace("\n", " ")
        return self._block(self._palette.paint(f"∴ {shown}{fold}", "dim"))

    def _call(self, call: ToolCall) -> str:
        gap = self._below_call()
        self._outputs.called(call)
        written = self._write(f"{self._palette.paint('●', 'blue')} {self._palette.paint(call_title(call), 'bold')}\n")
        self._after_call = True
        return gap + written

    def _of_child(self, message: Message) -> str:
        if not isinstance(message.payload, ToolCall):
            return ""
        title = self._palette.paint(call_title(message.payload), "dim")
        return self._lines([f"  {self._palette.paint('↳', 'blue')} {title}"])

    def _retry(self, end: RequestEnd) -> str:
        if end.retry_in_ms is None:
            return ""
        wait = f"attempt {(end.attempt or 0) + 1} in {end.retry_in_ms / 1000:.1f} s"
        why = visible_line(end.error_message or end.status)
        return self._block(self._palette.paint(f"[retry] {why}; {wait}", "yellow"))

    def _compaction(self, event: CompactionBegin | CompactionEnd) -> str:
        if isinstance(event, CompactionBegin):
            return self._block(
                self._palette.paint(f"[compaction] {event.mode} at {event.context:,} tokens …", "yellow")
            )
        why = f": {visible_line(event.error_message)}" if event.error_message else ""
        return self._lines([self._palette.paint(f"[compaction] {event.status}{why}", "yellow")])

    def _block(self, text: str) -> str:
        return self._gap() + self._write(text + "\n")

    def _lines(self, lines: list[str]) -> str:
        return self._break() + self._write("".join(f"{line}\n" for line in lines)) if lines else ""

    def _gap(self) -> str:
        return self._break() + self._write("\n")

    def _below_call(self) -> str:
        """Room above what belongs to the calls that were just written, which is none."""
        return self._break() if self._after_call else self._gap()

    def _break(self) -> str:
        return self._write("\n") if self._column else ""

    def _write(self, text: str) -> str:
        if text:
            self._column = 0 if text.endswith("\n") else 1
            self._after_call = False
        return text
