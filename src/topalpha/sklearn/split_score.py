"""One pull of a model search: the score of one setting on one random split of the data."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator, RandomState
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit, cross_validate

from topalpha.execution import Noted, common_generator, place_of, pull_generator
from topalpha.families.units import Model
from topalpha.sklearn.distributions import Settings


class Times(NamedTuple):
    """Sent back with a score: its arm and number, the seconds it took, and whether the fit or the scorer failed.

    Examples
    --------
    >>> Times(arm=0, number=3, fit=0.5, score=0.1).failed
    False
    """

    arm: int
    number: int
    fit: float
    score: float
    failed: bool = False


@dataclass(frozen=True)
class SplitScore:
    """The score of a setting on a random split; it can be sent to another process.

    Attributes
    ----------
    estimator, X, y, params
        The estimator, the data, and further arguments of its ``fit``.
    scorer
        ``scorer(fitted, X, y)`` returns the score; large scores are good.
    test_size, stratified
        How rows are split.
    shared
        Whether split k is the same for all settings, or every setting has its own.
    dither
        The width of the uniform noise that is added to a score; 0 for none.
    error_score
        ``"raise"``, or the score that counts if the fit or the scorer fails.
    model
        The reward model, which says which scores are valid.
    configuration
        The caller's scikit-learn configuration. Each thread has its own; the pull must run with the caller's.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.metrics import check_scoring
    >>> from topalpha.execution import pull_generator
    >>> from topalpha.families.units import reward_model
    >>> X, y = np.zeros((12, 1)), np.array([0] * 8 + [1] * 4)
    >>> scorer, model = check_scoring(DummyClassifier()), reward_model("bernoulli")
    >>> pull = SplitScore(DummyClassifier(), X, y, {}, scorer, 0.25, True, False, 0.0, "raise", model)
    >>> float(pull({"strategy": "most_frequent"}, pull_generator(0, arm=0, number=0))) == 2 / 3
    True
    """

    estimator: Any
    X: Any
    y: Any
    params: dict[str, Any]
    scorer: Any
    test_size: float | int
    stratified: bool
    shared: bool
    dither: float
    error_score: str | float
    model: Model
    configuration: dict[str, Any] = field(default_factory=get_config)

    def split(self, rng: Generator) -> tuple[Any, Any]:
        """The rows to fit on, and the rows to score on."""
        kind = StratifiedShuffleSplit if self.stratified else ShuffleSplit
        splitter = kind(n_splits=1, test_size=self.test_size, random_state=RandomState(rng.bit_generator))
        train, test = next(splitter.split(self.X, self.y))
        return train, test

    def configured(self, settings: Settings, rng: Generator) -> Any:
        """The estimator with these settings; a random state that is None gets a seed."""
        estimator = clone(self.estimator).set_params(**clone(settings, safe=False))
        seeds = {
            name: int(rng.integers(2**31))
            for name, value in sorted(estimator.get_params(deep=True).items())
            if value is None and (name == "random_state" or name.endswith("__random_state"))
        }
        return estimator.set_params(**seeds)

    def __call__(self, settings: Settings, rng: Generator) -> Noted:
        """The score, with noise if ``dither`` is positive, and its times."""
        arm, number = place_of(rng)
        noise = dither_of(self.dither, rng)
        source = common_generator(rng) if self.shared else rng
        with config_context(**self.configuration):
            split = self.split(source)
            score, fit_time, score_time = self.evaluate(self.configured(settings, source), split)
        failed = not math.isfinite(score)
        if failed:
            if self.error_score == "raise":
                words = "score must be finite, or error_score a number that counts instead"
                raise ValueError(f"{words}, got {score} for {settings}")
            score = float(self.error_score)
        self.check(score)
        return Noted(score + noise, Times(arm, number, fit_time, score_time, failed))

    def evaluate(self, estimator: Any, split: tuple[Any, Any]) -> tuple[float, float, float]:
        """The score and the seconds of fit and scoring; NaN if they fail, unless ``error_score`` is "raise"."""
        rows = {"X": self.X, "y": self.y, "cv": [split], "params": self.params}
        try:
            found = cross_validate(estimator, **rows, scoring=self.scorer, error_score="raise", n_jobs=1)
        except Exception:  # as in scikit-learn, error_score covers all errors of a fit
            if self.error_score == "raise":
                raise
            return math.nan, math.nan, math.nan
        if "test_score" not in found:
            raise ValueError("scoring must give one score, got several metrics at once, which are not supported")
        score, fit_time, score_time = (float(found[name][0]) for name in ("test_score", "fit_time", "score_time"))
        return score, fit_time, score_time

    def check(self, score: float) -> None:
        """Raise unless the score is valid under the bounds."""
        try:
            self.model.check(score)
        except ValueError:
            text = self.model.text
            raise ValueError(
                f"score must be valid for bounds={text!r}, got {score}; if scores lie between other limits, write "
                'bounds="low-variance(lo,hi)" with these limits'
            ) from None


def dither_of(width: float, rng: Generator) -> float:
    """The noise of a pull: the first number of its generator.

    Examples
    --------
    >>> dither_of(0.0, np.random.default_rng(0)), abs(dither_of(0.1, np.random.default_rng(0))) <= 0.05
    (0.0, True)
    """
    return width * (float(rng.random()) - 0.5) if width > 0.0 else 0.0


def scores_without_noise(rewards: list[float], width: float, seed: int, arm: int) -> np.ndarray[Any, Any]:
    """The scores as the scorer returned them, from the rewards of an arm: the noise can be drawn again.

    Examples
    --------
    >>> rng = pull_generator(0, arm=2, number=0)
    >>> bool(np.isclose(scores_without_noise([0.5 + dither_of(0.1, rng)], 0.1, 0, 2)[0], 0.5))
    True
    """
    noises = [dither_of(width, pull_generator(seed, arm, number)) for number in range(len(rewards))] if width else 0.0
    return np.array(rewards, dtype=float) - noises
