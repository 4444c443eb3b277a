"""AdaBoost with exact scores, compiled: the best of all stumps, and the best of some random ones.

Both are meant to be hard to beat.

The exhaustive search puts each feature into 128 bins once. A round is then one sequential pass a feature over one byte a
row, the bin and the label together, that adds up weights. That gives the exact edge at every border of bins, and a bound
on what thresholds inside a bin can reach; only bins that may hold a better threshold are looked into, in the order of the
feature's values (sorted when first needed, and kept). The stump found is the best of all, as if every threshold had been
tried. The usual way, ``Presorted``, is slower: in the order of a feature's values, weights lie scattered over memory.

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
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float32]
#: Twice this many codes, bin and label together, are one byte.
BINS = 128
#: Rows from which the borders of bins are taken; any borders give the same stumps, even ones are quickest.
SAMPLE = 5_000
#: Rows that a stump of the bandit's reservoir is fitted to.
FITTED_ROWS = 32
#: Features that the walk through sorted rows takes side by side.
ABREAST = 4
#: Rows that are handled together so that what is read again is still in the cache.
TILE = 256


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


@njit(cache=True)
def transpose(features: Floats, columns: Floats) -> None:
    """Copy rows into columns, tile by tile."""
    rows, width = features.shape
    for begin in range(0, rows, TILE):
        for feature in range(width):
            for row in range(begin, min(begin + TILE, rows)):
                columns[feature, row] = features[row, feature]


@njit(cache=True)
def encode(columns: Floats, borders: Floats, labels: NDArray[np.int64], codes: NDArray[np.uint8]) -> None:
    """Bin and label of every value: a value lies in bin b if b borders are smaller; borders ascend, 127 a feature."""
    for feature in range(len(columns)):
        column, border, code = columns[feature], borders[feature], codes[feature]
        for row in range(len(labels)):
            place, step = 0, BINS // 2
            while step > 0:
                place += step * (column[row] > border[place + step - 1])
                step //= 2
            code[row] = 2 * place + labels[row]


@njit(cache=True)
def add_up(codes: NDArray[np.uint8], chosen: NDArray[np.int64], weights: Floats, sums: NDArray[np.float64]) -> None:
    """Weight of each label in each bin of each chosen feature."""
    for feature in chosen:
        code, total = codes[feature], sums[feature]
        total[:] = 0.0
        for row in range(len(weights)):
            total[code[row]] += weights[row]


@njit(cache=True)
def mark_ties(column: Floats, order: NDArray[np.int32]) -> None:
    """Make the row numbers negative after which no threshold lies: before an equal value, and at the end."""
    for place in range(len(order) - 1):
        if column[order[place]] == column[order[place + 1]]:
            order[place] = ~order[place]
    order[-1] = ~order[-1]


@njit(cache=True)
def walk(order: NDArray[np.int32], signed: Floats, below: NDArray[np.float64]) -> None:
    """The least and the greatest sum of signed weights at or below a threshold of each feature, four side by side."""
    features, rows = order.shape
    for first in range(0, features, ABREAST):
        a, b, c, d = order[first], order[first + 1], order[first + 2], order[first + 3]
        sum_a, sum_b, sum_c, sum_d = 0.0, 0.0, 0.0, 0.0
        low_a, low_b, low_c, low_d = 0.0, 0.0, 0.0, 0.0
        high_a, high_b, high_c, high_d = 0.0, 0.0, 0.0, 0.0
        for place in range(rows):
            row = a[place]
            sum_a += signed[row ^ (row >> 31)]
            if row >= 0:
                low_a, high_a = min(low_a, sum_a), max(high_a, sum_a)
            row = b[place]
            sum_b += signed[row ^ (row >> 31)]
            if row >= 0:
                low_b, high_b = min(low_b, sum_b), max(high_b, sum_b)
            row = c[place]
            sum_c += signed[row ^ (row >> 31)]
            if row >= 0:
                low_c, high_c = min(low_c, sum_c), max(high_c, sum_c)
            row = d[place]
            sum_d += signed[row ^ (row >> 31)]
            if row >= 0:
                low_d, high_d = min(low_d, sum_d), max(high_d, sum_d)
        below[0, first], below[0, first + 1], below[0, first + 2], below[0, first + 3] = low_a, low_b, low_c, low_d
        below[1, first], below[1, first + 1], below[1, first + 2], below[1, first + 3] = high_a, high_b, high_c, high_d


@njit(cache=True)
def place_of(order: NDArray[np.int32], signed: Floats, wanted: float) -> int:
    """Where the walk of one feature first reaches this sum; -1 if before it begins."""
    total = 0.0
    if total == wanted:
        return -1
    for place in range(len(order)):
        row = order[place]
        total += signed[row ^ (row >> 31)]
        if total == wanted and row >= 0:
            return place
    return -1


@njit(cache=True)
def inside(values: Floats, signed: Floats, before: float, whole: float) -> tuple[float, int]:
    """The best edge, with its sign, of thresholds at values that ascend, and the place of its value; ties share one."""
    below, best, at = before, 0.0, -1
    for place in range(len(values) - 1):
        below += signed[place]
        edge = whole - 2.0 * below
        if abs(edge) > abs(best) and values[place] < values[place + 1]:
            best, at = edge, place
    return best, at


@njit(cache=True)
def fit_thresholds(
    columns: Floats, signed: Floats, features: NDArray[np.int64], rows: NDArray[np.int64], thresholds: Floats
) -> None:
    """The threshold of the fewest errors on some rows for each feature, all rows alike whatever their weight."""
    for arm in range(len(features)):
        values = columns[features[arm]][rows[arm]]
        order = np.argsort(values)
        whole = 0
        for row in rows[arm]:
            whole += 1 if signed[row] > 0.0 else -1
        below, best = 0, -1
        for place in range(len(order) - 1):
            below += 1 if signed[rows[arm, order[place]]] > 0.0 else -1
            low, high = values[order[place]], values[order[place + 1]]
            if low < high and abs(whole - 2 * below) > best:
                best, thresholds[arm] = abs(whole - 2 * below), low
        if best < 0:
            thresholds[arm] = values[0]


@njit(cache=True, fastmath=True)
def edge_of(column: Floats, threshold: float, signed: Floats, whole: float) -> float:
    """Edge of the stump that says 1 above the threshold, on all rows; ``whole`` is the sum of all signed weights."""
    above, limit = 0.0, np.float32(threshold)
    for row in range(len(column)):
        if column[row] > limit:
            above += signed[row]
    return 2.0 * above - whole


@njit(cache=True, fastmath=True)
def reweigh(column: Floats, threshold: float, sign: int, vote: float, signed: Floats) -> None:
    """AdaBoost's step: signed weights, label times weight, after the stump has its vote; they go on adding up to 1."""
    edge, limit = sign * math.tanh(vote), np.float32(threshold)
    with_it, against_it = np.float32(1.0 / (1.0 + edge)), np.float32(1.0 / (1.0 - edge))
    for row in range(len(signed)):
        says = signed[row] if column[row] > limit else -signed[row]
        signed[row] *= with_it if says > 0.0 else against_it


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
    side by side, so that one addition need not wait for another. It finds what ``Exhaustive`` finds; the study
    measures its time only.
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
        reached = np.cumsum(np.abs(signed), dtype=np.float64)
        wanted = self.rng.random((self.draws, FITTED_ROWS)) * reached[-1]
        rows = np.searchsorted(reached, wanted, side="right").clip(max=len(signed) - 1)
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


def boost(
    labels: NDArray[np.int64], make: Callable[[], Exhaustive | RandomStumps], rounds: int, limit: float
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
        result.stumps.append(stump)
        result.votes.append(vote)
        result.seconds.append(time.perf_counter() - begin)
    return result
