"""How fast every algorithm of the field is simulated: microseconds a pull on one core, at about 150 arms."""

from __future__ import annotations

import time
from typing import Any

from benchmarks.speed import RESERVOIR, TARGET, spread
from topalpha.algorithms import ALGORITHMS, design, prior_knowledge
from topalpha.randomness import run_seed, streams
from topalpha.reservoirs import Reservoir, TwoPoint
from topalpha.rules.protocol import Algorithm
from topalpha.rules.registration import Entry
from topalpha.simulation import finish, start

ARMS = 150
#: Those that draw from posteriors, test ratios or track proportions may take 30 microseconds a pull, the others 1.
HEAVY = ("glr", "eb-tc", "ttts", "track-and-stop", "d-ttts")
#: A reservoir for those that know or assume two means.
TWO = TwoPoint(0.5, 0.65, 0.05)
#: Pulls and seconds after which a measurement is long enough.
ENOUGH_PULLS, ENOUGH_SECONDS = 300_000, 2.0


def sized(one: Entry) -> tuple[Algorithm, Reservoir]:
    """The algorithm at the alpha that makes it draw about 150 arms, and a reservoir for it."""
    law: Reservoir = RESERVOIR
    _, epsilon, delta = TARGET
    try:
        prior_knowledge(one.name, law, 0.05, epsilon)
    except ValueError:
        law = TWO

    def made(alpha: float) -> Algorithm:
        known = prior_knowledge(one.name, law, alpha, epsilon)
        budget = {"budget": 20_000} if one.budgeted else {}
        return design(one.name, alpha, epsilon, delta, **known, **budget)

    if law is TWO or one.budgeted:
        return made(0.05), law
    low, high = 1e-4, 0.5
    while high - low > 1e-2 * high:
        middle = (low * high) ** 0.5
        if made(middle).arms > ARMS:
            low = middle
        else:
            high = middle
    return made(high), law


def microseconds(algorithm: Algorithm, law: Reservoir, seed: int) -> float:
    """Wall time a pull, setting up each run included."""
    pulls, run = 0, 0
    begin = time.perf_counter()
    while pulls < ENOUGH_PULLS and time.perf_counter() - begin < ENOUGH_SECONDS:
        one = start(algorithm)
        finish(one, law, streams(run_seed(seed, run)), limit=ENOUGH_PULLS)
        pulls += one.history.t
        run += 1
    return 1e6 * (time.perf_counter() - begin) / pulls


def measure(repeat: int = 3) -> dict[str, Any]:
    """Every algorithm, in turns, so that a busy moment hits all."""
    made = {one.name: sized(one) for one in ALGORITHMS}
    samples: dict[str, list[float]] = {name: [] for name in made}
    for algorithm, law in made.values():
        finish(start(algorithm), law, streams(0), limit=1000)  # compile, or load from the cache
    for turn in range(repeat):
        for name, (algorithm, law) in made.items():
            samples[name].append(microseconds(algorithm, law, turn))
    return {
        "arms": {name: algorithm.arms for name, (algorithm, _) in made.items()},
        "microseconds_a_pull": {name: spread(values) for name, values in samples.items()},
    }
