"""Reservoirs and targets at the edge: perfect ties, empty counts, targets wider than the scale, uncovered designs."""

import importlib.util
import math

import pytest

import topalpha
from topalpha import design, parse_family, parse_reservoir, simulate
from topalpha.algorithms import PRINCIPAL
from topalpha.ask_tell import Search
from topalpha.families import Bernoulli, Gaussian
from topalpha.simulation import interpret

NAMES = [entry.name for entry in PRINCIPAL]


def pulls(name, family, reservoir, epsilon, alpha=0.1):
    algorithm = design(name, alpha, epsilon, 0.1, parse_family(family))
    return interpret(algorithm, parse_reservoir(reservoir), seed=1).search.result


@pytest.mark.parametrize("name", ["cc-lucb", "joint-lucb"])
@pytest.mark.parametrize("reservoir", ["dirac(1)", "two-point(0.5,1,0.5)"])
def test_perfect_arms_do_not_take_turns(name, reservoir):
    result = pulls(name, "bernoulli", reservoir, 0.05)
    assert result.stopped
    # one leader with a perfect record is enough: a tenth of what a leader that rotates needs
    assert 10 * result.pulls < pulls("kl-lucb", "bernoulli", reservoir, 0.05).pulls


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("family", ["bernoulli", "poisson", "poisson(2)"])
def test_arms_that_never_pay_end_the_run(name, family):
    assert pulls(name, family, "dirac(0)", 0.2).stopped


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("family", "reservoir", "epsilon"),
    [
        ("bernoulli", "beta(1,1)", 1.5),
        ("bernoulli", "beta(1,1)", 200.0),
        ("gaussian(0.01)", "dirac(0.5)", 0.05),
        ("gaussian(0.01)", "uniform(-1,1)", 1.0),
        ("poisson(3)", "uniform(0.5,2.5)", 50.0),
        ("exponential", "uniform(0.5,2.5)", 50.0),
        ("gamma(2,3)", "uniform(0.5,2.5)", 50.0),
    ],
)
def test_a_target_wider_than_the_scale_is_easy(name, family, reservoir, epsilon):
    result = pulls(name, family, reservoir, epsilon)
    assert result.stopped
    assert result.pulls < 40 * result.arms


@pytest.mark.parametrize("name", ["cc-lucb", "joint-lucb"])
@pytest.mark.parametrize("family", ["exponential", "gamma(2)", "poisson"])
def test_an_unknown_scale_costs_no_more_than_the_papers_algorithm(name, family):
    ours = pulls(name, family, "uniform(1.0,2.0)", 0.8, alpha=0.2)
    theirs = pulls("kl-lucb", family, "uniform(1.0,2.0)", 0.8, alpha=0.2)
    assert ours.pulls < theirs.pulls


def test_a_design_that_no_proof_covers_says_so():
    for options in ({"arms": "table"}, {"k1": 1e-6}):
        algorithm = design("kl-lucb", 0.3, 0.4, 0.3, **options)
        assert not algorithm.traits.covered
        result = interpret(algorithm, parse_reservoir("beta(1,1)")).search.result
        assert result.stopped
        assert result.statement.startswith("Nothing is proved")
        assert result.to_dict()["covered"] is False
    assert design("kl-lucb", 0.3, 0.4, 0.3, k1=22.0).covered


@pytest.mark.parametrize(
    ("family", "reservoir"),
    [
        ("bernoulli", "uniform(0,3)"),
        ("bernoulli", "uniform(-1,0.5)"),
        ("bernoulli(0.5)", "uniform(0,1)"),
        ("exponential", "two-point(0,1,0.5)"),
        ("poisson(2)", "dirac(3)"),
    ],
)
def test_a_reservoir_outside_the_family_is_refused(family, reservoir):
    with pytest.raises(ValueError, match="reservoir must have means"):
        simulate(design("joint-lucb", 0.1, 0.1, 0.1, parse_family(family)), parse_reservoir(reservoir), runs=1)


@pytest.mark.parametrize(
    ("family", "words"),
    [(Gaussian(-1.0), "sigma must be positive"), (Bernoulli(2.0), "highest must"), ("gaussian", "family must be")],
)
def test_a_family_that_makes_no_sense_is_refused(family, words):
    for name in NAMES:
        with pytest.raises(ValueError, match=words):
            design(name, 0.1, 0.1, 0.1, family)


def test_gaussian_mixtures_refuse_levels_that_they_do_not_cover():
    assert design("lucb++", 0.1, 0.1, 1e-20, Gaussian(1.0)).lower_threshold <= 64.0
    for name, options in (("lucb++", {}), ("cc-lucb", {"bounds": "kt"})):
        with pytest.raises(ValueError, match="delta must be larger"):
            design(name, 0.1, 0.1, 1e-40, Gaussian(1.0), **options)
    assert design("cc-lucb", 0.1, 0.1, 1e-40, Gaussian(1.0)).confidence.lower_threshold > 64.0
    assert math.isinf(Bernoulli().largest_threshold)


def test_too_many_arms_are_refused():
    for name in NAMES:
        with pytest.raises(ValueError, match="alpha must be large enough"):
            design(name, 1e-300, 0.1, 0.1)


@pytest.mark.parametrize("pull", [None, 0, (0, 0, 0)])
def test_tell_refuses_what_was_not_asked_for(pull):
    with pytest.raises(ValueError, match="pull must have been asked for"):
        Search(design("joint-lucb", 0.2, 0.2, 0.1)).tell(pull, 1.0)


def test_no_public_function_is_hidden_by_a_module_of_its_name():
    """Importing ``topalpha.x`` would put the module where the function ``topalpha.x`` is expected."""
    for name in topalpha.__all__:
        if not name.startswith("_"):
            assert importlib.util.find_spec(f"topalpha.{name}") is None, name
    for function in (topalpha.search, topalpha.verify, topalpha.plan, topalpha.resume):
        assert callable(function)
