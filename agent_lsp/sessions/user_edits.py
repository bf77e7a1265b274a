"""What somebody else has changed in files that the model knows, told to it with its next input.

A file is known from the moment its text was shown to the model, or the model edited it, until its context ends. The
difference of what the model saw last and what is there now is told once. An edit of the agent moves on what the model
saw last. What others had changed before it, while the person was asked, say, is told all the same, and as it is now: as
the difference to what the edit would have made of the text that the model saw. Only where the edit went into the very
lines that others had changed there is no such text, and their change is told as what came before the edit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.messages import markers
from agent_lsp.messages.partial import encodable
from agent_lsp.slotted import field, mutable
from agent_lsp.tools.diff import unified_diff
from agent_lsp.tools.difference import applied, difference, locate
from agent_lsp.tools.editor import Editor, Snapshot, TextEdit

if TYPE_CHECKING:
    from agent_lsp.sessions.edits import Edits
    from agent_lsp.sessions.recalled_files import Seen

_MOST_FILES = 500
_MOST_CHARACTERS = 32 * 2**20
_LONGEST_DIFF = 4_000
_LONGEST_BLOCK = 16_000
_MOST_EARLIER = 20
_IN_PARTS = "it has changed since you read or edited parts of it: read those again before you rely on them"
_HEAD = (
    "These files are not as you last saw them: the person, or another program, has changed them."
    " Go on from what they are now."
)


@mutable
class _Known:
    """A file as the model saw it last (None: it is not there); `earlier` are changes of others before its own edits.

    `note` says that it is another one than the model has seen, where it cannot be told what has changed.
    """

    path: Path
    text: str | None
    stamp: object = None
    note: str = ""
    earlier: list[tuple[str | None, str | None]] = field(default_factory=list[tuple[str | None, str | None]])
    counted: int = 0
    """So many of its characters are in `UserEdits._characters`."""


class UserEdits:
    """The known files of one session (`tools.toolset.Shared`). `display` names a path to the model."""

    def __init__(self, editor: Editor, edits: Edits, display: Callable[[Path], str]) -> None:
        self._editor, self._edits, self._display = editor, edits, display
        self._recent: dict[str, _Known] = {}
        self._characters = 0
        self._past: Callable[[], Mapping[Path, Seen]] | None = None

    def recall(self, past: Callable[[], Mapping[Path, Seen]]) -> None:
        """Goes on in a context in which these files were seen; they are looked up when one is asked for first."""
        self._past = past

    def shown(self, path: Path, text: str) -> None:
        """The model is going to see the text."""
        self._put(path, _Known(path, text, self._editor.stamp(path)))

    def edited(self, path: Path, before: str | None, after: str | None) -> None:
        """The agent has made `after` of `before`."""
        known = self._known.get(_key(path)) or _Known(path, before)
        seen = after if known.text == before else _as_if_seen(known.text, before, after)
        if seen is None and known.text != before:
            known.earlier = [*known.earlier, (known.text, before)][-_MOST_EARLIER:]
            seen = after
        known.text, known.stamp = seen, None
        self._put(path, known)

    def forget(self) -> None:
        """The context has ended: the model knows of no file any more."""
        self._past = None
        self._recent.clear()
        self._characters = 0

    def take_reports(self) -> Sequence[str]:
        """One `[user_edits]` block, if anything has changed."""
        told: list[str] = []
        room = _LONGEST_BLOCK
        stamp = self._editor.stamp
        for known in tuple(self._known.values()):
            if not known.earlier and known.stamp is not None and stamp(known.path) == known.stamp:
                continue  # nearly always, and there may be hundreds of them before each request
            if words := "\n".join(self._changed(known)):
                room -= len(words)
                told.append(words if room > 0 else f"{self._display(known.path)} (changed too)")
        body = "\n".join([_HEAD, *told]).replace("[/user_edits]", r"[\/user_edits]")
        return [markers.block("user_edits", encodable(body))] if told else []

    async def close(self) -> None:
        """Lets go of the texts."""
        self.forget()

    @property
    def _known(self) -> dict[str, _Known]:
        if self._past is not None:
            past, self._past = self._past, None
            seen = past()
            for path in list(seen)[-_MOST_FILES:]:
                self._recall(path, seen[path])
        return self._recent

    def _recall(self, path: Path, seen: Seen) -> None:
        """Knows a file as a trace tells of it: what has changed since is told like any other change."""
        stamp = self._editor.stamp(path)
        found = self._editor.peek(path)
        now = found.text if isinstance(found, Snapshot) else None
        if seen.is_attached and now is None:
            return
        if (seen.fits(now) and seen.is_there) if now is not None else not seen.is_there:
            self._put(path, _Known(path, now, stamp))
        elif seen.is_whole or not seen.is_there:
            self._put(path, _Known(path, seen.text(now) if seen.is_there else None))
        else:
            self._put(path, _Known(path, now, note=_IN_PARTS))

    def _changed(self, known: _Known) -> Iterator[str]:
        """What is to be told of a file; from now on the model knows it as it is.

        A link that was put in its place is not followed: where it leads nobody has allowed anybody to look.
        """
        stamp = self._editor.stamp(known.path)
        if stamp == known.stamp and stamp is not None and not known.earlier:
            return
        note, known.note = known.note, ""
        if self._known.get(_key(known.path)) is not known:
            self._recent = {key: one for key, one in self._known.items() if one is not known}
            self._characters -= known.counted
            known.counted = 0
            yield f"{self._display(known.path)} (it is another file now, which you have not read)"
            return
        found = self._editor.peek(known.path)
        text = found.text if isinstance(found, Snapshot) else None
        for before, after in self._edits.settled(known.path, text):
            self.edited(known.path, before, after)
        known = self._known[_key(known.path)]
        known_text = known.text
        steps = [*known.earlier, (known_text, text)]
        known.text, known.stamp, known.earlier = text, stamp, []
        self._count(known)
        if note:
            yield f"{self._display(known.path)} ({'it is gone' if text is None else note})"
            return
        if all(before == after for before, after in steps):
            return
        undone = " (an edit of yours was undone)" if self._edits.newly_undone(known.path, text) else ""
        name = self._display(known.path)
        yield f"{name}{undone}{' (it is gone)' if text is None else ''}"
        for before, after in steps[:-1]:
            yield "[changed before your own edit went into the same lines:]"
            yield _bounded(unified_diff(name, before, after))
        if known_text != text:
            yield _bounded(unified_diff(name, known_text, text))

    def _put(self, path: Path, known: _Known) -> None:
        """Makes it the one that was seen last; those that were not seen for longest have to go when it is too much."""
        key = _key(path)
        if before := self._known.pop(key, None):
            self._characters -= before.counted
            before.counted = 0
        self._known[key] = known
        self._count(known)
        while len(self._known) > _MOST_FILES or (self._characters > _MOST_CHARACTERS and len(self._known) > 1):
            self._characters -= self._known.pop(next(iter(self._known))).counted

    def _count(self, known: _Known) -> None:
        held = len(known.text or "") + sum(len(text or "") for pair in known.earlier for text in pair)
        self._characters += held - known.counted
        known.counted = held


def _as_if_seen(seen: str | None, before: str | None, after: str | None) -> str | None:
    """What an edit that made `after` of `before` would have made of the text that was seen.

    None when that cannot be told: somebody had changed what it went into.
    """
    if seen is None or before is None or after is None:
        return None
    back = difference(before, seen)
    placed: list[TextEdit] = []
    for edit in difference(before, after):
        place = locate(back, edit.start, edit.end)
        if place is None:
            return None
        placed.append(TextEdit(*place, edit.text))
    return applied(seen, placed)


def _key(path: Path) -> str:
    return os.path.realpath(path)


def _bounded(diff: str) -> str:
    diff = diff.rstrip("\n")
    return diff if len(diff) <= _LONGEST_DIFF else f"{diff[:_LONGEST_DIFF]}\n[the rest of the diff is left out]"
