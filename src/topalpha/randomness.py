"""Where randomness comes from: every run has three independent streams, spawned from one seed."""

from __future__ import annotations

from typing import NamedTuple

from numpy.random import Generator, SeedSequence, default_rng

from topalpha.validate import seed_number

Seed = int | SeedSequence


class Streams(NamedTuple):
    """The generators of one run: for drawing arms, for rewards, for the algorithm's own rules."""

    arms: Generator
    rewards: Generator
    rules: Generator


def streams(seed: Seed) -> Streams:
    """The streams of the run with this seed.

    Examples
    --------
    >>> streams(7).rewards.random() == streams(7).rewards.random()
    True
    """
    root = seed if isinstance(seed, SeedSequence) else SeedSequence(seed_number("seed", seed))
    # Children are named by their key, not by root.spawn, which would count how often it was called.
    return Streams(*(default_rng(SeedSequence(root.entropy, spawn_key=(*root.spawn_key, child))) for child in range(3)))


def run_seed(seed: int, run: int) -> SeedSequence:
    """The seed of run number ``run`` of a study: the same whoever runs it, and in whatever order.

    Examples
    --------
    >>> run_seed(0, 3).spawn_key
    (3,)
    """
    return SeedSequence(seed, spawn_key=(run,))
