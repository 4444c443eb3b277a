"""Error rates of model search: with splits of one's own, with shared ones, and with proofs that do not hold."""

import numpy as np
import pytest
from scipy.stats import binom, rv_discrete
from sklearn import config_context
from sklearn.base import BaseEstimator

from tests.support.marks import quick
from topalpha import Search, design
from topalpha.families import LowVariance, Normal
from topalpha.sklearn import TopAlphaSearchCV

#: A sound algorithm is called wrong with probability at most this.
FALSE_ALARM = 1e-6
#: Of all settings 30% are good; the others are worse by a little more than epsilon.
ALPHA, EPSILON, DELTA = 0.3, 1.0, 0.2
GOOD, BAD = 1.02, 0.0
LAW = {"good": rv_discrete(name="good", values=([0, 1], [1.0 - ALPHA, ALPHA]))}
ROWS = np.random.default_rng(11).normal(size=(80, 1))


class TwoKinds(BaseEstimator):
    """Scores are normal around 0 or 1.02: the average of 16 random rows of 80 normal ones.

    With ``opposed`` the noise of good settings has the other sign: on shared splits, what lifts all bad ones lowers
    all good ones.
    """

    def __init__(self, good=0, opposed=False):
        self.good = good
        self.opposed = opposed

    def fit(self, X, y=None):
        return self

    def score(self, X, y=None):
        noise = 4.0 * float(X.mean() - ROWS.mean())  # a standard deviation of about .9
        return (GOOD if self.good else BAD) + (-noise if self.opposed and self.good else noise)


def wrong(runs, **arguments):
    """How many of so many searches return a bad setting."""
    count = 0
    with config_context(skip_parameter_validation=True):
        for seed in range(runs):
            arguments = {"alpha": ALPHA, "epsilon": EPSILON, "delta": DELTA, **arguments}
            search = TopAlphaSearchCV(TwoKinds(opposed=True), LAW, random_state=seed, refit=False, **arguments)
            search.fit(ROWS)
            assert search.certificate_.proved
            count += not search.best_params_["good"]
    return count


def too_many(errors, runs, delta=DELTA):
    """Whether an error probability of delta would give so many with a probability below that of a false alarm."""
    return binom.sf(errors - 1, runs, delta) <= FALSE_ALARM


def test_the_split_scores_follow_the_law_that_they_should():
    """Means 0 and 1.02 exactly, over all splits; and normal, as far as 400 splits can tell."""
    from scipy.stats import shapiro

    rng = np.random.default_rng(0)
    scores = np.array([TwoKinds(good=1).score(ROWS[rng.permutation(80)[:16]]) for _ in range(400)])
    assert abs(scores.mean() - GOOD) < 5.0 * scores.std() / 20.0
    assert 0.7 < scores.std() < 1.1
    assert shapiro(scores).pvalue > 1e-3


@pytest.mark.statistical
@pytest.mark.parametrize("splits", ["own", "shared"])
def test_negative_control_a_search_for_too_few_settings_is_found_out(splits):
    """One that is designed for the top 90% and an error of .97, and judged by the top 30% and .2."""
    errors = wrong(40, splits=splits, alpha=0.9, delta=0.97)
    assert too_many(errors, 40), f"{errors} of 40"


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("splits", ["own", "shared"])
def test_the_error_is_at_most_delta(splits):
    errors = wrong(400, splits=splits)
    assert not too_many(errors, 400), f"{errors} of 400"


# lucb++ for models that are no one-parameter family, under dependence of the worst kind


def reward(family, kind, noise):
    """Good and bad arms get the same noise with opposite signs."""
    if isinstance(family, LowVariance):
        return 0.5 + (0.1 * kind) + 0.05 * (1 - 2 * kind) * float(np.clip(noise, -2.0, 2.0))
    return GOOD * kind + (1 - 2 * kind) * noise


def dependent_errors(name, family, epsilon, runs, alpha, delta, designed_for=None):
    """Searches in which pull k of every arm has the same noise; a bad arm is worse by 1.02 epsilon."""
    count = 0
    for seed in range(runs):
        rng, kinds, noises = np.random.default_rng(seed), [], []
        search = Search(design(name, designed_for or alpha, epsilon, delta, family), seed)
        while (pull := search.ask()) is not None:
            if pull.arm == len(kinds):
                kinds.append(int(rng.random() < alpha))
            while pull.number >= len(noises):
                noises.append(rng.normal())
            search.tell(pull, reward(family, kinds[pull.arm], noises[pull.number]))
        assert search.stopped
        count += not kinds[search.best]
    return count


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("family", "epsilon"), quick([(Normal(10.0, 5.0), 1.0), (LowVariance(), 0.098)], [(LowVariance(), 0.098)])
)
def test_lucb_plus_plus_bears_dependent_rewards(family, epsilon):
    errors = dependent_errors("lucb++", family, epsilon, 40, 0.3, 0.1)
    assert not too_many(errors, 40, 0.1), f"{errors} of 40"


@pytest.mark.statistical
def test_negative_control_lucb_plus_plus_on_too_few_arms_is_found_out():
    errors = dependent_errors("lucb++", Normal(10.0, 5.0), 1.0, 60, 0.3, 0.1, designed_for=0.9)
    assert too_many(errors, 60, 0.1), f"{errors} of 60"
