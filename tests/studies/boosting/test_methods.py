"""The methods that are compared: their rounds, their checkpoints, and the values that they look at."""

from itertools import pairwise

import numpy as np
import pytest

from studies.boosting import data, methods
from studies.boosting.curves import Limit, checkpoints
from studies.boosting.methods import ending_after, exhaustive, of_bandit, presorted
from topalpha.sklearn import BanditAdaBoostClassifier


def test_checkpoints_are_close_and_hold_the_last_round():
    assert checkpoints(1) == [1]
    for rounds in (2, 7, 100, 600):
        found = checkpoints(rounds)
        assert found[-1] == rounds
        assert all(before < after <= max(before + 1, 1.12 * before) for before, after in pairwise(found))


def test_both_exact_searches_take_the_same_rounds():
    task = data.generated(600, 1, 300)
    one, other = (method(task, Limit(12, 60.0), 0) for method in (exhaustive, presorted))
    assert (one.rounds, one.accuracy, one.looked) == (other.rounds, other.accuracy, other.looked)


@pytest.mark.slow
def test_values_looked_at_are_counted_alike():
    """What the rounds read to choose stumps: no preparations, and not the value a row that AdaBoost's step reads."""

    task = data.generated(600, 1, 300)
    each = {
        methods.exhaustive: 600 * 100,
        methods.random_features: 600 * 10,
        methods.random_stumps: 59 * (600 + 128),
        methods.sampled_rows: 10_000 * 100 + 600,
    }
    for method, values in each.items():
        looked = method(task, Limit(5, 60.0), 0).looked
        assert looked == pytest.approx([1e-6 * values * at for at in range(1, 6)], rel=1e-3)


@pytest.mark.parametrize("max_pulls", [2000, None])
def test_passes_of_the_bandit_over_all_rows_are_counted(max_pulls):
    """One a round is AdaBoost's own; rounds whose pulls are spent try some stumps more."""
    task = data.generated(600, 1, 300)
    model = BanditAdaBoostClassifier(20, max_pulls=max_pulls, random_state=0)
    with ending_after(60.0) as passes:
        model.fit(task.train, task.labels)
    assert len(passes) == len(model.estimators_)
    spent = [count for count, one in zip(passes, model.certificates_, strict=True) if not one.proved]
    assert min(passes) == 1
    if max_pulls is None:
        assert not spent
    else:
        assert spent
        assert all(2 <= count <= 10 for count in spent)
    plain = sum(model.pulls_) + 128 * sum(one.arms for one in model.certificates_)
    looked = of_bandit(model, task, np.array(passes) - 1).looked
    assert looked[-1] == pytest.approx(1e-6 * (plain + 600 * (sum(passes) - len(passes))), rel=1e-3)
