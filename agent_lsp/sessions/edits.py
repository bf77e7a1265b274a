"""The edits that an agent has made, as a person keeps them or takes them back.

An edit is one place of one file that one tool call changed. Nothing of it is followed while people type: how it stands
is worked out when somebody asks, from the text as the edit left it and the text as it is.

    made ──▶ pending ──▶ kept
               │  ▲
               │  ╰──── what reached into it was taken back
               ├──▶ changed     somebody has typed into it: it can no longer be undone
               ╰──▶ undone      here, or by hand in the editor
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.sessions.edit_places import Place, Places
from agent_lsp.sessions.edit_records import CHANGED, Edit, Made, Record, State
from agent_lsp.sessions.judged import Judged, Verdict, Verdicts
from agent_lsp.slotted import replace
from agent_lsp.tools.editor import Applied, Change, Editor, Outcome, Refused, Snapshot, Stale, TextEdit, new_text

if TYPE_CHECKING:
    from agent_lsp.sessions.recalled_edits import RecalledEdit

_MOST_KEPT_CHARACTERS = 64 * 2**20


class Edits:
    """The edits of one session. `editor` is the one that its tools use, below everything that watches them."""

    def __init__(self, editor: Editor, judged: Judged | None = None) -> None:
        self._editor = editor
        self._recent: list[Made] = []
        self._past: Callable[[Verdicts], Sequence[RecalledEdit]] | None = None
        self._id, self._last_id = "edit", 0
        self._one_at_a_time = asyncio.Lock()
        self._listeners: list[Callable[[], None]] = []
        self._judged, self._verdicts = judged or Judged(), Verdicts()

    def listen(self, listener: Callable[[], None]) -> None:
        """Has a listener, which must not raise, called when edits were made, kept or undone."""
        self._listeners.append(listener)

    # --- what was made ---

    def recall(self, past: Callable[[Verdicts], Sequence[RecalledEdit]]) -> None:
        """Goes on with the edits of an earlier process, which are looked up when one is asked for first.

        `past` is given what the person has said of them.

        Ids that were given then name nothing any more: no edit is to be taken for another one.
        """
        self._past, self._id = past, f"edit-{secrets.token_hex(3)}"

    def look_up(self) -> None:
        """Has the edits of an earlier process looked up: a file is about to be changed."""
        _ = self._made

    def record(self, run_id: str, tool_call_id: str, changes: Iterable[Change], *, is_certain: bool) -> None:
        """Takes in what a call has changed, or (not certain) may have changed."""
        for change in changes:
            before = change.snapshot.text if change.snapshot else None
            made = Made(run_id, tool_call_id, change, before, new_text(change), is_certain, is_certain)
            self.newly_undone(change.path, made.after)  # by the agent itself: nobody else took anything back
            self._add(made, Places.made(before, change.edits))
        self._forget_the_oldest()
        self._tell()

    def settled(self, path: Path, text: str | None) -> Iterator[tuple[str | None, str | None]]:
        """Of the edits of a file that were not certain, those that the text shows: the texts around each, once."""
        for made in self._made:
            if not made.is_counted and made.change.path == path and self._shows(made, Places(text)):
                made.is_certain = made.is_counted = True
                yield made.before, made.after

    def newly_undone(self, path: Path, text: str | None) -> bool:
        """Whether an edit of the file has been taken back and that was not asked before."""
        places, found = Places(text), False
        for record in self._records():
            if record.made.change.path == path and not record.was_told_undone and record.made.is_certain:
                record.was_told_undone = self._state(record, places)[0] == "undone"
                found |= record.was_told_undone
        return found

    # --- how it stands ---

    def list(self, run_id: str | None = None) -> list[Edit]:
        """The edits that still stand, in the order in which they were made."""
        return [edit for edit in self._told(self._records(run_id)) if edit.state != "undone"]

    def get(self, ids: Sequence[str] | None, run_id: str | None) -> list[Edit]:
        """The edits with these ids, or all of a run (of the session), undone ones too."""
        return list(self._told(self._chosen(ids, run_id)))

    def unknown(self, ids: Iterable[str]) -> list[str]:
        """Those ids that are no edit's."""
        known = {record.edit_id for record in self._records()}
        return [id for id in ids if id not in known]

    def texts(self, edit_id: str) -> tuple[Path, str | None, str | None] | None:
        """The file of an edit with its text before and after the call that made it, for a diff."""
        found = next((record.made for record in self._records() if record.edit_id == edit_id), None)
        return (found.change.path, found.before, found.after) if found and not found.lost else None

    # --- what the person does ---

    def keep(self, ids: Sequence[str] | None, run_id: str | None) -> list[Edit]:
        """Marks edits as good."""
        for record in self._chosen(ids, run_id):
            record.is_kept = not record.is_undone
        self._judge()
        return self.get(ids, run_id)

    async def undo(self, ids: Sequence[str] | None, run_id: str | None) -> list[Edit]:
        """Takes edits back, last to first, each call's in one step; says of each that cannot be why not.

        Named by their ids, kept ones are taken back as well.
        """
        reasons: dict[str, str] = {}
        async with self._one_at_a_time:
            chosen = [one for one in self._chosen(ids, run_id) if not one.is_undone and (ids or not one.is_kept)]
            for _, group in groupby(reversed(chosen), key=lambda one: (one.made.run_id, one.made.tool_call_id)):
                reasons |= await self._undo(list(group))
        self._judge()
        return [self._with_reason(edit, reasons) for edit in self.get(ids, run_id)]

    async def _undo(self, records: list[Record]) -> dict[str, str]:
        """Takes the edits of one call back; why not, by edit id."""
        reasons: dict[str, str] = {}
        going: list[tuple[Change, list[Record]]] = []
        for made, group in groupby(sorted(records, key=lambda one: id(one.made)), key=lambda one: one.made):
            found = await self._editor.read(made.change.path)
            places = Places(found.text if isinstance(found, Snapshot) else None)
            standing = [(one, place) for one in group if (place := self._state(one, places)[1])]
            reasons |= {one.edit_id: CHANGED for one in records if one.made is made}
            if standing:
                change = _inverse(made, found if isinstance(found, Snapshot) else None, standing)
                going.append((change, [one for one, _ in standing]))
        return reasons | await self._make(going)

    async def _make(self, going: list[tuple[Change, list[Record]]]) -> dict[str, str]:
        """Makes the changes together or, where one of them cannot be made, those that can."""
        if not going:
            return {}
        changes = [change for change, _ in going]
        outcome = await self._editor.replace(changes, _label(changes))
        if isinstance(outcome, Stale | Refused) and len(going) > 1:
            alone = [await self._make([one]) for one in going]
            return {id: reason for each in alone for id, reason in each.items()}
        for record in (record for _, records in going for record in records):
            record.is_undone = isinstance(outcome, Applied)
        return {record.edit_id: _why_not(outcome) for _, records in going for record in records}

    # --- bookkeeping ---

    @property
    def _made(self) -> list[Made]:
        if self._past is not None:
            past, self._past = self._past, None
            self._verdicts = self._judged.read()
            for one in past(self._verdicts):
                made = Made(one.run_id, one.tool_call_id, one.change, one.before, one.after, True, True, one.lost)
                lost = [Place(one.at, one.at, "")] if one.lost else None
                self._add(made, lost or Places.made(one.before, one.change.edits))
                said = self._verdicts.get(made.tool_call_id, {}).get(str(made.change.path), [])
                fits = len(said) == len(made.places)
                for record, verdict in zip(
                    made.places, said if fits else [_common(said)] * len(made.places), strict=True
                ):
                    record.is_kept = verdict == "kept"
        return self._recent

    def _add(self, made: Made, places: Iterable[Place]) -> None:
        for place in places:
            self._last_id += 1
            made.places.append(Record(f"{self._id}-{self._last_id}", made, place))
        if made.places:
            self._made.append(made)

    def _records(self, run_id: str | None = None) -> Iterator[Record]:
        for made in self._made:
            if run_id in (None, made.run_id):
                yield from made.places

    def _chosen(self, ids: Sequence[str] | None, run_id: str | None) -> list[Record]:
        return [one for one in self._records(run_id) if ids is None or one.edit_id in ids]

    def _told(self, records: Iterable[Record]) -> Iterator[Edit]:
        texts: dict[Path, Places] = {}
        for record in records:
            made = record.made
            if made.change.path not in texts:
                found = self._editor.peek(made.change.path)
                texts[made.change.path] = Places(found.text if isinstance(found, Snapshot) else None)
            places = texts[made.change.path]
            made.is_certain = made.is_certain or self._shows(made, places)
            if made.is_certain:
                state, place = self._state(record, places)
                start, end = place or places.near(record.place)
                ids = (record.edit_id, made.run_id, made.tool_call_id)
                old, lost = record.place.old, made.lost or None
                yield Edit(*ids, made.change.path, state, places.text, start, end, old, lost)

    def _shows(self, made: Made, places: Places) -> bool:
        return all(self._state(record, places)[1] for record in made.places)

    def _state(self, record: Record, places: Places) -> tuple[State, tuple[int, int] | None]:
        """The state, and where the edit is if it can be undone."""
        if record.is_undone or record.made.lost:
            return "undone" if record.is_undone else "changed", None
        if place := places.find(record.place, record.made.before, record.made.after):
            return ("kept" if record.is_kept else "pending"), place
        is_gone = places.is_taken_back(record.place, record.made.before, record.made.after)
        return ("undone" if is_gone else "changed"), None

    def _with_reason(self, edit: Edit, reasons: dict[str, str]) -> Edit:
        reason = edit.reason or reasons.get(edit.edit_id) or None
        return replace(edit, reason=reason) if edit.state != "undone" else edit

    def _forget_the_oldest(self) -> None:
        """Texts take room: what is too long ago can no longer be undone."""
        room = _MOST_KEPT_CHARACTERS
        for index in range(len(self._made) - 1, -1, -1):
            room -= len(self._made[index].before or "") + len(self._made[index].after or "")
            if room < 0 and index < len(self._made) - 1:
                del self._made[: index + 1]
                return

    def _judge(self) -> None:
        """Writes down what the person has said so far."""
        said: Verdicts = {}
        for record in self._records():
            verdict = "undone" if record.is_undone else "kept" if record.is_kept else ""
            files = said.setdefault(record.made.tool_call_id, {})
            files.setdefault(str(record.made.change.path), []).append(verdict)
        for call, files in said.items():
            self._verdicts[call] = self._verdicts.get(call, {}) | {k: v for k, v in files.items() if any(v)}
        self._judged.write_soon({call: files for call, files in self._verdicts.items() if files})
        self._tell()

    def _tell(self) -> None:
        for listener in self._listeners:
            listener()


def _common(said: Sequence[Verdict]) -> Verdict:
    """The verdict on all places, if it is one."""
    return said[0] if len(set(said)) == 1 else ""


def _inverse(made: Made, now: Snapshot | None, standing: list[tuple[Record, tuple[int, int]]]) -> Change:
    """What puts the text of those places back; a file that was made is deleted, one that was deleted is made again."""
    if made.before is None:
        return Change(made.change.path, now, None)
    if made.after is None:
        return Change(made.change.path, None, (TextEdit(0, 0, made.before),), written_like=made.change.snapshot)
    edits = sorted((TextEdit(*place, record.place.old) for record, place in standing), key=lambda edit: edit.start)
    return Change(made.change.path, now, tuple(edits))


def _label(changes: list[Change]) -> str:
    return "Undo the agent's edit of " + ", ".join(change.path.name for change in changes)


def _why_not(outcome: Outcome) -> str:
    match outcome:
        case Applied():
            return ""
        case Stale():
            return CHANGED
        case Refused(reason=reason):
            return reason
        case _:
            return "the editor did not show that it was done"
