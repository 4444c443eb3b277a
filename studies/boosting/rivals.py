"""AdaBoost with exact scores, compiled: the best of all stumps, and the best of some random ones.

Both are meant to be hard to beat.

The exhaustive search puts each feature into 128 bins once. A round is then one sequential pass a feature over one byte
a row, the bin and the label together, that adds up weights. That gives the exact edge at every border of bins, and a
bound on what thresholds inside a bin can reach; only bins that may hold a better threshold are looked into, in the
order of the feature's values (sorted when first needed, and kept). The stump found is the best of all, as if every
threshold had been tried. The usual way, ``Presorted``, is slower on many rows: in the order of a feature's values,
weights lie scattered over memory.

The random stumps come from the bandit's reservoir; each is scored on all rows in one pass over the column.
Weights are float32 and their sums float64.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from studies.boosting.passes import (
    ABREAST,
    BINS,
    Floats,
    add_up,
    count_codes,
    edge_of,
    encode,
    fit_thresholds,
    inside,
    mark_ties,
    place_of,
    reweigh,
    transpose,
    walk,
)
from topalpha.boosting.rows import FITTED_ROWS

#: Rows from which the borders of bins are taken; any borders give the same stumps, even ones are quickest.
SAMPLE = 5_000
#: Rounds after which weights are made to add up to 1 again: what rounding adds grows by a factor every few rounds.
RENEW = 16


class Stump(NamedTuple):
    """Says ``sign`` above the threshold and ``-sign`` elsewhere; its edge is the weight of its hits less its misses."""

    feature: int
    threshold: float
    sign: int
    edge: float


class Boosted(NamedTuple):
    """Stumps with their votes; when each was done, and when the preparations were, in seconds from the call."""

    stumps: list[Stump]
    votes: list[float]
    seconds: list[float]
    prepared: float

    def staged_decision(self, features: Floats) -> Iterator[NDArray[np.float64]]:
        """The weighted vote after each round."""
        total = np.zeros(len(features))
        for stump, vote in zip(self.stumps, self.votes, strict=True):
            above = features[:, stump.feature] > stump.threshold
            total = total + np.where(above, stump.sign * vote, -stump.sign * vote)
            yield total


def by_weight(signed: Floats, draws: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Rows drawn by their weights, with replacement."""
    reached = np.cumsum(np.abs(signed), dtype=np.float64)
    found = np.searchsorted(reached, rng.random(draws) * reached[-1], side="right")
    return found.clip(max=len(signed) - 1)


