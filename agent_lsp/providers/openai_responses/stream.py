"""Events of the Responses API into a reply.

An item is announced, grows and is done; what `done` says of it stands. Servers leave out any of the three, so each is
taken for what it adds to what is known already.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from agent_lsp.engine.ports import Outcome
from agent_lsp.messages.events import Finish, TokenCounts
from agent_lsp.providers.failure import judge, read_error
from agent_lsp.providers.reply import Call, Reply, arguments_are_whole
from agent_lsp.providers.shape import as_count, as_dict, as_id, as_list, as_text
from agent_lsp.slotted import field, mutable

if TYPE_CHECKING:
    from agent_lsp.messages.content import Fidelity

ADAPTER = "openai_responses"
"""Whose fidelity it is."""

_CUT: Mapping[str, Finish] = {"max_output_tokens": "length", "content_filter": "content_filter"}


@mutable
class _Item:
    """An item of the output, and what has been told of it."""

    kind: str = ""
    call: Call | None = None
    pieces: list[str] = field(default_factory=list[str])
    place: tuple[str, Any] | None = None  # the part of the reasoning that grows
    is_open: bool = False

    @property
    def told(self) -> str:
        """Its text so far."""
        return "".join(self.pieces)


class ResponsesReader:
    """Reads one reply. `provider` marks the fidelity: what one provider encrypted another cannot read."""

    def __init__(self, provider: str, secrets: Collection[str] = ()) -> None:
        self.reply = Reply()
        self._provider, self._secrets = provider, secrets
        self._items: dict[str, _Item] = {}
        self._is_refusal = False
        self._usage: dict[str, Any] = {}
        self._handlers: Mapping[str, Callable[[dict[str, Any]], None]] = {
            "response.output_text.delta": lambda value: self._say(self._item(value, "message"), value.get("delta")),
            "response.refusal.delta": self._refuse,
            "response.function_call_arguments.delta": self._argue,
            "response.reasoning_summary_text.delta": self._reason,
            "response.reasoning_text.delta": self._reason,
            "response.output_item.added": lambda value: self._added(_key(value), as_dict(value.get("item"))),
            "response.output_item.done": lambda value: self._done(_key(value), as_dict(value.get("item"))),
            "response.function_call_arguments.done": self._argued,
            "response.completed": self._ended,
            "response.incomplete": self._ended,
            "response.failed": self._ended,
            "response.cancelled": self._ended,
        }

    @property
    def is_settled(self) -> bool:
        """Never: the event that says how the reply ended is the last one and has the accounts in it."""
        return False

    def event(self, name: str, value: dict[str, Any]) -> None:
        """One event; kinds that are not known are no concern of ours."""
        handler = self._handlers.get(as_text(value.get("type")) or name)
        if handler:
            handler(value)

    def document(self, value: dict[str, Any]) -> None:
        """A whole response."""
        if not isinstance(value.get("output"), list):
            self.reply.malformed("the answer is JSON, but no response")
            return
        self._ended({"response": value})

    def done(self) -> None:
        """Not of this dialect; some servers send it all the same."""
        self.close()

    def close(self) -> None:
        """The end of the body, before the reply said how it ended."""
        self.reply.malformed("the stream ended before the reply did")

    # --- items --------------------------------------------------------------------------------------------------------

    def _item(self, value: dict[str, Any], kind: str) -> _Item:
        """The item that an event is about; a new one where it was not announced."""
        key = _key(value)
        item = self._items.get(key)
        if item is None:
            item = self._items[key] = _Item(kind)
        if not item.is_open:
            self._open(item)
        return item

    def _open(self, item: _Item) -> None:
        """Text and thinking of another item never run on: each goes back with the marks of its own."""
        if item.kind in ("message", "reasoning"):
            self.reply.end_segment()
            for other in self._items.values():
                other.is_open = False
        item.is_open = True

    def _added(self, key: str, given: dict[str, Any]) -> None:
        item = self._items[key] = _Item(as_text(given.get("type")))
        if item.kind == "function_call":
            item.call = self.reply.begin(as_text(given.get("name")), as_id(given.get("call_id")))
            self._input(item.call, given.get("arguments"))
        elif item.kind == "message":
            self._say_content(item, given)

    def _done(self, key: str, given: dict[str, Any]) -> None:
        if key not in self._items:
            self._added(key, given)
        item = self._items[key]
        match item.kind:
            case "message":
                self._say_content(item, given)
                if item.is_open and given.get("status", "completed") == "completed" and not self._is_refusal:
                    self._end(item, {name: one for name, one in given.items() if name != "content"})
            case "reasoning":
                self._reasoned(item, given)
            case "function_call" if item.call:
                self._complete_call(item.call, given)
            case "":
                pass
            case _:  # the provider's own doings: nothing to show, but wanted back
                self.reply.end_segment()
                self.reply.thinking("")
                self._end(item, given)

    def _end(self, item: _Item, kept: dict[str, Any]) -> None:
        """The item goes onto its segment, unless that has ended already."""
        if self.reply.is_open("text" if item.kind == "message" else "thinking"):
            self.reply.fidelity = self._mark(kept)
            self.reply.end_segment()
        item.is_open = False

    def _mark(self, kept: dict[str, Any]) -> Fidelity:
        return {ADAPTER: {"provider": self._provider, "item": kept}}

    # --- text ---------------------------------------------------------------------------------------------------------

    def _say(self, item: _Item, piece: Any) -> None:
        if isinstance(piece, str) and piece:
            item.pieces.append(piece)
            self.reply.text(piece)

    def _refuse(self, value: dict[str, Any]) -> None:
        self._is_refusal = True
        self.reply.hold_calls()
        self._say(self._item(value, "message"), value.get("delta"))

    def _say_content(self, item: _Item, given: dict[str, Any]) -> None:
        """What the item's content has beyond what was streamed of it."""
        parts = [as_dict(part) for part in as_list(given.get("content"))]
        if any(part.get("type") == "refusal" for part in parts):
            self._is_refusal = True
            self.reply.hold_calls()
        whole = "".join(as_text(part.get("text")) or as_text(part.get("refusal")) for part in parts)
        if rest := _rest(item.told, whole):
            if not item.is_open:
                self._open(item)
            self._say(item, rest)

    # --- reasoning ----------------------------------------------------------------------------------------------------

    def _reason(self, value: dict[str, Any]) -> None:
        """A piece of reasoning; a blank line stands between its parts. A server tells it one way or the other."""
        item = self._item(value, "reasoning")
        kind = as_text(value.get("type")) or "reasoning"
        place = (kind, value.get("summary_index", value.get("content_index")))
        if item.place and item.place[0] != kind:
            return
        piece = as_text(value.get("delta"))
        if item.place and item.place != place and item.pieces:
            piece = "\n\n" + piece
        item.place = place
        item.pieces.append(piece)
        self.reply.thinking(piece)

    def _reasoned(self, item: _Item, given: dict[str, Any]) -> None:
        """What was not streamed of the reasoning is told now; hidden reasoning is an empty thinking with its item."""
        if not item.pieces:
            parts = as_list(given.get("summary")) or as_list(given.get("content"))
            words = "\n\n".join(as_text(as_dict(part).get("text")) for part in parts)
            if words or given.get("encrypted_content"):
                self._open(item)
                item.pieces.append(words)
                self.reply.thinking(words)
        if item.is_open:
            self._end(item, given)

    # --- calls --------------------------------------------------------------------------------------------------------

    def _argue(self, value: dict[str, Any]) -> None:
        item = self._items.get(_key(value))
        if item and item.call:
            self._input(item.call, value.get("delta"))

    def _argued(self, value: dict[str, Any]) -> None:
        item = self._items.get(_key(value))
        if item and item.call and not item.call.ended:
            self._input(item.call, _rest(item.call.arguments, as_text(value.get("arguments"))))

    def _input(self, call: Call, piece: Any) -> None:
        if isinstance(piece, dict):  # some servers give an object where a text belongs
            piece = to_json(piece).decode() if piece else ""
        self.reply.arguments(call, as_text(piece))

    def _complete_call(self, call: Call, given: dict[str, Any]) -> None:
        """A call is done; one that was cut at the output limit is done too, but not whole."""
        self.reply.name(call, as_text(given.get("name")))
        if call.ended:
            return
        arguments = given.get("arguments")
        self._input(call, _rest(call.arguments, arguments) if isinstance(arguments, str) else arguments)
        call.fidelity = self._mark({name: one for name, one in given.items() if name != "arguments"})
        is_cut = given.get("status") == "incomplete"
        if not is_cut and call.name and (arguments_are_whole(call.arguments) or not call.arguments.strip()):
            self.reply.end_call(call)

    # --- the end ------------------------------------------------------------------------------------------------------

    def _ended(self, value: dict[str, Any]) -> None:
        response = as_dict(value.get("response"))
        status = as_text(response.get("status")) or as_text(value.get("type")).removeprefix("response.")
        self._usage = as_dict(response.get("usage")) or self._usage
        if status in ("failed", "cancelled"):
            error = as_dict(response.get("error"))
            unsaid = Outcome("timeout", f"the provider broke off the reply ({status})")
            self.reply.end(judge(read_error(response), self._secrets) if error else unsaid)
            return
        cut = as_text(as_dict(response.get("incomplete_details")).get("reason"))
        finish: Finish = _CUT.get(cut, "length") if status == "incomplete" else "stop"
        if finish == "content_filter":
            self.reply.hold_calls()
        if not self._items:  # nothing was streamed: all there is, is here
            for index, item in enumerate(as_list(response.get("output"))):
                self._done(str(index), as_dict(item))
        self.reply.complete("refusal" if self._is_refusal else finish, _token_counts(self._usage))


def _key(value: dict[str, Any]) -> str:
    """By its place in the output: a few servers change ids on the way."""
    index = value.get("output_index")
    if isinstance(index, int):
        return str(index)
    return as_id(value.get("item_id")) or as_id(as_dict(value.get("item")).get("id"))


def _rest(told: str, whole: str) -> str:
    """What `whole` adds to what was told; nothing where the two differ."""
    return whole[len(told) :] if whole.startswith(told) else ""


def _token_counts(usage: Mapping[str, Any]) -> TokenCounts:
    prompt, output = as_count(usage.get("input_tokens")) or 0, as_count(usage.get("output_tokens")) or 0
    cached = as_count(as_dict(usage.get("input_tokens_details")).get("cached_tokens")) or 0
    fresh = prompt if cached > prompt else prompt - cached
    return TokenCounts(cache_read=cached, cache_write=fresh, output=output, total=cached + fresh + output)
