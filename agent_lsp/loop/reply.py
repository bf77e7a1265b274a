"""The text of a reply while it grows: tells as early as can be what of it is an answer to be shown."""

from __future__ import annotations

import re

from agent_lsp.loop.reader import SECTIONS, Answer, Read, Unreadable, partial_answer, read, unfenced

_SCALAR = re.compile(r"-?[\d.eE+-]*\s*")
_LITERALS = ("null", "true", "false", "NaN", "Infinity")
_HEAD_SO_FAR = re.compile(r"[#*_ \t]*([a-z_ ]*)", re.IGNORECASE)
_FIRST_LOOK_CHARS = 2048
_GROWTH = 64
"""A long decision is looked at again when it has grown by this part of itself, so that all looks stay cheap."""


class Reply:
    """One reply. What `feed` and `rest` return, joined, is the answer; nothing as long as it may be no answer."""

    def __init__(self) -> None:
        self.text = ""
        self._shown = ""
        self._is_prose = False
        self._looked_at = 0

    def feed(self, piece: str) -> str:
        """Takes the next piece; what of the answer can be shown now."""
        self.text += piece
        body = self.text.lstrip()
        if not self._is_prose and not body.startswith(("{", "```")):
            self._is_prose = not _may_be_a_decision(body)
        if self._is_prose:
            fence = body.find("```")  # it may hold a decision: known at the end
            return self._show(body if fence < 0 else body[:fence].rstrip())
        if not body.startswith(("{", "```")) or not self._is_worth_a_look(body):
            return ""
        answer = partial_answer(_open_body(body))
        return self._show(answer) if answer else ""

    def end(self) -> Read:
        """What the whole reply decides."""
        decided = read(self.text)
        if isinstance(decided, Answer) and self._is_prose and not decided.text.startswith(self._shown):
            return Answer(self.text.lstrip())
        if self._shown and isinstance(decided, Answer) and not decided.text.startswith(self._shown):
            return Unreadable("it gives two answers")
        if self._shown and isinstance(decided, Unreadable) and self._is_prose:
            return Answer(self.text.lstrip())
        return decided

    def rest(self, answer: str) -> str:
        """What is left to be shown of the whole answer."""
        return answer[len(self._shown) :]

    def cut_call(self) -> str | None:
        """The tool of a decision that was cut before its end."""
        names = re.match(r'\s*(?:```\w*\s*)?\{\s*"tool(?:_name)?"\s*:\s*"([^"]+)"\s*,', self.text, re.IGNORECASE)
        return names[1] if names and not self._shown else None

    @property
    def shown(self) -> str:
        """What was shown so far."""
        return self._shown

    def _show(self, answer: str) -> str:
        if not answer.startswith(self._shown):
            return ""
        new = answer[len(self._shown) :]
        self._shown = answer
        return new

    def _is_worth_a_look(self, body: str) -> bool:
        grown = len(body) - self._looked_at
        if len(body) > _FIRST_LOOK_CHARS and grown * _GROWTH < len(body):
            return False
        self._looked_at = len(body)
        return True


def _open_body(body: str) -> str:
    """The inside of a fence that may not be closed yet."""
    return unfenced(body) if body.startswith("```") else body


def _may_be_a_decision(body: str) -> bool:
    """Whether a text that begins with neither an object nor a fence may turn out to be no prose."""
    if not body or body[0] in '["' or (body[0] == "`" and len(body) < 3):
        return True
    if _SCALAR.fullmatch(body) or any(literal.startswith(body.rstrip()) for literal in _LITERALS):
        return True
    line, ended, _ = body.partition("\n")
    found = _HEAD_SO_FAR.match(line)
    word = (found[1] if found else "").lower().strip().replace("_", " ")
    if found and found.end() == len(line) and not ended:
        return any(section.startswith(word) for section in SECTIONS) or word in SECTIONS
    return word in SECTIONS
