"""The methods of the boosting study under one roof: each learns for a while and returns its accuracy over time."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from boosting_data import Task
from boosting_rivals import Boosted, Exhaustive, RandomFeatures, RandomStumps, SampledRows, boost
from numpy.typing import NDArray
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier

from topalpha.boosting.rounds import rounds
from topalpha.boosting.rows import FITTED_ROWS
from topalpha.sklearn import BanditAdaBoostClassifier


class Limit(NamedTuple):
    """When a method ends: after so many rounds, or when a round is over after so many seconds."""

    rounds: int
    seconds: float


class Curve(NamedTuple):
    """Accuracy on the test rows after some of the rounds, against seconds in ``fit``.

    ``looked`` counts the values of features that had been read by then to choose stumps, preparations included, in
    millions; None where a library does not say. ``proved`` is how many of all rounds ended with a proof, where a
    method gives any.
    """

    prepared: float | None
    rounds: list[int]
    seconds: list[float]
    accuracy: list[float]
    looked: list[float] | None
    proved: int | None = None


Method = Callable[[Task, Limit, int], Curve | None]


def checkpoints(rounds: int) -> list[int]:
    """1, 2, 3, ... and then in steps of a twelfth, with the last round."""
    found, at = [], 1
    while at < rounds:
        found.append(at)
        at = max(at + 1, round(at * 13 / 12))
    return [*found, rounds]


def traced(
    task: Task,
    seconds: list[float],
    stages: Iterable[NDArray[Any]],
    prepared: float | None = None,
    looked: list[float] | None = None,
) -> Curve:
    """The curve of a method that was done with round r after ``seconds[r - 1]`` and had read ``looked[r - 1]`` values.

    ``stages`` are margins of the test rows around 0, after each of the ``checkpoints``.
    """
    wanted = checkpoints(len(seconds))
    truth = task.truth.astype(bool)
    accuracy = [round(float(np.mean((stage > 0) == truth)), 5) for stage in stages]
    if len(accuracy) != len(wanted):
        raise ValueError(f"stages must be {len(wanted)}, one for each checkpoint, got {len(accuracy)}")
    return Curve(
        None if prepared is None else round(prepared, 5),
        wanted,
        [round(seconds[at - 1], 5) for at in wanted],
        accuracy,
        [float(f"{looked[at - 1] / 1e6:.4g}") for at in wanted] if looked else None,
    )


def at_checkpoints(stages: Iterable[NDArray[Any]], rounds: int) -> Iterator[NDArray[Any]]:
    """Of the stages after each round those that count."""
    wanted = frozenset(checkpoints(rounds))
    return (stage for at, stage in enumerate(stages, start=1) if at in wanted)


def _from_boosted(task: Task, found: Boosted, before: int, each: int) -> Curve:
    looked = [before + each * at for at in range(1, len(found.seconds) + 1)]
    stages = at_checkpoints(found.staged_decision(task.test), len(found.seconds))
    return traced(task, found.seconds, stages, found.prepared, looked)


def exhaustive(task: Task, limit: Limit, seed: int) -> Curve:
    """AdaBoost with the best of all stumps."""
    found = boost(task.labels, lambda: Exhaustive(task.train, task.labels), *limit)
    return _from_boosted(task, found, task.train.size, task.train.size)


def random_features(task: Task, limit: Limit, seed: int) -> Curve:
    """AdaBoost with the best of all stumps of a tenth of the features, drawn anew in each round."""
    rng = np.random.default_rng(seed)
    draws = max(1, task.train.shape[1] // 10)
    found = boost(task.labels, lambda: RandomFeatures(task.train, task.labels, draws, rng), *limit)
    return _from_boosted(task, found, task.train.size, draws * len(task.train))


def random_stumps(task: Task, limit: Limit, seed: int, draws: int = 59) -> Curve:
    """AdaBoost with the best of random stumps: 59 hold one of the top 5% with probability .95."""
    rng = np.random.default_rng(seed)
    found = boost(task.labels, lambda: RandomStumps(task.train, draws, rng), *limit)
    return _from_boosted(task, found, 0, draws * len(task.train))


def sampled_rows(task: Task, limit: Limit, seed: int, draws: int = 10_000) -> Curve:
    """AdaBoost with the best stump on some rows drawn by weight."""
    rng = np.random.default_rng(seed)
    found = boost(task.labels, lambda: SampledRows(task.train, task.labels, draws, rng), *limit)
    return _from_boosted(task, found, task.train.size, draws * task.train.shape[1])


class _Timed(AdaBoostClassifier):
    """scikit-learn's, with a clock: notes when each round is done, and ends when the time is over."""

    def fit(self, X: Any, y: Any) -> Any:
        self.begin, self.seconds = time.perf_counter(), []
        return super().fit(X, y)

    def _boost(self, *arguments: Any) -> Any:
        if self.seconds and self.seconds[-1] > self.limit:
            return None, None, None
        found = super()._boost(*arguments)
        self.seconds.append(time.perf_counter() - self.begin)
        return found


def scikit_learn(task: Task, limit: Limit, seed: int) -> Curve:
    """scikit-learn's AdaBoost on trees of depth one."""
    model = _Timed(n_estimators=limit.rounds, random_state=seed)
    model.limit = limit.seconds
    model.fit(task.train, task.labels)
    stages = at_checkpoints(model.staged_decision_function(task.test), len(model.seconds))
    return traced(task, model.seconds, stages)


