"""Reward models beyond one-parameter families: bounds, evidence, coverage, and what a person says about rewards."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from feeding import blank, feed, too_many
from marks import quick
from topalpha import Search, design
from topalpha.confidence import bounds_for, evidence_for
from topalpha.confidence.tilt_bounds import tilt_bound, tilt_grid
from topalpha.engine.compile import compiled, parameter_classes
from topalpha.engine.compiled_run import _arrays
from topalpha.families import (
    Bernoulli,
    Exponential,
    Gamma,
    Gaussian,
    LowVariance,
    Mirrored,
    Normal,
    PassFail,
    Poisson,
    checked,
    checked_model,
    describe,
    parse_family,
)
from topalpha.families.protocols import EvidenceFamily, RewardFamily, RewardModel
from topalpha.families.units import reward_model
from topalpha.rules.columns import (
    AFTER,
    EXTRA,
    UPPER,
    ConfidenceBounds,
    JointEvidence,
)
from topalpha.rules.protocol import SUM, History
from topalpha.testing import check_family

NEW = [PassFail(40), Normal(), LowVariance(), Mirrored(Poisson(3.0))]
INNER = [Poisson(), Poisson(4.0), Exponential(), Gamma(2.5, 6.0)]


# Families with the sign reversed.


@pytest.mark.parametrize("inner", INNER, ids=str)
def test_mirrored_families_fit_together(inner):
    check_family(Mirrored(inner), (-0.5, -2.0, -3.5))


@pytest.mark.parametrize("inner", INNER, ids=str)
def test_mirrored_is_the_reflection(inner):
    family = Mirrored(inner)
    zero = str(family.highest), str(family.lowest)
    assert zero == ("0.0", str(-inner.highest))
    spots = st.floats(0.01, 3.9)

    @settings(max_examples=60, deadline=None)
    @given(spots, spots, st.floats(0.001, 5.0), st.integers(1, 300), st.floats(-5.0, 5.0).filter(bool))
    def holds(one, other, level, pulls, tilt):
        total = other * pulls
        assert family.upper(-one, level) == -inner.lower(one, level)
        assert family.lower(-one, level) == -inner.upper(one, level)
        assert family.divergence(-one, -other) == inner.divergence(one, other)
        assert family.chernoff_point(-one, -other) == -inner.chernoff_point(one, other)
        assert family.log_ratio(-one, -other, -total, pulls) == inner.log_ratio(one, other, total, pulls)
        assert family.redundancy(-total, pulls) == inner.redundancy(total, pulls)
        assert family.below(-one, level) == -inner.above(one, level)
        assert family.above(-one, level) == -inner.below(one, level)
        growth, opposite = math.expm1(tilt), math.expm1(-tilt)
        assert family.tilted(-one, -total, pulls, tilt, growth) == inner.tilted(one, total, pulls, -tilt, opposite)

    holds()
    for start, side in ((family.highest, -1), (family.lowest, 1)):
        ours = tilt_bound(family, -70.0, 60, 2.0, *tilt_grid(family, 0.1, side), start)
        theirs = tilt_bound(inner, 70.0, 60, 2.0, *tilt_grid(inner, 0.1, -side), 0.0 - start)
        assert ours == pytest.approx(-theirs, abs=1e-9)
    slope = (family.below(-1.0, 0.5) - family.below(-2.0, 0.5)) / 1.0
    assert family.below_slope(0.5) == pytest.approx(slope)


@pytest.mark.parametrize("inner", INNER, ids=str)
def test_mirrored_evidence_is_monotone(inner):
    evidence, rng = evidence_for(Mirrored(inner), 0.2, 0.5), np.random.default_rng(4)
    history, lookup = blank(AFTER), evidence.tables()
    for place in range(60):
        feed(evidence, history, lookup, -inner.sample(1.5, rng))
        if place == 20:
            evidence.enroll(history, 0)
    grid = np.linspace(-4.0, -0.05, 80)
    below = [evidence.evidence_below(history, lookup, 0, float(x)) for x in grid]
    above = [evidence.evidence_above(history, lookup, 0, float(x)) for x in grid]
    assert np.all(np.diff(below) >= -1e-9)
    assert np.all(np.diff(above) <= 1e-9)
    assert evidence.evidence_below(history, lookup, 0, 0.0) == math.inf
    crossed = grid[np.argmax(np.array(below) >= 0.5)]  # the running bound, which may have been lower before
    assert -4.0 < history.stats[UPPER][0] <= crossed + 1e-9


# What a person says.


@pytest.mark.parametrize(
    ("text", "family"),
    [
        ("pass-fail(200)", PassFail(200)),
        ("pass-fail(items=7)", PassFail(7)),
        ("normal", Normal()),
        ("normal(prior_pulls=4)", Normal(4.0)),
        ("low-variance", LowVariance()),
        ("mirrored(poisson(3))", Mirrored(Poisson(3.0))),
        ("mirrored( gamma(shape=2,highest=5) )", Mirrored(Gamma(2.0, 5.0))),
    ],
)
def test_new_families_as_text(text, family):
    assert parse_family(text) == family
    assert type(parse_family(text)) is type(family)
    assert parse_family(describe(family)) == family
    assert isinstance(family, RewardModel)
    assert type(getattr(parse_family("pass-fail(3)"), "items")) is int  # noqa: B009 - any model


def test_what_each_model_is_for():
    for family in NEW:
        assert isinstance(family, RewardFamily) == isinstance(family, EvidenceFamily) == isinstance(family, Mirrored)
        assert isinstance(bounds_for(family, "tilt", 0.1, 1.0, 5.0), ConfidenceBounds)
        assert checked_model(family) is family
    for family in (PassFail(40), LowVariance(), Mirrored(Poisson()), Bernoulli()):
        assert isinstance(evidence_for(family, 0.1, 0.5), JointEvidence)


def says(message, action):
    with pytest.raises(ValueError) as error:  # noqa: PT011 - the whole message is compared
        action()
    assert str(error.value) == message


def test_models_say_what_they_cannot_do():
    says(
        "family must have evidence that joins other arms' for joint-lucb (use cc-lucb), got 'normal'",
        lambda: evidence_for(Normal(), 0.1, 0.5),
    )
    says(
        "bounds must be 'tilt' for pass-fail(items=40), which has no conjugate mixture, got 'kt'",
        lambda: bounds_for(PassFail(40), "kt", 0.1, 1.0, 5.0),
    )
    says(
        "family must be a one-parameter family for this algorithm; use cc-lucb, got 'low-variance'",
        lambda: checked(LowVariance()),
    )
    says("items must be a whole number of at least 1, got 2.5", lambda: parse_family("pass-fail(2.5)"))
    says("items must be a whole number of at least 1, got 0", lambda: parse_family("pass-fail(0)"))
    says("items must be at most 1000000, got 2000000", lambda: PassFail(2_000_000).check_parameters())
    says("prior_pulls must be positive and finite, got -1.0", lambda: parse_family("normal(-1)"))
    says(
        "family must say what is mirrored, such as mirrored(poisson(3)), got 'mirrored'",
        lambda: parse_family("mirrored"),
    )
    says(
        "family must be a reward family that is not mirrored itself, got Mirrored(family=Poisson(highest=inf))",
        lambda: parse_family("mirrored(mirrored(poisson))"),
    )
    says(
        "family must be a one-parameter family for this algorithm; use cc-lucb, got 'normal'",
        lambda: parse_family("mirrored(normal)"),
    )
    says("reward must be minus a reward that Poisson can have, got 2.0", lambda: Mirrored(Poisson()).check(2.0))


@pytest.mark.parametrize(
    ("family", "minimise", "inside", "pairs", "worst"),
    [
        (None, False, Bernoulli(), [(0.25, 0.25)], 0.0),
        (None, True, Bernoulli(), [(0.25, 0.75)], 1.0),
        ("bernoulli(0.5)", True, Bernoulli(), [(0.25, 0.75)], 1.0),
        ("range(-10,30)", False, Bernoulli(), [(-10.0, 0.0), (30.0, 1.0), (0.0, 0.25)], -10.0),
        ("range(lo=-10,hi=30)", True, Bernoulli(), [(-10.0, 1.0), (30.0, 0.0), (0.0, 0.75)], 30.0),
        ("low-variance(0,2)", False, LowVariance(), [(0.5, 0.25)], 0.0),
        ("low-variance(0,2)", True, LowVariance(), [(0.5, 0.75)], 2.0),
        ("low-variance(highest=0.5)", False, LowVariance(0.5), [(0.5, 0.5)], 0.0),
        ("gaussian(2)", True, Gaussian(2.0), [(3.0, -3.0)], None),
        (Gaussian(2.0, 9.0), True, Gaussian(2.0), [(3.0, -3.0)], None),
        ("normal", True, Normal(), [(3.0, -3.0), (0.0, 0.0)], None),
        ("poisson(3)", False, Poisson(3.0), [(2.0, 2.0)], None),
        ("poisson(3)", True, Mirrored(Poisson(3.0)), [(2.0, -2.0), (0.0, 0.0)], None),
        (Mirrored(Exponential()), False, Mirrored(Exponential()), [(-2.0, -2.0)], None),
        (PassFail(20), True, PassFail(20), [(1.0, 0.0), (0.0, 1.0)], 1.0),
    ],
)
def test_reward_models(family, minimise, inside, pairs, worst):
    model = reward_model(family, minimise=minimise)
    assert model.family == inside
    assert type(model.family) is type(inside)
    assert model.worst == worst
    assert model.minimise == minimise
    for reward, internal in pairs:
        model.check(reward)
        model.family.check(model.to_internal(reward))
        assert model.to_internal(reward) == internal
        assert math.copysign(1.0, model.to_internal(reward)) == math.copysign(1.0, internal)
        assert model.to_user(internal) == pytest.approx(reward)
    assert model.epsilon(0.5) == 0.5 / abs(model.factor)
    again = reward_model(model.text, minimise=minimise)
    assert again == model
    if worst is not None:
        model.check(worst)
        assert model.to_internal(worst) == 0.0


def test_assumptions_are_sentences():
    told = {
        "bernoulli": "Rewards lie in [0, 1]; nothing else is assumed about their law.",
        "range(0,20)": "Rewards lie in [0, 20]; nothing else is assumed about their law.",
        "low-variance(-1,1)": "Rewards lie in [-1, 1]; nothing else is assumed about their law.",
        "gaussian(0.5)": "Rewards are normal, or sub-Gaussian, with standard deviation 0.5 or less.",
        "normal": "Rewards are normal with one unknown variance per candidate; for other laws the error is not "
        "controlled.",
        "poisson": "Rewards follow a law of the family poisson; for other laws the error is not controlled.",
        "exponential": "Rewards follow a law of the family exponential; for other laws the error is not controlled.",
        "gamma(2)": "Rewards follow a gamma law of shape 2; for other laws the error is not controlled.",
        "pass-fail(200)": "Each candidate is scored on the same 200 items, in its own random order; the claim is about "
        "the score on these items.",
    }
    for text, sentence in told.items():
        for minimise in (False, True):
            assert reward_model(text, minimise=minimise).assumptions == (sentence,)
    assert reward_model("poisson(3)", minimise=True).assumptions[1] == "No candidate's mean exceeds 3."
    assert reward_model("bernoulli(0.9)").assumptions[1] == "No candidate's mean exceeds 0.9."
    assert reward_model("bernoulli(0.9)", minimise=True).assumptions[1:] == ()
    reversed_sign = reward_model("mirrored(poisson(3))").assumptions
    assert reversed_sign[0].startswith("Rewards, with the sign reversed, follow")
    assert reversed_sign[1] == "No candidate's mean is below -3."


def test_models_check_in_the_units_of_a_person():
    says("reward must lie in [0, 20], got 21.0", lambda: reward_model("range(0,20)", minimise=True).check(21.0))
    says("reward must be 0 or 1, got 0.5", lambda: reward_model(items=9, minimise=True).check(0.5))
    says(
        "reward must be a whole number of at least 0, got -1.0",
        lambda: reward_model("poisson", minimise=True).check(-1.0),
    )
    says("reward must be finite, got inf", lambda: reward_model("normal", minimise=True).check(math.inf))
    says("reward must be a real number, got nan", lambda: reward_model().check(math.nan))


def test_reward_model_says_what_is_wrong():
    assert reward_model(items=9) == reward_model("pass-fail", items=9) == reward_model("pass-fail(9)", items=9)
    says(
        "family must be pass-fail(items=9) or left out where there are 9 items, got 'bernoulli'",
        lambda: reward_model("bernoulli", items=9),
    )
    says(
        "family must be pass-fail(items=9) or left out where there are 9 items, got 'pass-fail(8)'",
        lambda: reward_model("pass-fail(8)", items=9),
    )
    says("items must be a whole number of at least 1, got 0", lambda: reward_model(items=0))
    says("family must say its items, got 'pass-fail'", lambda: reward_model("pass-fail"))
    for text in ("range", "range(1)", "range(1,2", "low-variance(3)"):
        name = text.partition("(")[0]
        says(
            f"family must be {name}(lo,hi) with two numbers, got {text!r}",
            lambda text=text: reward_model(text),
        )
    says(
        "family must have a finite range with lo below hi, got 'range(2,1)'",
        lambda: reward_model("range(2,1)"),
    )
    says(
        "family must not be mirrored already where minimise is set, got 'mirrored(poisson)'",
        lambda: reward_model("mirrored(poisson)", minimise=True),
    )


# Compiled and interpreted bodies agree to the bit.


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


CHOSEN = [(family, joint) for family, joint in MODELS if joint and isinstance(family, LowVariance)]


@pytest.mark.parametrize(("family", "joint"), quick(MODELS, CHOSEN), ids=str)
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


# Whole runs.


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
