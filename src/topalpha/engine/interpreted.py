"""The loop of a run, interpreted: for worlds that are not parameter tuples, and for comparison."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from topalpha.engine.compiled_run import OneByOne, Run, advance
from topalpha.rules.protocol import Algorithm


class InterpretedRun(Run):
    """As :class:`topalpha.engine.Run`, with the same loop on Python lists; the world may be any object.

    Examples
    --------
    >>> from topalpha import design
    >>> class World:
    ...     def sample(self, mean, rng):
    ...         return mean
    >>> run, rng = InterpretedRun(design("kl-lucb", 0.3, 0.3, 0.2), World()), np.random.default_rng(0)
    >>> run.add_arms(np.linspace(0.1, 0.8, 8))
    >>> run.advance(rng, rng), run.recommend()
    (0, 7)
    """

    def __init__(self, algorithm: Algorithm, world: Any = None, one_by_one: bool = False) -> None:
        self.algorithm = algorithm
        self.world = algorithm.family if world is None else world
        traits = algorithm.traits
        self.draws_sums = traits.blocks and not one_by_one and hasattr(self.world, "sample_sum")
        if traits.blocks and not self.draws_sums:
            self.world = OneByOne(self.world)
        self._loop = advance
        width = max(traits.width, 1)
        # Lists in place of arrays: rules only index them, and Python's numbers are quicker than NumPy's.
        lists: Any = self
        lists.batch = [0] * (2 * width if traits.blocks else width)
        lists.control, lists.state, lists.pending = [0] * 4, [0.0] * traits.numbers, [0]
        lists.means, lists.pulls, lists.stats = [], [], tuple([] for _ in range(traits.columns))
        self.memory = algorithm.scratch(1)

    def add_arms(self, means: NDArray[np.float64]) -> None:
        """Append arms with these means; memory starts afresh."""
        lists: Any = self
        lists.means.extend(means.tolist())
        lists.pulls.extend([0] * len(means))
        for column in lists.stats:
            column.extend([0.0] * len(means))
        self.forget()

    def forget(self) -> None:
        """Start again from fresh memory: this may change speed, never a decision."""
        self.memory = self.algorithm.scratch(len(self.means))
