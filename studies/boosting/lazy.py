"""Methods on images whose features, random filters, cost something: who computes which of them, and on which rows.

A method that needs a table must choose its filters beforehand and compute them on all images; that time counts. Others
try new filters in every round. The test images' features are computed off the clock, for everybody.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.boosting.curves import Curve, Limit, Method, at_checkpoints, traced
from studies.boosting.data import Task
from studies.boosting.images import CANVAS, all_responses, images, random_filters, responses
from studies.boosting.methods import ending_after, exhaustive, light, of_bandit
from studies.boosting.passes import Floats, edge_of, reweigh
from studies.boosting.rivals import Exhaustive, Presorted, Stump, by_weight
from topalpha.sklearn import BanditAdaBoostClassifier

#: As many draws hold one of the top 5% with probability .95.
NEW_FILTERS = 59


def image_task(rows: int, seed: int, held_out: int) -> Task:
    """Images to learn from, and images of other digits."""
    return Task(f"images, {rows:,} rows", *images(rows, seed), *images(held_out, seed, held_out=True))


def beforehand(filters: int, learn: Method) -> Method:
    """Compute so many random filters on all images, then learn from the table; nothing if the time is over before."""

    def run(task: Task, limit: Limit, seed: int) -> Curve | None:
        some = random_filters(filters, np.random.default_rng(seed))
        begin = time.perf_counter()
        train = all_responses(task.train, some, limit.seconds)
        spent = time.perf_counter() - begin
        test = all_responses(task.test, some)
        if train is None or test is None:
            return None
        table = Task(task.name, train, task.labels, test, task.truth)
        curve = learn(table, Limit(limit.rounds, limit.seconds - spent), seed)
        return curve._replace(
            prepared=round(spent + (curve.prepared or 0.0), 5),
            seconds=[round(spent + one, 5) for one in curve.seconds],
            looked=[train.size / 1e6] * len(curve.rounds),
        )

    return run


def one_response(canvas: Floats, weights: Floats) -> Floats:
    """One filter on all images."""
    found = np.empty(len(canvas), dtype=np.float32)
    responses(canvas, np.arange(len(canvas)), weights, found)
    return found


def _on_all(task: Task, signed: Floats, filters: Floats, rng: np.random.Generator) -> tuple[Stump, Floats]:
    """The best of all stumps on the filters, on all rows, and its column."""
    table = all_responses(task.train, filters)
    search = Exhaustive(table, task.labels)
    stump = search.best(signed)
    return stump, search.columns[stump.feature]


def _on_some(rows: int) -> Any:
    """The best of all stumps on the filters, on so many rows drawn by weight; a heuristic."""

    def search(task: Task, signed: Floats, filters: Floats, rng: np.random.Generator) -> tuple[Stump, Floats]:
        drawn = by_weight(signed, rows, rng)
        table = all_responses(task.train[drawn], filters)
        stump = Presorted(table, task.labels[drawn]).best(np.sign(signed[drawn]) / np.float32(rows))
        column = one_response(task.train, filters[stump.feature])
        edge = edge_of(column, stump.threshold, signed, float(np.sum(signed, dtype=np.float64)))
        return stump._replace(edge=abs(edge), sign=1 if edge > 0 else -1), column

    return search


def new_filters(rows: int | None) -> Method:
    """AdaBoost that tries new filters in each round, on all rows or on some drawn by weight."""
    search = _on_all if rows is None else _on_some(rows)

    def run(task: Task, limit: Limit, seed: int) -> Curve:
        rng = np.random.default_rng(seed)
        begin = time.perf_counter()
        signed = ((2.0 * task.labels - 1.0) / len(task.labels)).astype(np.float32)
        seconds: list[float] = []
        kept: list[tuple[Floats, float, float]] = []
        while not kept or (len(kept) < limit.rounds and seconds[-1] < limit.seconds):
            filters = random_filters(NEW_FILTERS, rng)
            stump, column = search(task, signed, filters, rng)
            vote = math.atanh(min(stump.edge, 1.0 - 1e-6))
            reweigh(column, stump.threshold, stump.sign, vote, signed)
            kept.append((filters[stump.feature], stump.threshold, stump.sign * vote))
            seconds.append(time.perf_counter() - begin)
        each = NEW_FILTERS * (len(task.labels) if rows is None else rows) + (0 if rows is None else len(task.labels))
        stages = at_checkpoints(_votes(task.test, kept), len(kept))
        return traced(task, seconds, stages, None, [float(each * at) for at in range(1, len(kept) + 1)])

    return run


def _votes(test: Floats, kept: list[tuple[Floats, float, float]]) -> Any:
    total: NDArray[np.float64] = np.zeros(len(test))
    for weights, threshold, vote in kept:
        total = total + np.where(one_response(test, weights) > threshold, vote, -vote)
        yield total


class Filter:
    """A feature that is computed when it is wanted: the largest response of one filter."""

    def __init__(self, weights: Floats) -> None:
        self.weights = weights

    def __call__(self, pixels: Floats) -> Floats:
        """Of these rows of pixels."""
        return one_response(pixels.reshape(-1, CANVAS, CANVAS), self.weights)


def draw_filter(rng: np.random.Generator) -> Filter:
    """The bandit's endless pool."""
    return Filter(random_filters(1, rng)[0])


def lazy_bandit(task: Task, limit: Limit, seed: int) -> Curve:
    """AdaBoost whose filters are found by bandits; in each round the one that wins is computed on all images.

    The other question takes pulls one at a time, without compiled code where features are functions: it is left out.
    """
    flat = task._replace(train=task.train.reshape(len(task.train), -1), test=task.test.reshape(len(task.test), -1))
    model = BanditAdaBoostClassifier(limit.rounds, question="edge", features=draw_filter, random_state=seed)
    with ending_after(limit.seconds) as passes:
        model.fit(flat.train, flat.labels)
    return of_bandit(model, flat, np.array(passes))


#: All methods on images; "exact" comes first and sets the targets.
LAZY: dict[str, Method] = {
    "exact": beforehand(400, exhaustive),
    "bandit, edge": lazy_bandit,
    "exact, 100 filters": beforehand(100, exhaustive),
    "exact, 1,600 filters": beforehand(1_600, exhaustive),
    "LightGBM": beforehand(400, light(num_leaves=2, learning_rate=1.0)),
    "new filters, all rows": new_filters(None),
    "new filters, 2,000 rows": new_filters(2_000),
}
