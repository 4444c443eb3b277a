"""The audit of recorded scores: a wrong delta is found out, and rules of thumb by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.score_tables import needle
from topalpha.testset.naive import Thumb, enough, fixed, race
from topalpha.testset.replays import replays
from topalpha.testset.score_audit import RuleRuns


@pytest.mark.slow
@pytest.mark.statistical
def test_negative_control_a_wrong_delta_is_found_out():
    table = needle()
    costs, scores = replays(table, epsilon=0.1, delta=0.9).many(200)
    wrong = RuleRuns("select", 20, costs, scores, threshold=0.5 - 1e-9, delta=0.05, full=2000)
    assert not wrong.compatible


def test_rules_of_thumb_by_hand():
    rng = np.random.default_rng(0)
    outcomes = np.array([[1] * 25, [0] * 25, [1] * 12 + [0] * 13], dtype=bool)
    assert fixed(25)(outcomes, rng) == (0, 75)
    assert fixed(10)(outcomes, rng)[1] == 30
    # After 10 examples the second is out (10 against 0); after 20 the third is at 12 against 20, significantly worse:
    # shares 21/22 and 13/22 after smoothing, a difference of 0.4 against 1.96 sqrt((0.0434 + 0.2417) / 20) = 0.234.
    assert race(outcomes, rng) == (0, 30 + 20)
    assert {race(outcomes[[0, 0]], rng)[0] for _ in range(20)} == {0, 1}
    assert race(outcomes[[0, 0]], rng)[1] == 50
    assert enough(0.05, 0.05) == 59
    costs, scores = Thumb(fixed(5), outcomes, 7, 0).many(4)
    assert costs.tolist() == [35] * 4
    assert set(scores) <= {1.0, 0.0, 0.48}
