"""Searches to draw, and how tests look at their pictures."""

from __future__ import annotations

import numpy as np
from click.testing import CliRunner

from tests.support.pictures import curves
from topalpha.cli import main

EASY = {"alpha": 0.2, "epsilon": 0.25, "delta": 0.2, "seed": 3, "progress": "none"}


def draw(rng):
    return rng.random()


def pull(candidate, rng):
    return float(rng.random() < candidate)


def cost(candidate, rng):
    return float(np.clip(rng.normal(12.0 * candidate, 2.0), 0.0, 20.0))


NAMES = ["stopped", "joint", "costs", "early"]


def look(axes, one, marker="None"):
    return curves(axes)[(one.colour, one.dash, marker)]


def points(axes, one):
    return curves(axes)[(one.colour, "", one.marker)].get_xydata()


def run(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))
