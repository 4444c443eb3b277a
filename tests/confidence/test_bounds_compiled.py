"""Bounds and evidence of every reward model: compiled and interpreted alike, and in whole runs."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.feeding import blank, too_many
from tests.support.marks import quick
from topalpha import Search, design
from topalpha.confidence import bounds_for, evidence_for
from topalpha.engine.compile import compiled, parameter_classes
from topalpha.engine.compiled_run import _arrays
from topalpha.families import (
    LowVariance,
    Mirrored,
    Normal,
    PassFail,
    Poisson,
)
from topalpha.rules.columns import (
    AFTER,
    EXTRA,
    UPPER,
)
from topalpha.rules.protocol import SUM, History

NEW = [PassFail(40), Normal(), LowVariance(), Mirrored(Poisson(3.0))]


def every_bound(model, history, lookup, rewards, targets, out):
    for place in range(len(rewards)):
        history.pulls[0] += 1
        history.stats[SUM][0] += rewards[place]
        model.fold(history, lookup, 0, rewards[place])
        out[3 * place] = history.stats[UPPER][0]
        out[3 * place + 1] = 1.0 if model.reaches(history, lookup, 0, targets[place]) else 0.0
        out[3 * place + 2] = model.lower_now(history, lookup, 0)


def every_evidence(model, history, lookup, rewards, targets, out):
    for place in range(len(rewards)):
        history.pulls[0] += 1
        history.stats[SUM][0] += rewards[place]
        model.fold(history, lookup, 0, rewards[place])
        if place == len(rewards) // 3:
            model.enroll(history, 0)
        out[3 * place] = history.stats[UPPER][0] + model.noise(history, 0)
        out[3 * place + 1] = model.evidence_below(history, lookup, 0, targets[place])
        out[3 * place + 2] = model.evidence_above(history, lookup, 0, targets[place])


def rewards_of(family, rng):
    if isinstance(family, PassFail):
        return rng.permutation([1.0] * 13 + [0.0] * 27)
    return np.array([family.sample(-1.3 if isinstance(family, Mirrored) else 0.6, rng) for _ in range(60)])


# Normal rewards have bounds and no joint evidence.
MODELS = [(family, False) for family in NEW] + [(family, True) for family in NEW if not isinstance(family, Normal)]


@pytest.mark.slow
@pytest.mark.parametrize(("family", "joint"), MODELS, ids=str)
def test_compiled_and_interpreted_bounds_agree(family, joint):
    model = evidence_for(family, 0.1, 0.5) if joint else bounds_for(family, "tilt", 0.1, 0.8, 4.0)
    rng = np.random.default_rng(12)
    rewards = rewards_of(family, rng)
    targets = rewards.mean() + rng.uniform(-0.3, 0.2, len(rewards))
    columns = (AFTER if joint else EXTRA) + model.extra
    interpreted, out = np.zeros(3 * len(rewards)), np.zeros(3 * len(rewards))
    body = every_evidence if joint else every_bound
    body(model, blank(columns), model.tables(), rewards.tolist(), targets.tolist(), interpreted)
    arrays = tuple(np.zeros(1) for _ in range(columns))
    history = History(0, 1, np.zeros(1, dtype=np.int64), arrays, np.zeros(1), np.zeros(1, dtype=np.int64), 0)
    compiled(body, tuple(parameter_classes(model)))(model, history, _arrays(model.tables()), rewards, targets, out)
    assert np.array_equal(interpreted, out)


def tape_of(family, rng):
    """A random arm: where its rewards come from, and its mean."""
    if isinstance(family, PassFail):
        passes = int(rng.integers(0, family.items + 1))
        return iter(rng.permutation([1.0] * passes + [0.0] * (family.items - passes)).tolist()), passes / family.items
    mean = float(rng.uniform(-3.0, -0.5) if isinstance(family, Mirrored) else rng.uniform(0.1, 0.9))
    return iter(lambda: family.sample(mean, rng), None), mean


TARGETS = [(PassFail(6), 0.01), (PassFail(100), 0.1), (LowVariance(), 0.05), (Mirrored(Poisson(3.0)), 0.4)]
RUNS = [(name, *target) for name in ("cc-lucb", "joint-lucb") for target in TARGETS]
RUNS += [("cc-lucb", Normal(), 0.5), ("lucb++", Normal(), 0.5), *(("lucb++", *target) for target in TARGETS[:3])]


@pytest.mark.parametrize(("name", "family", "epsilon"), quick(RUNS, RUNS[::2]), ids=str)
def test_whole_runs_stop_with_a_good_arm(name, family, epsilon):
    errors = 0
    for seed in range(8):
        algorithm, rng, tapes = design(name, 0.2, epsilon, 0.1, family), np.random.default_rng(seed), {}
        search = Search(algorithm, seed)
        while (pull := search.ask()) is not None:
            if pull.arm not in tapes:
                tapes[pull.arm] = tape_of(family, rng)
            search.tell(pull, next(tapes[pull.arm][0]))
        assert search.stopped
        assert search.result.pulls <= algorithm.arms * min(family.capacity, 2000)
        goal = np.quantile([tape_of(family, rng)[1] for _ in range(2000)], 0.8)
        errors += tapes[search.best][1] < goal - epsilon
    assert not too_many(errors, 8, 0.1)
