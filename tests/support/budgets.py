"""Designs with a budget, and searches by them."""

from __future__ import annotations

import random

from scipy.stats import binomtest

from topalpha import Search
from topalpha.algorithms import design
from topalpha.reservoirs import Beta, Conditioned

RESERVOIR = Conditioned(Beta(1.0, 1.0), 0.95)


def made(name, budget, epsilon=0.2, **options):
    return design(name, 0.1, epsilon, 0.1, budget=budget, **options)


def reward_of(arm, number):
    """What pull ``number`` of the arm gives, whoever asks and whenever."""
    mean = random.Random(f"arm {arm}").random()
    return float(random.Random(f"pull {number} of arm {arm}").random() < mean)


def told(algorithm, rewards=reward_of):
    """The search after its end, one pull at a time; the order of its arms."""
    search, order = Search(algorithm), []
    while (pull := search.ask()) is not None:
        order.append(pull.arm)
        search.tell(pull, rewards(pull.arm, pull.number))
    return search, order


def rejects(errors, runs, level):
    """Whether so many errors refute that they happen with probability ``level`` at most."""
    return binomtest(errors, runs, level, alternative="greater").pvalue < 1e-3
