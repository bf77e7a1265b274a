"""The models that there are to choose from, as a front end sees them."""

from __future__ import annotations

from typing import Any, Protocol


class ModelSource(Protocol):
    """Knows the models. What the machine could add to the configuration is asked only by `look`."""

    @property
    def is_settled(self) -> bool:
        """Whether `listed` says all there is, without a look."""
        ...

    @property
    def is_right(self) -> bool:
        """Whether `listed` is right as far as it goes: a look can only add to it."""
        ...

    def listed(self) -> dict[str, Any]:
        """`{models, defaultModel}` as the client is told, as far as it is known; never a credential."""
        ...

    def is_kept(self, name: str) -> bool:
        """Whether a key of the keyring would be used for `provider/model`: another one may be there now."""
        ...

    async def look(self, *, afresh: bool = False) -> None:
        """Asks the keyring, and this machine for model servers where nothing is configured; once, unless `afresh`.

        Takes a moment, which is bounded; what does not answer is as if it were not there.
        """
        ...

    async def test(self, name: str) -> dict[str, Any]:
        """Tries `provider/model` out: `{ok, latencyMs, status, message?}`. Raises ModelUnavailable."""
        ...
