"""Both searches for the most biased coin: the targets that they refuse, and pinned runs."""

from __future__ import annotations

from topalpha import design
from topalpha.algorithms import entry
from topalpha.families import Gaussian
from topalpha.randomness import run_seed
from topalpha.reservoirs import TwoPoint
from topalpha.simulation import interpret
from topalpha.testing import check_design

COIN = TwoPoint(0.4, 0.604, 0.1)


def toss(low, high, share, delta, family=None):
    """likelihood-toss for the question whether an arm is the high one."""
    return design("likelihood-toss", share, 0.98 * (high - low), delta, family, low=low, high=high, share=share)


def test_designs_refuse_bad_targets():
    check_design(entry("likelihood-toss").design, low=0.4, high=0.604, share=0.1)
    check_design(entry("likelihood-toss").design, Gaussian(1.0), low=-1, high=1, share=0.1)
    check_design(entry("jhr").design)
    check_design(entry("jhr").design, generous=True)


def test_pinned_runs():
    """Pulls and arms of one seed each: a change of a rule, a constant or a stream shows here."""
    runs = [
        interpret(toss(0.4, 0.604, 0.1, 0.1), COIN, run_seed(5, 0)),
        interpret(design("jhr", 0.1, 0.2, 0.1), COIN, run_seed(5, 0)),
        interpret(design("jhr", 0.3, 0.3, 0.1, generous=True), TwoPoint(0.1, 0.9, 0.4), run_seed(5, 0)),
    ]
    found = [(run.search.result.pulls, run.search.result.arms, run.search.result.arm) for run in runs]
    assert found == PINNED


PINNED = [(49, 6, 5), (12968, 271, 270), (973, 6, 5)]
