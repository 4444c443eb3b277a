"""Stands in for ``topalpha.storage.listing`` until that is there."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from topalpha.storage import names, read


@dataclass(frozen=True)
class Overview:
    """One search of a file in a few figures."""

    name: str
    status: str
    created: str
    config: dict[str, Any]
    progress: dict[str, Any] | None
    updated: float | None

    def alive(self) -> bool:
        """Whether someone works on it."""
        return self.status == "running" and self.updated is not None and time.time() - self.updated < 5.0

    @property
    def paused(self) -> bool:
        """Whether it was paused when it last said something."""
        return self.status == "running" and (self.progress or {}).get("paused") is True


def listing(path: str) -> list[Overview]:
    """All searches in a file."""
    found = [read(path, name, log=False) for name in names(path)]
    return [Overview(one.name, one.status, one.created, one.config, one.progress, one.updated) for one in found]


def candidates(path: str, name: str, arms: range) -> dict[int, str]:
    """Candidates as text, by arm."""
    raw = read(path, name).arms
    return {arm: one if isinstance(one := raw[arm], str) else "(pickled)" for arm in arms if arm < len(raw)}
