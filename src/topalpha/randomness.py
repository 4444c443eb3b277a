"""Random streams: every run has three independent ones, spawned from one seed."""

from __future__ import annotations

from typing import NamedTuple

from numpy.random import Generator, SeedSequence, default_rng

from topalpha.validate import seed_number

Seed = int | SeedSequence

#: The streams of a run by their places in :class:`Streams`.
ARMS, REWARDS, RULES = range(3)


class Streams(NamedTuple):
    """The generators of one run: for drawing arms, for rewards, and for the algorithm's rules."""

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
    return Streams(*(stream(seed, which) for which in (ARMS, REWARDS, RULES)))


def stream(seed: Seed, which: int) -> Generator:
    """One stream of the run with this seed: that of the arms, of the rewards or of the rules.

    Examples
    --------
    >>> stream(7, RULES).random() == streams(7).rules.random()
    True
    """
    root = seed if isinstance(seed, SeedSequence) else SeedSequence(seed_number("seed", seed))
    # Children are named by their key; root.spawn would depend on the number of earlier calls.
    return default_rng(SeedSequence(root.entropy, spawn_key=(*root.spawn_key, which)))


def run_seed(seed: int, run: int) -> SeedSequence:
    """The seed of run number ``run`` of a study: the same in any order, on any worker.

    Examples
    --------
    >>> run_seed(0, 3).spawn_key
    (3,)
    """
    return SeedSequence(seed, spawn_key=(run,))
