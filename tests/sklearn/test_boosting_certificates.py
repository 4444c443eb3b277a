"""What rounds of boosting claim: edges against exact ones, claims about the law of stumps, and their words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.datasets import make_hastie_10_2

from tests.support.boosted import fitted
from topalpha.algorithms.field import cc_threshold
from topalpha.boosting.rounds import Asking, rounds
from topalpha.boosting.rows import ColumnRows
from topalpha.sklearn import BanditAdaBoostClassifier

FALSE_ALARM = 1e-6


@pytest.mark.parametrize("loose", [False, True])
def test_edges_are_at_least_what_certificates_claim(loose, monkeypatch):
    """Always, even where answers are so loose that many are wrong: a wrong yes is seen, and asked again."""
    design = cc_threshold.design
    if loose:
        monkeypatch.setattr(
            cc_threshold, "design", lambda *given, **more: design(*given, **more)._replace(accept_at=-3.0)
        )
    looks = []
    error = ColumnRows.error
    monkeypatch.setattr(ColumnRows, "error", lambda self, stump: looks.append(1) or error(self, stump))
    X, y = make_hastie_10_2(3000, random_state=0)
    model = BanditAdaBoostClassifier(60, epsilon=0.25, random_state=0).fit(X, y)
    claimed = np.array([one.edge_at_least for one in model.certificates_], dtype=float)
    assert all(one.proved for one in model.certificates_)
    assert (model.edges_ >= claimed).all()
    assert (model.edges_ < 2.0 * claimed).any()
    if loose:
        assert len(looks) > 63, "no answer was wrong: the test shows nothing"


def edges_of_fresh_stumps(data, count):
    """What the law of the round gives: edges of stumps that are drawn beside the search."""
    world = data.world(count)
    for arm in range(count):
        world.draw_stump(arm, data.rng)
    return np.array([1.0 - 1.0 / data.kinds - data.error(data.stump(world, arm)) for arm in range(count)])


@pytest.mark.statistical
@pytest.mark.slow
@pytest.mark.parametrize("question", ["edge", "best"])
def test_claims_about_the_law_of_stumps(question):
    """ "Within epsilon of the top alpha", and "fewer than alpha reach gamma", beside 60 fresh stumps in each round."""
    X, y = make_hastie_10_2(2000, random_state=1)
    delta = 0.2
    asking = Asking(question=question, alpha=0.3, epsilon=0.4, delta=delta)
    wrong = wild = total = 0
    for seed in range(3):
        data = ColumnRows(np.asfortranarray(X).T, (y > 0).astype(int), np.ones(2000), 2, np.random.default_rng(seed))
        for one in rounds(data, asking, 15):
            weights, edge = data.wrong.copy(), 0.5 - one.error
            fresh = edges_of_fresh_stumps(data, 60)
            data.wrong[:] = weights  # the round goes on from here
            if question == "best":
                # If 30% of stumps reach q, fewer than 6 of 60 do so with a probability of 1e-4.
                sixth = np.sort(fresh)[-6]
                wrong += edge < sixth - one.certificate.within
                wild += edge < sixth + one.certificate.within
                total += 1
            for gamma in one.certificate.refuted:
                wrong += np.sum(fresh >= gamma) > 33  # of 60; more than that has a probability of 1e-4 at 30%
                wild += np.sum(fresh >= 0.1 * gamma) > 33
                total += 1
    assert total >= 10
    assert binom.sf(wrong - 1, total, delta) >= FALSE_ALARM
    assert binom.sf(wild - 1, total, delta) < FALSE_ALARM, "claims that go too far must be found out"


def test_a_certificate_speaks():
    model, _, _ = fitted(question="edge", delta=0.1)
    certificate = model.certificates_[3]
    assert certificate.statement.startswith("The edge is at least ")
    assert certificate.edge_at_least == pytest.approx(0.5 * certificate.asked)
    assert certificate.pulls == model.pulls_[3]
    assert certificate.arms >= 1


@pytest.mark.slow
def test_a_certificate_of_the_best_speaks():
    model, _, _ = fitted(question="best", rounds=3)
    assert "of the top 5% of stumps" in model.certificates_[0].statement
    assert model.certificates_[2].within == pytest.approx(0.5 * model.certificates_[2].asked)


def test_an_edge_that_nothing_reaches_is_refuted():
    """Pure noise: the edge that is asked for first is far too large."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 3)), rng.integers(2, size=4000)
    model = BanditAdaBoostClassifier(1, random_state=0).fit(X, y)
    certificate = model.certificates_[0]
    assert certificate.refuted[0] == pytest.approx(0.45)
    assert list(certificate.refuted) == sorted(certificate.refuted, reverse=True)
    assert all(edge > certificate.asked for edge in certificate.refuted)
    assert "fewer than 5% of stumps, as drawn, reach an edge of" in certificate.statement


def test_a_round_without_pulls_left_claims_nothing():
    model, _, _ = fitted(max_pulls=10, rounds=4)
    assert not any(one.proved for one in model.certificates_)
    assert model.certificates_[0].edge_at_least is None
    assert model.certificates_[0].within is None
    assert (model.pulls_ < 10 + 4096).all()
    assert any(one.statement == "Nothing is proved: the pulls were spent." for one in model.certificates_)
