"""The looks that all pictures share: told apart without colours."""

from __future__ import annotations

import itertools

import pytest

from tests.support.pictures import contrast, faults, luminance, plain_looks
from topalpha.algorithms import ALGORITHMS as ALL
from topalpha.algorithms import PRINCIPAL
from topalpha.figures import new_axes, style
from topalpha.figures.style import ALGORITHMS, GREY, Look, look_of, looks


def roles():
    return {name: value for name, value in vars(style).items() if isinstance(value, Look)}


def apart(one: Look, other: Look) -> bool:
    """Whether a reader without colours tells them apart."""
    return (one.marker, one.dash, one.hatch) != (other.marker, other.dash, other.hatch)


def test_roles_differ_without_colours_and_all_colours_stand_out_from_white():
    # Those that are never in one picture may look alike: a lower bound and the line of a race.
    together = (
        ("LEADER", "CHALLENGER", "OTHER", "LINE", "REACH", "END"),
        ("PROVED", "TARGET"),
        ("LIMIT", "LIMIT_EXACT"),
        ("FIELD",),
    )
    assert {name for names in together for name in names} == set(roles())
    for names in together:
        for one, other in itertools.combinations(names, 2):
            assert apart(roles()[one], roles()[other]), (one, other)
    for one in roles().values():
        assert contrast(one.colour) >= 3.0
    for one in ALGORITHMS.values():
        assert contrast(one.colour) >= 3.0


def test_principal_algorithms_keep_their_own_looks_in_every_picture():
    assert list(ALGORITHMS) == ["joint-lucb", *(one.name for one in PRINCIPAL[1:])]
    assert len({one.colour for one in ALGORITHMS.values()} - {GREY}) == len(PRINCIPAL)
    assert len({(one.marker, one.dash) for one in ALGORITHMS.values()}) == len(PRINCIPAL)
    assert len({one.marker for one in ALGORITHMS.values()}) == len(PRINCIPAL)
    names = [one.name for one in ALL]
    for some in (names, names[::-1], names[2:9]):
        found = looks(some)
        assert list(found) == some
        assert {name: found[name] for name in some if name in ALGORITHMS} == {
            name: look for name, look in ALGORITHMS.items() if name in some
        }
        assert {found[name].colour for name in some if name not in ALGORITHMS} == {GREY}


def test_variants_have_the_colour_of_their_algorithm_and_signs_of_their_own():
    labels = ["kl-lucb, α = 0.1", "kl-lucb, α = 0.2", "kl-lucb", "kl-lucb (clock=N)", "p2 (solver=uniform)"]
    found = looks(labels)
    assert [one.colour for one in found.values()] == [ALGORITHMS["kl-lucb"].colour] * 4 + [GREY]
    assert len({(one.marker, one.dash) for one in found.values()}) == len(labels)
    assert look_of("lucb++ (k=2)").colour == ALGORITHMS["lucb++"].colour


def test_curves_differ_without_colours_as_many_as_a_picture_can_hold():
    names = [*ALGORITHMS, *(f"other {place}" for place in range(30))]
    plain = [(one.marker, one.dash) for one in looks(names).values()]
    assert len(set(plain)) == len(names)


def test_what_a_reader_could_mistake_is_found():
    """The checks themselves: looks that differ by colour alone, pale colours, texts that collide or are cut off."""
    assert not apart(Look("#0072B2", "o", "-"), Look("#D55E00", "o", "-"))
    assert contrast("#F0E442") < 3.0
    assert contrast("black") == pytest.approx(21.0)
    assert luminance("white") == pytest.approx(1.0)
    axes = new_axes()
    axes.plot([0.0, 1.0], label="one")
    axes.plot([1.0, 0.0], label="other")
    axes.legend()
    assert len(set(plain_looks(axes))) == 1
    axes.text(0.5, 0.5, "on one another")
    axes.text(0.51, 0.5, "and so not legible")
    axes.figure.text(0.9, 0.02, "much longer than the room that there is to the right of it")
    found = " ".join(faults(axes))
    assert "'on one another' lies on 'and so not legible'" in found
    assert "'much longer than the room that there is to the right of it' is cut off" in found
