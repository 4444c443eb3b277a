"""Which cases of a test run in ``make test``, and which only in ``make test-slow``."""

from __future__ import annotations

import pytest


def quick(cases, chosen):
    """All cases, the chosen ones in every run and the others marked as slow; a choice that is no case is an error."""
    cases = list(cases)
    assert all(one in cases for one in chosen), chosen
    assert not any(hasattr(case, "marks") for case in cases), "cases are values, without marks and names of their own"
    arguments = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [
        pytest.param(*given, marks=() if case in chosen else pytest.mark.slow)
        for case, given in zip(cases, arguments, strict=True)
    ]
