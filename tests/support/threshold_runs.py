"""Designs by a threshold, told what they must know, and runs of them."""

from __future__ import annotations

from topalpha.algorithms import design, prior_knowledge
from topalpha.engine import OUT_OF_ARMS, Run
from topalpha.randomness import run_seed, streams


def needed(name):
    return {"threshold": 0.5} if name == "al-q-ik" else {}


def on(name, reservoir, alpha, epsilon, delta, **options):
    return design(name, alpha, epsilon, delta, **options, **prior_knowledge(name, reservoir, alpha, epsilon))


def advanced(algorithm, reservoir, seed=0, budget=2**62, driver=Run):
    """A run up to a budget of pulls, with the sums of blocks drawn at once."""
    run, source = driver(algorithm), streams(run_seed(seed, 0))
    run.add_arms(reservoir.sample(algorithm.arms, source.arms))
    while run.advance(source.rules, source.rewards, budget) == OUT_OF_ARMS:
        run.add_arms(reservoir.sample(run.history.arms, source.arms))
    return run
