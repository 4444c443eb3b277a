"""Stumps as arms of a compiled world."""

from __future__ import annotations

from typing import Any, NamedTuple

from topalpha.rules.weighted_rows import best_stump, sort_values, take_rows


class StumpWorld(NamedTuple):
    """Pulls of stumps on weighted rows: the reward is 1 if the stump classifies a new row correctly.

    Rows are drawn by weight, many at once, into ``rows``; ``cursor[0]`` is the next one. Every pull and every fit of a
    new arm uses up the rows that it looks at. To the engine an arm's mean is its number j: the stump says class
    ``left[j]`` if feature ``features[j]`` is at most ``cuts[j]``, else class ``right[j]``. It is drawn at its first
    pull: a random feature, and the best stump on it for a few new rows.

    Parameters
    ----------
    columns, labels, weights
        The data: ``columns[f, i]`` is feature f of row i. Weights add up to 1.
    rows, spacings, cursor
        Drawn rows, working memory for drawing, and the position of the next row.
    features, cuts, left, right
        The arms; a feature of -1 marks an arm that is not drawn yet.
    values, classes, counts
        Working memory to fit a stump: one entry per row, and two per class.
    """

    columns: Any
    labels: Any
    weights: Any
    rows: Any
    spacings: Any
    cursor: Any
    features: Any
    cuts: Any
    left: Any
    right: Any
    values: Any
    classes: Any
    counts: Any

    def draw_stump(self, arm: int, rng: Any) -> None:
        """Draw the arm: a feature, and the best stump for a few rows."""
        feature = int(rng.random() * len(self.columns))
        first = take_rows(len(self.values), self.weights, rng, self.spacings, self.rows, self.cursor)
        for place in range(len(self.values)):  # read everything first: no read waits for another
            row = self.rows[first + place]
            self.values[place] = self.columns[feature, row]
            self.classes[place] = self.labels[row]
        sort_values(self.values, self.classes)
        self.cuts[arm], self.left[arm], self.right[arm] = best_stump(self.values, self.classes, self.counts)
        self.features[arm] = feature

    def sample_sum(self, mean: float, count: int, rng: Any) -> float:
        """The sum of ``count`` pulls; ``count`` must not exceed the number of rows drawn at once."""
        arm = int(mean)
        if self.features[arm] < 0:
            self.draw_stump(arm, rng)
        feature, cut, left, right = self.features[arm], self.cuts[arm], self.left[arm], self.right[arm]
        first = take_rows(count, self.weights, rng, self.spacings, self.rows, self.cursor)
        total = 0
        for place in range(first, first + count):
            row = self.rows[place]
            guess = left if self.columns[feature, row] <= cut else right
            total += 1 if guess == self.labels[row] else 0
        return float(total)

    def sample(self, mean: float, rng: Any) -> float:
        """One pull."""
        return self.sample_sum(mean, 1, rng)
