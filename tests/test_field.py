"""The field as a whole: one table, one word for each guarantee, and a clear refusal of what is missing."""

import re
from pathlib import Path

import pytest

from topalpha.algorithms import ALGORITHMS, design, prior_knowledge
from topalpha.core import Algorithm, BlockAlgorithm, Certifier, Selector
from topalpha.families import Bernoulli, Gaussian
from topalpha.reservoirs import parse

DOCS = Path(__file__).parents[1] / "docs"
LAW = parse("two-point(0.2,0.9,0.1)")


def made(one, family=None):
    budget = {"budget": 1000} if one.budgeted else {}
    return design(one.name, 0.1, 0.2, 0.1, family, **prior_knowledge(one.name, LAW, 0.1, 0.2), **budget)


def test_the_page_of_the_field_is_the_registry():
    rows = re.findall(
        r"^\| `([^`]+)` \| ([a-z-]+)[^|]* \| ([^|]*)\|([^|]*)\| (.*) \|$",
        (DOCS / "field" / "README.md").read_text(),
        re.M,
    )
    assert [row[0] for row in rows] == [one.name for one in ALGORITHMS]
    for (_, guarantee, rewards, knows, proof), one in zip(rows, ALGORITHMS, strict=True):
        assert guarantee == one.guarantee
        assert (rewards.strip() == "[0, 1]") == (one.rewards == "unit")
        assert bool(knows.strip()) == (one.knowledge is not None)
        for page in re.findall(r"\(([a-z_./]+\.md)\)", proof):
            assert (DOCS / "field" / page).is_file()


@pytest.mark.parametrize("one", ALGORITHMS, ids=lambda one: one.name)
def test_an_entry_says_what_its_algorithm_is(one):
    algorithm = made(one)
    assert isinstance(algorithm, Algorithm)
    assert algorithm.traits.name == one.name
    assert algorithm.traits.blocks == isinstance(algorithm, BlockAlgorithm)
    assert algorithm.traits.covered == (one.guarantee == "fixed-confidence")
    for page in re.findall(r"docs/[a-z_./]+\.md", one.proof):
        assert (DOCS.parent / page).is_file()
    if one.rewards == "unit":
        with pytest.raises(ValueError, match="family must be bernoulli"):
            made(one, Gaussian(0.5))
    else:
        assert made(one, Bernoulli()) == algorithm
    if one.budgeted:
        with pytest.raises(ValueError, match="budget must be given"):
            design(one.name, 0.1, 0.2, 0.1)


def test_there_is_something_of_every_kind():
    kinds = [made(one) for one in ALGORITHMS]
    for kind in (BlockAlgorithm, Certifier, Selector):
        assert any(isinstance(algorithm, kind) for algorithm in kinds)
        assert not all(isinstance(algorithm, kind) for algorithm in kinds)
