"""Passes over weighted rows: draws by weight, draws reused under new weights, errors of stumps, AdaBoost's weights.

Plain loops in the compiled subset; most are written so that the compiler can vectorise them.
"""

from __future__ import annotations

from typing import Any


def draw_rows(weights: Any, whole: float, rng: Any, spacings: Any, rows: Any) -> None:
    """Fill ``rows`` with independent draws of row numbers, in proportion to the weights, whose sum is ``whole``.

    Uniform numbers are drawn in sorted order: sums of exponential spacings, divided by their total, are the order
    statistics of a uniform sample. So one pass over the weights finds all rows, and a random permutation makes the
    draws independent again. A row of weight 0 is never drawn. ``spacings`` is scratch as long as ``rows``.

    Examples
    --------
    >>> import numpy as np
    >>> rows = [0] * 4
    >>> draw_rows([0.0, 2.0, 0.0], 2.0, np.random.default_rng(0), [0.0] * 4, rows)
    >>> rows
    [1, 1, 1, 1]
    """
    count = len(rows)
    total = 0.0
    for place in range(count):
        total += rng.standard_exponential()
        spacings[place] = total
    scale = whole / (total + rng.standard_exponential())
    reached = 0.0
    place = 0
    last = 0
    for row in range(len(weights)):
        if weights[row] > 0.0:
            reached += weights[row]
            last = row
            while place < count and spacings[place] * scale < reached:
                rows[place] = row
                place += 1
    while place < count:  # beyond the end by rounding
        rows[place] = last
        place += 1
    for place in range(count - 1, 0, -1):
        other = int(rng.random() * (place + 1))
        rows[place], rows[other] = rows[other], rows[place]


def take_rows(count: int, weights: Any, rng: Any, spacings: Any, rows: Any, cursor: Any) -> int:
    """Take the next ``count`` draws of ``rows``: return where they begin, and move ``cursor[0]`` past them.

    If fewer are left, all of ``rows`` is drawn afresh. The weights add up to 1; ``count`` is at most the length of
    ``rows``.

    Examples
    --------
    >>> import numpy as np
    >>> rows, cursor = [0] * 4, [4]
    >>> [take_rows(2, [0.0, 1.0], np.random.default_rng(0), [0.0] * 4, rows, cursor) for _ in range(3)], rows, cursor
    ([0, 2, 0], [1, 1, 1, 1], [2])
    """
    first: int = cursor[0]
    if first + count > len(rows):
        draw_rows(weights, 1.0, rng, spacings, rows)
        first = 0
    cursor[0] = first + count
    return first


def thin_rows(rows: Any, first: int, wrong: Any, keep: float, rng: Any) -> int:
    """Turn draws by old weights, ``rows`` from ``first`` on, into draws by new weights; return where they begin.

    The new weights are the old ones, multiplied by ``keep`` (at most 1) where ``wrong`` is 0. Rejection sampling: a
    draw is kept with probability proportional to the change of its weight. Kept draws move to the end, in order.

    Examples
    --------
    >>> import numpy as np
    >>> rows = [0, 1, 2, 3, 0]
    >>> thin_rows(rows, 1, [0.5, 0.0, 0.5, 0.0], 0.0, np.random.default_rng(0)), rows[3:]
    (3, [2, 0])
    """
    begin = len(rows)
    for place in range(len(rows) - 1, first - 1, -1):
        row = rows[place]
        chance = 1.0 if wrong[row] > 0.0 else keep
        if rng.random() < chance:
            begin -= 1
            rows[begin] = row
    return begin


def mark_errors(column: Any, labels: Any, weights: Any, cut: float, left: int, right: int, wrong: Any) -> None:
    """Set ``wrong`` to the weight of rows where a stump, ``left`` up to ``cut`` and then ``right``, errs; else to 0.

    Examples
    --------
    >>> wrong = [0.0] * 4
    >>> mark_errors([1.0, 2.0, 3.0, 4.0], [0, 1, 1, 0], [0.25, 0.125, 0.25, 0.375], 1.5, 0, 1, wrong)
    >>> wrong
    [0.0, 0.0, 0.0, 0.375]
    """
    for row in range(len(labels)):
        guess = left if column[row] <= cut else right
        wrong[row] = 0.0 if guess == labels[row] else weights[row]