class Exhaustive:
    """Finds the best of all stumps, again and again as weights change."""

    def __init__(self, features: Floats, labels: NDArray[np.int64]) -> None:
        rows, width = features.shape
        self.columns = np.empty((width, rows), dtype=np.float32)
        transpose(features, self.columns)
        some = np.sort(features[:: max(1, rows // SAMPLE)], axis=0)
        places = np.linspace(0, len(some) - 1, BINS + 1).astype(int)[1:-1]
        self.borders = np.ascontiguousarray(some[places].T)
        self.codes = np.empty((width, rows), dtype=np.uint8)
        encode(self.columns, self.borders, labels, self.codes)
        self.sums = np.empty((width, 2 * BINS))
        self.sorted: dict[tuple[int, int], tuple[NDArray[np.int32], Floats]] = {}
        #: How many bins were looked into, over all rounds.
        self.opened = 0

    def _rows(self, feature: int, place: int) -> tuple[NDArray[np.int32], Floats]:
        """Rows and values of a bin, in the order of the values."""
        if (feature, place) not in self.sorted:
            rows = np.flatnonzero(self.codes[feature] >> 1 == place).astype(np.int32)
            values = self.columns[feature][rows]
            order = np.argsort(values)
            self.sorted[feature, place] = rows[order], values[order]
        return self.sorted[feature, place]

    def best(self, signed: Floats) -> Stump:
        """The stump of the largest edge."""
        return self.best_of(np.arange(len(self.codes)), signed)

    def best_of(self, chosen: NDArray[np.int64], signed: Floats) -> Stump:
        """The stump of the largest edge on the chosen features."""
        add_up(self.codes, chosen, np.abs(signed), self.sums)
        plus, minus = self.sums[chosen, 1::2], self.sums[chosen, ::2]
        ends = np.cumsum(plus - minus, axis=1)
        whole = float(np.mean(ends[:, -1]))
        edges = whole - 2.0 * ends
        which, place = np.unravel_index(np.argmax(np.abs(edges[:, :-1])), (len(ends), BINS - 1))
        edge, feature = float(edges[which, place]), int(chosen[which])
        found = Stump(feature, float(self.borders[feature, place]), 1 if edge > 0 else -1, abs(edge))
        if abs(whole) > found.edge:  # the constant stump
            found = Stump(0, -math.inf, 1 if whole > 0 else -1, abs(whole))
        starts = ends - plus + minus
        reach = np.maximum(np.abs(whole - 2.0 * (starts + plus)), np.abs(whole - 2.0 * (starts - minus)))
        candidates = [(-reach[at], *map(int, at)) for at in zip(*np.nonzero(reach > found.edge), strict=True)]
        heapq.heapify(candidates)
        while candidates and -candidates[0][0] > found.edge:
            _, which, place = heapq.heappop(candidates)
            self.opened += 1
            rows, values = self._rows(int(chosen[which]), place)
            edge, at = inside(values, signed[rows], float(starts[which, place]), whole)
            if abs(edge) > found.edge:
                found = Stump(int(chosen[which]), float(values[at]), 1 if edge > 0 else -1, abs(edge))
        return found


class RandomFeatures(Exhaustive):
    """Finds the best of all stumps of some features, drawn anew each time (Escudero and others, 2001: LazyBoost)."""

    def __init__(self, features: Floats, labels: NDArray[np.int64], draws: int, rng: np.random.Generator) -> None:
        super().__init__(features, labels)
        self.draws, self.rng = draws, rng

    def best(self, signed: Floats) -> Stump:
        """The stump of the largest edge on features drawn without replacement."""
        return self.best_of(self.rng.choice(len(self.codes), size=self.draws, replace=False), signed)


class Presorted:
    """Finds the best of all stumps as it is usually done: rows sorted by each feature once, walked through each time.

    Row numbers are negative where the next row has the same value, so that no threshold lies between. Four features go
    side by side, so that one addition need not wait for another. It finds what ``Exhaustive`` finds.
    """

    def __init__(self, features: Floats, labels: NDArray[np.int64]) -> None:
        rows, width = features.shape
        self.columns = np.empty((width, rows), dtype=np.float32)
        transpose(features, self.columns)
        self.order = np.empty((-(-width // ABREAST) * ABREAST, rows), dtype=np.int32)
        for feature in range(len(self.order)):
            column = self.columns[min(feature, width - 1)]
            self.order[feature] = np.argsort(column)
            mark_ties(column, self.order[feature])

    def best(self, signed: Floats) -> Stump:
        """The stump of the largest edge."""
        whole = float(np.sum(signed, dtype=np.float64))
        below = np.empty((2, len(self.order)))
        walk(self.order, signed, below)
        edges = whole - 2.0 * below
        which, feature = np.unravel_index(np.argmax(np.abs(edges)), edges.shape)
        edge, place = float(edges[which, feature]), place_of(self.order[feature], signed, below[which, feature])
        threshold = -math.inf if place < 0 else float(self.columns[feature, self.order[feature, place]])
        return Stump(int(feature), threshold, 1 if edge > 0 else -1, abs(edge))


class RandomStumps:
    """Finds the best of ``draws`` stumps from the bandit's reservoir, each scored on all rows."""

    def __init__(self, features: Floats, draws: int, rng: np.random.Generator) -> None:
        self.draws, self.rng = draws, rng
        self.columns = np.empty(features.shape[::-1], dtype=np.float32)
        transpose(features, self.columns)

    def draw(self, signed: Floats) -> tuple[NDArray[np.int64], Floats]:
        """Features and thresholds: a feature at random, and its best threshold on a few rows drawn by weight."""
        rows = by_weight(signed, self.draws * FITTED_ROWS, self.rng).reshape(self.draws, FITTED_ROWS)
        features = self.rng.integers(len(self.columns), size=self.draws)
        thresholds = np.empty(self.draws, dtype=np.float32)
        fit_thresholds(self.columns, signed, features, rows, thresholds)
        return features, thresholds

    def best(self, signed: Floats) -> Stump:
        """The stump of the largest edge."""
        features, thresholds = self.draw(signed)
        whole = float(np.sum(signed, dtype=np.float64))
        found = Stump(0, -math.inf, 1, -math.inf)
        for feature, threshold in zip(features, thresholds, strict=True):
            edge = edge_of(self.columns[feature], threshold, signed, whole)
            if abs(edge) > found.edge:
                found = Stump(int(feature), float(threshold), 1 if edge > 0 else -1, abs(edge))
        return found


class SampledRows(Exhaustive):
    """Finds the best stump, of thresholds at the borders of bins, on rows drawn by weight: a heuristic, no proof.

    It gathers the codes of the drawn rows from rows that lie together in memory.
    """

    def __init__(self, features: Floats, labels: NDArray[np.int64], draws: int, rng: np.random.Generator) -> None:
        super().__init__(features, labels)
        self.by_row = np.ascontiguousarray(self.codes.T)
        self.draws, self.rng = draws, rng

    def best(self, signed: Floats) -> Stump:
        """The stump of the largest edge on the rows drawn; its edge on all rows decides its sign and its vote."""
        rows = by_weight(signed, self.draws, self.rng)
        counts = np.zeros((len(self.columns), 2 * BINS), dtype=np.int64)
        count_codes(self.by_row, rows, counts)
        signs = np.cumsum(counts[:, 1::2] - counts[:, ::2], axis=1)
        edges = np.abs(signs[:, -1:] - 2 * signs[:, :-1])
        feature, place = (int(one) for one in np.unravel_index(np.argmax(edges), edges.shape))
        threshold, whole = float(self.borders[feature, place]), float(np.sum(signed, dtype=np.float64))
        edge = edge_of(self.columns[feature], threshold, signed, whole)
        return Stump(feature, threshold, 1 if edge > 0 else -1, abs(edge))


def boost(
    labels: NDArray[np.int64], make: Callable[[], Exhaustive | Presorted | RandomStumps], rounds: int, limit: float
) -> Boosted:
    """AdaBoost for a number of rounds, at least one, or until a round is over after ``limit`` seconds."""
    begin = time.perf_counter()
    search = make()
    signed = ((2.0 * labels - 1.0) / len(labels)).astype(np.float32)
    result = Boosted([], [], [], time.perf_counter() - begin)
    while not result.stumps or (len(result.stumps) < rounds and result.seconds[-1] < limit):
        stump = search.best(signed)
        edge = min(stump.edge, 1.0 - 1e-6)  # a stump without a miss would have an infinite vote
        vote = math.atanh(edge)
        reweigh(search.columns[stump.feature], stump.threshold, stump.sign, vote, signed)
        if len(result.stumps) % RENEW == 0:
            signed /= np.abs(signed).sum(dtype=np.float64)
        result.stumps.append(stump)
        result.votes.append(vote)
        result.seconds.append(time.perf_counter() - begin)
    return result
