"""Features that cost something: random filters on images, whose largest response anywhere in the image is the feature.

Images are scikit-learn's digits, twice as large, at a random place of a canvas of 24 by 24 pixels, with random contrast
and noise; the class is whether the digit is below five. Test images are made of digits that no training image shows.
"""

from __future__ import annotations

import math
import time

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.ndimage import zoom

Floats = NDArray[np.float32]
CANVAS, DIGIT, FILTER = 24, 16, 9
PLACES = CANVAS - FILTER + 1
SPAN = (PLACES - 1) * CANVAS + PLACES
#: Originals that training images are made of; the others are for the test.
KNOWN = 1_200
BLOCK = 2_000
#: Images of one matrix product: what it makes should stay in the cache.
TOGETHER = 8


def originals() -> tuple[Floats, NDArray[np.int64]]:
    """Digits between 0 and 1, twice as large, in an order of their own; the class of each."""
    from sklearn.datasets import load_digits

    found = load_digits()
    order = np.random.default_rng(0).permutation(len(found.target))
    images = zoom(found.images[order] / 16.0, (1, 2, 2), order=1)
    return images.astype(np.float32), (found.target[order] < 5).astype(np.int64)


def images(rows: int, seed: int, held_out: bool = False) -> tuple[Floats, NDArray[np.int64]]:
    """Images of random digits at random places, and their classes. Long sets begin with short ones."""
    digits, classes = originals()
    first, last = (KNOWN, len(digits)) if held_out else (0, KNOWN)
    canvas = np.empty((rows, CANVAS, CANVAS), dtype=np.float32)
    labels = np.empty(rows, dtype=np.int64)
    for block, begin in enumerate(range(0, rows, BLOCK)):
        rng = np.random.default_rng((seed, int(held_out), block))
        which = rng.integers(first, last, size=BLOCK)
        shifts = rng.integers(0, CANVAS - DIGIT + 1, size=(BLOCK, 2))
        contrast = rng.uniform(0.6, 1.4, size=BLOCK).astype(np.float32)
        some = 0.3 * rng.standard_normal((BLOCK, CANVAS, CANVAS), dtype=np.float32)
        for row, (one, (down, right)) in enumerate(zip(which, shifts, strict=True)):
            some[row, down : down + DIGIT, right : right + DIGIT] += contrast[row] * digits[one]
        end = min(begin + BLOCK, rows)
        canvas[begin:end], labels[begin:end] = some[: end - begin], classes[which[: end - begin]]
    return canvas, labels


def random_filters(count: int, rng: np.random.Generator) -> Floats:
    """Filters of normal weights that add up to 0, smoothed a little, of unit length."""
    raw = rng.standard_normal((count, FILTER + 2, FILTER + 2), dtype=np.float32)
    smooth = sum(raw[:, down : down + FILTER, right : right + FILTER] for down in range(3) for right in range(3))
    smooth = smooth - smooth.mean(axis=(1, 2), keepdims=True)
    return np.ascontiguousarray(smooth / np.sqrt((smooth**2).sum(axis=(1, 2), keepdims=True)), dtype=np.float32)


@njit(cache=True, fastmath=True)
def response(pixels: Floats, weights: Floats, total: Floats) -> float:
    """The largest response of one filter anywhere in one image, its lines one after another; ``total`` is room.

    All places are summed up at once along the pixels, those that run over the right border too; these do not count.
    """
    total[:] = 0.0
    for down in range(FILTER):
        w = weights[down]
        a, b, c, d, e, f, g, h, i = w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8]
        line = pixels[down * CANVAS : down * CANVAS + SPAN + FILTER - 1]
        for place in range(SPAN):
            left = a * line[place] + b * line[place + 1] + c * line[place + 2]
            middle = d * line[place + 3] + e * line[place + 4] + f * line[place + 5]
            total[place] += left + middle + g * line[place + 6] + h * line[place + 7] + i * line[place + 8]
    largest = np.float32(-np.inf)
    for down in range(PLACES):
        for right in range(PLACES):
            largest = max(largest, total[down * CANVAS + right])
    return largest


@njit(cache=True, fastmath=True)
def responses(canvas: Floats, rows: NDArray[np.int64], weights: Floats, found: Floats) -> None:
    """The same for some rows."""
    total = np.empty(SPAN, dtype=np.float32)
    for place in range(len(rows)):
        found[place] = response(canvas[rows[place]].ravel(), weights, total)


def all_responses(canvas: Floats, filters: Floats, limit: float = math.inf) -> Floats | None:
    """Every filter on every image, by matrix products, as one who needs them all would do.

    None if that takes more than ``limit`` seconds, or is sure to after the first hundredth.
    """
    begin = time.perf_counter()
    matrix = np.ascontiguousarray(filters.reshape(len(filters), -1).T)
    found = np.empty((len(canvas), len(filters)), dtype=np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(canvas, (FILTER, FILTER), axis=(1, 2))
    for first in range(0, len(canvas), TOGETHER):
        some = windows[first : first + TOGETHER]
        product = some.reshape(-1, FILTER * FILTER) @ matrix
        found[first : first + TOGETHER] = product.reshape(len(some), -1, len(filters)).max(axis=1)
        spent, done = time.perf_counter() - begin, min(first + TOGETHER, len(canvas)) / len(canvas)
        if spent > limit or (done > 0.01 and spent / done > 1.5 * limit):
            return None
    return found
