"""Reward models as users state them: their text, their units, what they assume and what they refuse."""

from __future__ import annotations

import math

import pytest

from topalpha.confidence import bounds_for, evidence_for
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
    ConfidenceBounds,
    JointEvidence,
)

NEW = [PassFail(40), Normal(), LowVariance(), Mirrored(Poisson(3.0))]


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
        "family must name the mirrored family, as in mirrored(poisson(3)), got 'mirrored'",
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
        "family must be pass-fail, graded or graded(lo,hi) for 9 items, got 'bernoulli'",
        lambda: reward_model("bernoulli", items=9),
    )
    says(
        "family must be pass-fail, graded or graded(lo,hi) for 9 items, got 'pass-fail(8)'",
        lambda: reward_model("pass-fail(8)", items=9),
    )
    says("items must be a whole number of at least 1, got 0", lambda: reward_model(items=0))
    says("family must give its items, got 'pass-fail'", lambda: reward_model("pass-fail"))
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
        "family must not be mirrored if minimise is set, got 'mirrored(poisson)'",
        lambda: reward_model("mirrored(poisson)", minimise=True),
    )
