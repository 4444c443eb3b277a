"""What a search writes down as it goes: enough to replay every decision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Journal(Protocol):
    """Where asks and tells go; :class:`topalpha.storage.Record` is one, on disk.

    A replay makes the same calls in the same order: pull ``order`` was planned when ``after`` rewards had been told.
    """

    def ask(self, order: int, arm: int, after: int) -> None:
        """Pull number ``order`` is one of ``arm``."""

    def wait(self, asked: int, after: int) -> None:
        """The algorithm was asked and had to wait, after so many pulls and rewards."""

    def tell_many(self, rewards: Sequence[tuple[int, float]]) -> None:
        """These rewards, by order, arrived; on disk when this returns."""
