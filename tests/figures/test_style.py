"""The looks that all pictures share: told apart without colours."""

from __future__ import annotations

import itertools

import pytest

from tests.support.pictures import contrast, faults, luminance, plain_looks
from topalpha.figures import new_axes
from topalpha.figures import style as looks
from topalpha.figures.style import GREY, Look, style


def roles():
    return {name: value for name, value in vars(looks).items() if isinstance(value, Look)}


def apart(one: Look, other: Look) -> bool:
    """Whether a reader without colours tells them apart."""
    return (one.marker, one.dash, one.hatch) != (other.marker, other.dash, other.hatch)


def test_roles_differ_without_colours_and_all_colours_stand_out_from_white():
    # Those that are never in one picture may look alike: a lower bound and the line of a race.
    together = (
        ("LEADER", "CHALLENGER", "OTHER", "LINE", "REACH", "END"),
        ("PROVED", "TARGET"),
        ("LIMIT", "LIMIT_EXACT"),
    )
    assert {name for names in together for name in names} == set(roles())
    for names in together:
        for one, other in itertools.combinations(names, 2):
            assert apart(roles()[one], roles()[other]), (one, other)
    for one in roles().values():
        assert contrast(one.colour) >= 3.0
    for colour in (*looks.COLOURS, GREY):
        assert contrast(colour) >= 3.0


def test_curves_differ_without_colours_as_many_as_a_picture_can_hold():
    plain = [(one["marker"], one["linestyle"]) for one in map(style, range(22))]
    assert len(set(plain)) == 22
    assert len({tuple(style(place).values()) for place in range(60)}) == 60


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
