"""Whom the figures of a moment are about: the leader changes sooner than what is proved."""

import math

import numpy as np
import pytest

from topalpha import Search, design
from topalpha.ask_tell import Task
from topalpha.certificate import certify, strongest
from topalpha.session import Progress, Snapshots, survey

EPSILON = 0.05


def begun(algorithm="cc-lucb"):
    """A search in which each arm has had one reward, which was good for the first two."""
    search = Search(design(algorithm, 0.3, EPSILON, 0.2))
    for pull in search.ask_many(search.algorithm.arms):
        search.tell(pull, float(pull.arm < 2))
    return search


def test_a_proof_stays_with_the_arm_that_it_is_about():
    search = begun()
    while search.history.pulls[0] < 12:
        pull = search.ask()
        search.tell(pull, float(pull.arm == 0 or (pull.arm == 1 and search.history.pulls[1] > 2)))
    snapshots = Snapshots(search, None)
    first = snapshots.progress(math.inf)
    assert (first.about, first.gap) == (0, pytest.approx(first.claims[0][1] - EPSILON))
    # No proof is due from here on, and another arm takes the lead.
    snapshots.next_proof = math.inf
    while search.best == 0:
        pull = search.ask()
        search.tell(pull, float(pull.arm != 0))
    later = snapshots.progress(0.0)
    assert later.leader == 1
    assert (later.about, later.gap, later.claims) == (0, first.gap, first.claims)
    assert f"gap {first.gap:.3g} of arm 0" in later.text
    assert "leader arm 1: " in later.text
    assert "leader {rate: 0.5}: " in later.told("{rate: 0.5}")
    assert f"gap {first.gap:.3g} of another" in later.told("{rate: 0.5}")
    # About the present leader this would be false: less is proved of it.
    assert search.claims(1)[0].epsilon > first.claims[0][1]
    snapshots.next_proof = 0.0
    assert snapshots.progress(0.0).about == strongest(search)


def test_the_gap_is_about_the_arm_that_a_certificate_names():
    search, rng = begun(), np.random.default_rng(1)
    while search.best == strongest(search) or search.history.t < 200:
        pull = search.ask()
        search.tell(pull, float(rng.random() < 0.8 - 0.02 * pull.arm))
    found = survey(search)
    task = Task(algorithm="cc-lucb", family="bernoulli", alpha=0.3, epsilon=EPSILON, delta=0.2)
    certificate = certify(search, task, "message")
    assert found.leader != certificate.arm
    assert found.about == certificate.arm
    assert found.gap == pytest.approx(certificate.claims[0].epsilon - EPSILON)
    assert [list(claim) for claim in found.claims] == [[one.alpha, one.epsilon] for one in certificate.claims]
    # The negative control: of the leader less is proved.
    assert search.claims(found.leader)[0].epsilon > certificate.claims[0].epsilon
    assert survey(search, curve=False).gap == found.gap


def test_an_algorithm_without_bounds_says_so():
    assert survey(begun()).bounded
    assert not survey(begun("p2")).bounded
    assert Progress(1, 0, 1, 0, 0.5, None, None, None, 0, None).to_dict()["about"] is None
