"""Tables of scores that are hard to choose from."""

from __future__ import annotations

import numpy as np

from topalpha import ScoreTable


def named(matrix):
    matrix = np.asarray(matrix, dtype=bool)
    return ScoreTable([f"p{row}" for row in range(len(matrix))], [f"q{one}" for one in range(matrix.shape[1])], matrix)


def needle(candidates=20, examples=100, best=60, epsilon=0.1):
    """One candidate passes ``best`` examples, all others just too few to be within epsilon of it."""
    rng, rest = np.random.default_rng(0), best - round(epsilon * examples) - 1
    counts = [best] + [rest] * (candidates - 1)
    return named([rng.permutation([1] * count + [0] * (examples - count)) for count in counts])


def twins(candidates=20, examples=40, best=8, epsilon=0.1, share=0.2):
    """The top fifth all pass the same few examples, the others just too few, all of them different ones."""
    top, rest = round(share * candidates), best - round(epsilon * examples) - 1
    matrix = np.zeros((candidates, examples), dtype=bool)
    matrix[:top, :best] = True
    matrix[top:, examples - rest :] = True
    return named(matrix)
