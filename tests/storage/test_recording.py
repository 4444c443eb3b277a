"""The fingerprint of a record."""

import sys
from array import array
from dataclasses import replace

from topalpha.storage import Recording, fingerprint


def test_it_is_the_same_whatever_the_byte_order(monkeypatch):
    def swapped(kind, numbers):
        made = array(kind, numbers)
        made.byteswap()  # as a machine of the other order has them
        return made

    one = replace(Recording("one", {}, "running", None, "2024"), asks=[(0, 0)], tells=[(0, 0.5)], arms=["1"])
    here = fingerprint(one)
    monkeypatch.setattr("topalpha.storage.recording.array", swapped)
    assert fingerprint(one) != here, "the check sees the order"
    monkeypatch.setattr("sys.byteorder", "big" if sys.byteorder == "little" else "little")
    assert fingerprint(one) == here
