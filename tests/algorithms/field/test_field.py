"""The field as a whole: one table, one word for each guarantee, and a clear refusal of what is missing."""

import csv
import re
import sys

import pytest

from tests.support.folders import ROOT
from tests.support.marks import quick
from topalpha import Search, search
from topalpha.algorithms import ALGORITHMS, FIELD, design, entry, prior_knowledge
from topalpha.families import Bernoulli, Gaussian, Graded, LowVariance, Normal, PassFail
from topalpha.research.audit.replay import matrix
from topalpha.reservoirs import parse
from topalpha.rules.protocol import Algorithm, BlockAlgorithm, Certifier, Selector
from topalpha.testing import check_algorithm

DOCS = ROOT / "docs"
LAW = parse("two-point(0.2,0.9,0.1)")
BEYOND = {  # no one-parameter families
    "pass-fail": PassFail(100),
    "normal": Normal(),
    "low-variance": LowVariance(),
    "graded": Graded(100),
}


def made(one, family=None):
    budget = {"budget": 1000} if one.budgeted else {}
    return design(one.name, 0.1, 0.2, 0.1, family, **prior_knowledge(one.name, LAW, 0.1, 0.2), **budget)


def test_the_page_of_the_field_is_the_registry():
    rows = re.findall(
        r"^\| `([^`]+)` \| ([a-z-]+)[^|]* \| ([^|]*)\|([^|]*)\| (.*) \|$",
        (DOCS / "field" / "README.md").read_text(),
        re.M,
    )
    names = [row[0] for row in rows]
    assert names == [one.name for one in ALGORITHMS if one.name in names], "in the order of the registry"
    with open(DOCS / "comparison" / "field" / "table.csv", encoding="utf-8") as file:
        measured = {row["algorithm"].partition(" (")[0] for row in csv.DictReader(file)}
    assert len(measured) > 20
    assert measured <= set(names), "whatever is compared has a row"
    for name, guarantee, rewards, knows, proof in rows:
        one = entry(name)
        assert guarantee == one.guarantee
        kinds = {4: "all", 3: "all but normal", 0: "one-parameter"}
        assert rewards.strip() == ("[0, 1]" if one.rewards == "unit" else kinds[len(one.models)])
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
    for text, model in BEYOND.items():
        if text in one.models:
            assert made(one, model).traits.name == one.name
        else:
            with pytest.raises(ValueError, match=r"family must (be|have)"):
                made(one, model)
    if one.budgeted:
        with pytest.raises(ValueError, match="budget must be given"):
            design(one.name, 0.1, 0.2, 0.1)


BERNOULLI = {algorithm.traits.name: (algorithm, law) for algorithm, law in matrix() if algorithm.family == Bernoulli()}


#: One of each kind; all of them in ``make test-slow``: a loop takes seconds to compile.
COMPILED = ("cc-threshold", "likelihood-toss")


@pytest.mark.parametrize("name", quick([one.name for one in FIELD], COMPILED))
def test_every_algorithm_runs_the_same_in_every_way(name):
    """Whoever adds an algorithm need not ask for this."""
    assert check_algorithm(*BERNOULLI[name]).t > 0


def test_there_is_something_of_every_kind():
    kinds = [made(one) for one in ALGORITHMS]
    for kind in (BlockAlgorithm, Certifier, Selector):
        assert any(isinstance(algorithm, kind) for algorithm in kinds)
        assert not all(isinstance(algorithm, kind) for algorithm in kinds)


def searched(name, family=None, pulls=4000, **options):
    def draw(rng):
        return 0.9 if rng.random() < 0.5 else 0.2

    return search(
        draw,
        lambda mean, rng: float(rng.random() < mean),
        alpha=0.3,
        epsilon=0.4,
        delta=0.2,
        algorithm=name,
        options=options,
        family=family,
        pulls=pulls,
        progress="none",
    )


@pytest.mark.parametrize(
    ("name", "options", "condition"),
    [
        ("likelihood-toss", {"low": 0.2, "high": 0.9, "share": 0.5}, "A candidate has mean 0.9 with probability 0.5"),
        ("jhr", {}, "Candidates have one of two means"),
        ("al-q-ik", {"threshold": 0.9}, "The top 30% of candidates begin at a mean of 0.9"),
    ],
)
def test_a_certificate_says_what_was_told_about_the_reservoir(name, options, condition):
    certificate = searched(name, pulls=200_000, **options).certificate
    assert any(sentence.startswith(condition) for sentence in certificate.assumptions)
    exact = "Rewards have exactly the law bernoulli." in certificate.assumptions
    assert exact == (name == "likelihood-toss")
    assert exact != any("nothing else is assumed about their law" in sentence for sentence in certificate.assumptions)
    with pytest.raises(ValueError, match=f"family must be plain for {name}"):
        searched(name, "range(0,2)", **options)


@pytest.mark.parametrize("name", ["isha", "siri", "hyperband", "bucb", "d-ttts"])
def test_a_search_with_a_budget_claims_nothing(name):
    result = searched(name, budget=300)
    assert result.stopped
    assert result.certificate.claims == ()
    assert not result.certificate.proved
    assert "Nothing is proved" in result.statement


def test_a_search_for_several_arms_names_each_of_them():
    result = searched("cc-lucb-k", pulls=None, k=3)
    assert len(set(result.selection)) == 3
    assert result.arm in result.selection
    assert result.selected == (0.9, 0.9, 0.9)
    assert result.certificate.selection == result.selection
    *most, last = map(str, result.selection)
    assert f"each of the 3 chosen candidates (arms {', '.join(most)} and {last}) is within 0.4" in result.statement


def test_a_list_needs_an_algorithm_that_has_a_proof_for_lists():
    with pytest.raises(ValueError, match="draw must be a function for joint-one-phase, which has no proof for a list"):
        search([0.1, 0.9], lambda mean, rng: mean, algorithm="joint-one-phase", progress="none")


def test_long_blocks_take_no_memory():
    run = Search(design("p2", 0.1, 0.01, 0.1))
    assert run.ask().arm == 0
    assert run.planned > 10**7
    assert sys.getsizeof(run._planned) + sys.getsizeof(run._repeats) < 10_000