def reweigh(weights: Any, wrong: Any, if_right: float, if_wrong: float) -> None:
    """Multiply the weights by ``if_right`` where ``wrong`` is 0, and by ``if_wrong`` elsewhere.

    Examples
    --------
    >>> weights = [0.25, 0.25, 0.5]
    >>> reweigh(weights, [0.0, 0.0, 0.5], 0.5, 2.0)
    >>> weights
    [0.125, 0.125, 1.0]
    """
    for row in range(len(weights)):
        weights[row] *= if_wrong if wrong[row] > 0.0 else if_right


def tally(table: Any, features: Any, cuts: Any, left: Any, right: Any, stump_weights: Any, votes: Any) -> None:
    """Add every stump's weight to ``votes[row, class]`` of the class that it predicts from ``table[row, feature]``.

    Examples
    --------
    >>> import numpy as np
    >>> votes = np.zeros((2, 2))
    >>> tally(np.array([[1.0], [2.0]]), [0, 0], [1.5, 0.5], [0, 0], [1, 1], [0.25, 1.0], votes)
    >>> votes.tolist()
    [[0.25, 1.0], [0.0, 1.25]]
    """
    for row in range(len(votes)):
        for stump in range(len(features)):
            guess = left[stump] if table[row, features[stump]] <= cuts[stump] else right[stump]
            votes[row, guess] += stump_weights[stump]


def sort_values(values: Any, classes: Any) -> None:
    """Sort values together with their classes, by insertion: there are few.

    Examples
    --------
    >>> values, classes = [3.0, 1.0, 2.0], [0, 1, 2]
    >>> sort_values(values, classes)
    >>> values, classes
    ([1.0, 2.0, 3.0], [1, 2, 0])
    """
    for place in range(1, len(values)):
        value = values[place]
        label = classes[place]
        position = place
        while position > 0 and values[position - 1] > value:
            values[position] = values[position - 1]
            classes[position] = classes[position - 1]
            position -= 1
        values[position] = value
        classes[position] = label


def best_stump(values: Any, classes: Any, counts: Any) -> tuple[float, int, int]:
    """The cut and the two classes with the fewest errors on sorted values; ties go to the lowest cut.

    ``counts`` is scratch for two numbers per class. If all values are equal, or no cut improves on a constant, both
    classes are the most frequent class.

    Examples
    --------
    >>> best_stump([1.0, 2.0, 3.0, 4.0], [1, 1, 0, 0], [0] * 4), best_stump([1.0, 1.0, 1.0], [1, 1, 0], [0] * 4)
    ((2.5, 1, 0), (1.0, 1, 1))
    >>> best_stump([-5e-324, 0.0], [0, 1], [0] * 4)
    (-5e-324, 0, 1)
    """
    size = len(values)
    kinds = len(counts) // 2
    for kind in range(2 * kinds):
        counts[kind] = 0
    for place in range(size):
        counts[kinds + classes[place]] += 1
    common = 0
    for kind in range(1, kinds):
        if counts[kinds + kind] > counts[kinds + common]:
            common = kind
    best = counts[kinds + common]
    cut = values[size - 1]
    left = common
    right = common
    for place in range(size - 1):
        counts[classes[place]] += 1
        counts[kinds + classes[place]] -= 1
        if values[place] == values[place + 1]:
            continue
        lower = 0
        upper = 0
        for kind in range(1, kinds):
            if counts[kind] > counts[lower]:
                lower = kind
            if counts[kinds + kind] > counts[kinds + upper]:
                upper = kind
        if counts[lower] + counts[kinds + upper] > best:
            best = counts[lower] + counts[kinds + upper]
            cut = 0.5 * values[place] + 0.5 * values[place + 1]
            if cut >= values[place + 1]:  # neighbours among the doubles
                cut = values[place]
            left = lower
            right = upper
    return cut, left, right
