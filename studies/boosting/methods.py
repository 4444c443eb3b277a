"""The methods of the boosting study under one roof: each learns for a while and returns its accuracy over time."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterator
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import AdaBoostClassifier, HistGradientBoostingClassifier

from studies.boosting.curves import Curve, Limit, Method, at_checkpoints, checkpoints, traced
from studies.boosting.data import Task
from studies.boosting.rivals import Boosted, Exhaustive, Presorted, RandomFeatures, RandomStumps, SampledRows, boost
from topalpha.boosting.rounds import rounds
from topalpha.boosting.rows import FITTED_ROWS
from topalpha.sklearn import BanditAdaBoostClassifier


def _from_boosted(task: Task, found: Boosted, each: int) -> Curve:
    looked = [float(each * at) for at in range(1, len(found.seconds) + 1)]
    stages = at_checkpoints(found.staged_decision(task.test), len(found.seconds))
    return traced(task, found.seconds, stages, found.prepared, looked)


def exhaustive(task: Task, limit: Limit, seed: int) -> Curve:
    """AdaBoost with the best of all stumps."""
    found = boost(task.labels, lambda: Exhaustive(task.train, task.labels), *limit)
    return _from_boosted(task, found, task.train.size)


def presorted(task: Task, limit: Limit, seed: int) -> Curve:
    """The same, found as it is usually done."""
    found = boost(task.labels, lambda: Presorted(task.train, task.labels), *limit)
    return _from_boosted(task, found, task.train.size)


def random_features(task: Task, limit: Limit, seed: int) -> Curve:
    """AdaBoost with the best of all stumps of a tenth of the features, drawn anew in each round."""
    rng = np.random.default_rng(seed)
    draws = max(1, task.train.shape[1] // 10)
    found = boost(task.labels, lambda: RandomFeatures(task.train, task.labels, draws, rng), *limit)
    return _from_boosted(task, found, draws * len(task.train))


def random_stumps(task: Task, limit: Limit, seed: int, draws: int = 59) -> Curve:
    """AdaBoost with the best of random stumps: 59 hold one of the top 5% with probability .95."""
    rng = np.random.default_rng(seed)
    found = boost(task.labels, lambda: RandomStumps(task.train, draws, rng), *limit)
    return _from_boosted(task, found, draws * (len(task.train) + FITTED_ROWS))


def sampled_rows(task: Task, limit: Limit, seed: int, draws: int = 10_000) -> Curve:
    """AdaBoost with the best stump on some rows drawn by weight."""
    rng = np.random.default_rng(seed)
    found = boost(task.labels, lambda: SampledRows(task.train, task.labels, draws, rng), *limit)
    return _from_boosted(task, found, draws * task.train.shape[1] + len(task.train))  # the stump on all rows


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
        with ending_after(limit.seconds) as passes:
            model.fit(task.train, task.labels)
        return of_bandit(model, task, np.array(passes) - 1)  # one is AdaBoost's own

    return run


@contextlib.contextmanager
def ending_after(limit: float) -> Iterator[list[int]]:
    """Fits of bandits end with the first round that is over after so many seconds; how often each tried all rows."""
    begin = time.perf_counter()
    passes: list[int] = []

    def some(data: Any, *arguments: Any) -> Iterator[Any]:
        tried, error = [0], data.error

        def count(stump: Any) -> float:
            tried[0] += 1
            return float(error(stump))

        data.error = count
        for one in rounds(data, *arguments):
            passes.append(tried[0])
            tried[0] = 0
            yield one
            if time.perf_counter() - begin > limit:
                return

    with mock.patch("topalpha.sklearn.boosting.rounds", some):
        yield passes


def of_bandit(model: Any, task: Task, passes: NDArray[Any]) -> Curve:
    """The curve of a fitted model; so many passes a round over all rows come on top of what its searches read."""
    done = len(model.estimators_)
    arms = np.array([one.arms for one in model.certificates_])
    looked = np.cumsum(model.pulls_ + FITTED_ROWS * arms + passes * len(task.train)).tolist()
    stages = at_checkpoints(model.staged_decision_function(task.test), done)
    curve = traced(task, model.round_seconds_.tolist(), stages, None, looked)
    return curve._replace(proved=sum(one.proved for one in model.certificates_))


#: All methods on tables; "exact" comes first and sets the targets.
ALL: dict[str, Method] = {
    "exact": exhaustive,
    "exact, sorted rows": presorted,
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
#: They are not cut off.
WHOLE = ("exact", "exact, sorted rows")
#: Run for the first seed of a size only, where there are many rows.
ONCE = ("bandit, best", "LightGBM, GOSS", "HistGradientBoosting, trees", "AdaBoostClassifier")