class _Lines:
    """Stands in for the standard output and notes when each line of progress, "[3/100] ...", begins."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def write(self, text: str) -> None:
        if text.startswith("[") and "/" in text:
            self.times.append(time.perf_counter())

    def flush(self) -> None: ...


def _histograms(task: Task, rounds: int, seed: int, settings: dict[str, Any]) -> tuple[Any, list[float], float]:
    """Model, seconds after each round, and seconds of preparation, by the lines that scikit-learn prints."""
    model = HistGradientBoostingClassifier(
        max_iter=rounds, early_stopping=False, verbose=2, random_state=seed, **settings
    )
    lines = _Lines()
    begin = time.perf_counter()
    with contextlib.redirect_stdout(lines):  # type: ignore[type-var]
        model.fit(task.train, task.labels)
    begun = [at - begin for at in lines.times]
    if len(begun) != rounds:
        raise RuntimeError(f"scikit-learn must print one line a round, got {len(begun)} for {rounds}")
    return model, [*begun[1:], time.perf_counter() - begin], begun[0]


def histogram(**settings: Any) -> Method:
    """scikit-learn's gradient boosting on histograms. A first, short fit says how many rounds there is time for."""

    def run(task: Task, limit: Limit, seed: int) -> Curve:
        _, seconds, prepared = _histograms(task, 3, seed, settings)
        each = (seconds[-1] - prepared) / 3
        rounds = max(1, min(limit.rounds, math.ceil((limit.seconds - prepared) / each)))
        model, seconds, prepared = _histograms(task, rounds, seed, settings)
        stages = at_checkpoints(model.staged_decision_function(task.test), rounds)
        return traced(task, seconds, stages, prepared)

    return run


def _lightgbm_stages(model: Any, test: NDArray[np.float32], rounds: int) -> Iterator[NDArray[np.float64]]:
    total, done = np.zeros(len(test)), 0
    for at in checkpoints(rounds):
        total = total + model.predict(test, start_iteration=done, num_iteration=at - done, raw_score=True)
        done = at
        yield total


def light(**settings: Any) -> Method:
    """LightGBM."""

    def run(task: Task, limit: Limit, seed: int) -> Curve:
        import lightgbm  # the extra "rivals"; what does not run it need not have it

        seconds: list[float] = []
        begin = time.perf_counter()

        def tick(state: Any) -> None:
            seconds.append(time.perf_counter() - begin)
            if seconds[-1] > limit.seconds:
                raise lightgbm.callback.EarlyStopException(state.iteration, [])

        options = {"objective": "binary", "num_threads": 1, "verbosity": -1, "seed": seed, **settings}
        data = lightgbm.Dataset(task.train, task.labels, params=options)
        data.construct()
        prepared = time.perf_counter() - begin
        model = lightgbm.train(options, data, limit.rounds, callbacks=[tick], keep_training_booster=True)
        return traced(task, seconds, _lightgbm_stages(model, task.test, len(seconds)), prepared)

    return run


def bandit(question: str) -> Method:
    """AdaBoost whose stumps are found by bandits."""

    def run(task: Task, limit: Limit, seed: int) -> Curve:
        model = BanditAdaBoostClassifier(limit.rounds, question=question, random_state=seed)
        with ending_after(limit.seconds):
            model.fit(task.train, task.labels)
        return of_bandit(model, task, 0)

    return run


@contextlib.contextmanager
def ending_after(limit: float) -> Iterator[None]:
    """Fits of bandits end with the first round that is over after so many seconds."""
    begin = time.perf_counter()

    def some(*arguments: Any) -> Iterator[Any]:
        for one in rounds(*arguments):
            yield one
            if time.perf_counter() - begin > limit:
                return

    with mock.patch("topalpha.sklearn.boosting.rounds", some):
        yield


def of_bandit(model: Any, task: Task, each: int) -> Curve:
    """The curve of a fitted model; ``each`` values a round come on top of what its searches read."""
    done = len(model.estimators_)
    arms = np.array([one.arms for one in model.certificates_])
    looked = np.cumsum(model.pulls_ + FITTED_ROWS * arms + each).tolist()
    stages = at_checkpoints(model.staged_decision_function(task.test), done)
    curve = traced(task, model.round_seconds_.tolist(), stages, None, looked)
    return curve._replace(proved=sum(one.proved for one in model.certificates_))


#: All methods on tables; "exact" comes first and sets the targets.
ALL: dict[str, Method] = {
    "exact": exhaustive,
    "bandit, edge": bandit("edge"),
    "bandit, best": bandit("best"),
    "random features": random_features,
    "random stumps": random_stumps,
    "sampled rows": sampled_rows,
    "LightGBM": light(num_leaves=2, learning_rate=1.0),
    "LightGBM, GOSS": light(num_leaves=2, learning_rate=1.0, data_sample_strategy="goss"),
    "HistGradientBoosting": histogram(max_depth=1, learning_rate=1.0),
    "HistGradientBoosting, trees": histogram(),
    "AdaBoostClassifier": scikit_learn,
}
#: Run for the first seed of a size only, where there are many rows.
ONCE = ("bandit, best", "LightGBM, GOSS", "HistGradientBoosting, trees", "AdaBoostClassifier")
