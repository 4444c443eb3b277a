"""Hashes of lists, to resume with the same ones: others would certify candidates that nobody evaluated."""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Iterable
from typing import Any

from topalpha.storage.encoding import quotation, to_json


def likeness(values: Any) -> str:
    """A short text that differs if any of the values looks different; for values of any kind, in any process.

    Examples
    --------
    >>> one = likeness([(1, 2), {"b", "a"}])
    >>> one == likeness([(1, 2), {"a", "b"}]), one == likeness([(2, 1), {"a", "b"}])
    (True, False)
    """
    whole = hashlib.sha256()
    for place in range(len(values)):
        held = json.dumps(quotation(values[place]), sort_keys=True).encode()
        whole.update(len(held).to_bytes(8, "big") + held)
    return whole.hexdigest()


def digest(name: str, values: Iterable[Any]) -> str:
    """A hash of the values, which JSON or pickle must be able to hold.

    Examples
    --------
    >>> one = digest("examples", [1, 2])
    >>> one == digest("examples", range(1, 3)), one == digest("examples", [2, 1])
    (True, False)
    """
    whole = hashlib.sha256()
    for value in values:
        held = _held(name, value)
        whole.update(len(held).to_bytes(8, "big") + held)
    return whole.hexdigest()


def _held(name: str, value: Any) -> bytes:
    try:
        return to_json(name, value).encode()
    except ValueError:  # JSON would change it
        pass
    try:
        return pickle.dumps(value, protocol=5)
    except (pickle.PicklingError, TypeError, AttributeError):
        words = f"{name} must be objects that JSON or pickle can hold if a file is given, got {value!r}"
        raise ValueError(words) from None
