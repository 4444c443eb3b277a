"""One round of boosting: which stump it takes once its pulls are spent."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.boosted import Projections, blobs
from topalpha.algorithms.field import cc_threshold
from topalpha.boosting.lazy import LazyRows
from topalpha.boosting.rounds import Asking, next_stump
from topalpha.boosting.rows import ColumnRows, Found, Stump


class Told(ColumnRows):
    """Rows whose searches are written down beforehand."""

    def search(self, algorithm, most_pulls):
        self.left.append(most_pulls)
        return self.script.pop(0)


YES, NO = (0.0, 0.0, 1.0), (0.0, 0.0, -1.0)
#: On ten rows with features 0, ..., 9 and class 1 from 5 on: no error, 2 errors, 8 errors, and as good as guessing.
PERFECT, FAIR, BAD, EVEN = Stump(0, 4.5, 0, 1), Stump(0, 2.5, 0, 1), Stump(0, 2.5, 1, 0), Stump(0, 9.5, 0, 1)


def told(*script):
    data = Told(np.arange(10.0)[None, :], np.arange(10) // 5, np.ones(10), 2, np.random.default_rng(0))
    data.script, data.left = list(script), []
    return data


def answer(stump, stopped, state, pulls, *known):
    return Found(stump, stopped, state, 1 + len(known), pulls, lambda: (*known, (1.0, stump)))


@pytest.mark.parametrize(
    "script",
    [
        # a no takes nearly all pulls, and what is left finds nothing
        [answer(FAIR, True, NO, 990), answer(BAD, False, YES, 16)],
        [answer(FAIR, True, NO, 990), answer(EVEN, False, YES, 16)],
        # the last question knows the better one
        [answer(EVEN, True, NO, 500), answer(BAD, True, NO, 490), answer(FAIR, False, YES, 10)],
        # a yes was wrong, for 0.32 was to be reached, and yet it is the best one known
        [answer(FAIR, True, YES, 900), answer(EVEN, True, NO, 80), answer(BAD, False, YES, 20)],
        # one question alone, which thinks another one better
        [answer(BAD, False, YES, 1000, (0.5, FAIR), (0.2, EVEN))],
    ],
)
def test_a_round_whose_pulls_are_spent_takes_the_best_stump_of_all_its_questions(script):
    data = told(*script)
    found = next_stump(data, Asking(max_pulls=1000, epsilon=0.2), 0.4)
    assert found is not None
    stump, error, certificate = found
    assert stump == FAIR
    assert error == pytest.approx(0.2)
    assert data.wrong.sum() == pytest.approx(0.2), "the errors that weights are made from must be of this stump"
    assert not certificate.proved
    assert certificate.edge_at_least is None
    assert (certificate.pulls, certificate.arms) == (sum(one.pulls for one in script), sum(one.arms for one in script))
    assert not data.script
    assert data.left == [1000, *np.subtract(1000, np.cumsum([one.pulls for one in script])[:-1])]


def test_a_round_tries_a_few_stumps_on_all_rows_and_only_where_its_pulls_are_spent(monkeypatch):
    looks, error = [], ColumnRows.error
    monkeypatch.setattr(ColumnRows, "error", lambda self, stump: looks.append(stump) or error(self, stump))
    found = next_stump(told(answer(PERFECT, True, NO, 500), answer(FAIR, True, YES, 100)), Asking(max_pulls=1000), 0.4)
    assert found is not None
    assert found[0] == FAIR
    assert found[2].proved
    assert looks == [FAIR]
    looks.clear()
    many = [(score, BAD) for score in range(2, 30)]  # they look better than the one that is
    assert next_stump(told(answer(FAIR, False, YES, 1000, *many)), Asking(max_pulls=1000), 0.4) is None
    assert looks == [BAD] * 9


def test_a_round_in_which_nothing_is_better_than_guessing_has_no_stump():
    data = told(answer(EVEN, True, NO, 990), answer(BAD, False, YES, 16))
    assert next_stump(data, Asking(max_pulls=1000), 0.4) is None


@pytest.mark.parametrize("features", [None, "lazy"])
def test_a_search_remembers_the_stumps_that_look_best(features):
    """Scores by hand from the pulls of all arms."""
    X, y = blobs(rows=300)
    rng = np.random.default_rng(0)
    if features:
        data = LazyRows(Projections().draw, X, y, np.ones(300), 2, rng)
    else:
        data = ColumnRows(X.T.copy(), y, np.ones(300), 2, rng)
    runs = []

    class Kept(data.runner):
        def __init__(self, *given):
            super().__init__(*given)
            runs.append(self)

    data.runner = Kept
    found = data.search(cc_threshold.design(0.05, 0.2, 0.05, threshold=0.97), 3000)
    history = runs[0].history
    pulls = np.array(history.pulls[: history.arms], dtype=float)
    totals = np.array(history.stats[0][: history.arms], dtype=float)
    assert len(pulls) > 8
    scores = (totals / pulls - 0.5) / np.sqrt(0.25 / pulls)
    assert [score for score, _ in found.known()] == pytest.approx(sorted(scores, reverse=True)[:8])
    assert len({stump for _, stump in found.known()}) == 8
    edges = [0.5 - data.error(stump) for _, stump in found.known()]
    assert max(edges) > 0.2
