"""Stumps as arms: what answers a compiled pull, and where the arms come from."""

from __future__ import annotations

from typing import Any, NamedTuple


class StumpWorld(NamedTuple):
    """Pulls of stumps on weighted rows: the reward is 1 where the stump classifies the next row rightly.

    ``rows`` are draws by weight, made beforehand, and ``cursor[0]`` is the next one: every pull of any arm takes a
    fresh one. Arm j classifies a row as ``left[j]`` where feature ``features[j]`` is at most ``cuts[j]``, as
    ``right[j]`` elsewhere; its "mean", to the engine, is its number j.
    """

    columns: Any
    labels: Any
    rows: Any
    cursor: Any
    features: Any
    cuts: Any
    left: Any
    right: Any

    def sample(self, mean: float, rng: Any) -> float:
        """One pull."""
        arm = int(mean)
        row = self.rows[self.cursor[0]]
        self.cursor[0] += 1
        guess = self.left[arm] if self.columns[self.features[arm], row] <= self.cuts[arm] else self.right[arm]
        return 1.0 if guess == self.labels[row] else 0.0

    def sample_sum(self, mean: float, count: int, rng: Any) -> float:
        """The sum of ``count`` pulls; all reads from memory are independent of each other."""
        arm = int(mean)
        feature, cut, left, right = self.features[arm], self.cuts[arm], self.left[arm], self.right[arm]
        first = self.cursor[0]
        total = 0
        for place in range(first, first + count):
            row = self.rows[place]
            guess = left if self.columns[feature, row] <= cut else right
            total += 1 if guess == self.labels[row] else 0
        self.cursor[0] = first + count
        return float(total)


def draw_stumps(world: Any, first: int, last: int, size: int, values: Any, classes: Any, counts: Any, rng: Any) -> None:
    """Draw arms ``first`` to ``last`` - 1: a feature at random, and the best stump on ``size`` fresh rows.

    ``values`` and ``classes`` are room for ``size`` rows, ``counts`` for twice the number of classes.
    """
    for arm in range(first, last):
        feature = int(rng.random() * world.columns.shape[0])
        start = world.cursor[0]
        world.cursor[0] = start + size
        for place in range(size):  # all reads from memory first: none waits for another
            row = world.rows[start + place]
            values[place] = world.columns[feature, row]
            classes[place] = world.labels[row]
        sort_values(values, classes, size)
        world.features[arm] = feature
        best_stump(world, arm, size, values, classes, counts)


def sort_values(values: Any, classes: Any, size: int) -> None:
    """Sort the first ``size`` values, and their classes with them: few enough to insert one after another."""
    for place in range(1, size):
        value = values[place]
        label = classes[place]
        position = place
        while position > 0 and values[position - 1] > value:
            values[position] = values[position - 1]
            classes[position] = classes[position - 1]
            position -= 1
        values[position] = value
        classes[position] = label


def best_stump(world: Any, arm: int, size: int, values: Any, classes: Any, counts: Any) -> None:
    """Write the stump with the fewest errors on these sorted values into the tables; of equals the lowest cut."""
    kinds = len(counts) // 2
    for kind in range(2 * kinds):
        counts[kind] = 0
    for place in range(size):
        counts[kinds + classes[place]] += 1
    best = -1
    for place in range(size):
        counts[classes[place]] += 1
        counts[kinds + classes[place]] -= 1
        if place + 1 < size and values[place] == values[place + 1]:
            continue
        lower = 0
        upper = 0
        for kind in range(1, kinds):
            if counts[kind] > counts[lower]:
                lower = kind
            if counts[kinds + kind] > counts[kinds + upper]:
                upper = kind
        if place + 1 == size:
            upper = lower  # nothing is to the right: one class for all
        right = counts[lower] + (counts[kinds + upper] if place + 1 < size else 0)
        if right > best:
            best = right
            world.cuts[arm] = 0.5 * (values[place] + values[place + 1]) if place + 1 < size else values[place]
            world.left[arm] = lower
            world.right[arm] = upper
