"""Compiled passes over rows for the exact rivals of the boosting study: codes, their weights, scores, AdaBoost's step.

``signed`` is the label, 1 or -1, times the weight of each row, as float32; sums are float64.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float32]
#: Twice this many codes, bin and label together, are one byte.
BINS = 128
#: Features that the walk through sorted rows takes side by side.
ABREAST = 4
#: Rows that are handled together so that what is read again is still in the cache.
TILE = 256


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
def count_codes(by_row: NDArray[np.uint8], rows: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
    """How many of some rows have each code of each feature."""
    for row in rows:
        codes = by_row[row]
        for feature in range(len(codes)):
            counts[feature, codes[feature]] += 1


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
