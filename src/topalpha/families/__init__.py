"""Reward families: assumptions about the rewards of one arm."""

from topalpha.families.bernoulli import Bernoulli
from topalpha.families.exponential import Exponential
from topalpha.families.gamma import Gamma
from topalpha.families.gaussian import Gaussian
from topalpha.families.graded import Graded
from topalpha.families.low_variance import LowVariance
from topalpha.families.mirrored import Mirrored
from topalpha.families.normal import Normal
from topalpha.families.pass_fail import PassFail
from topalpha.families.poisson import Poisson
from topalpha.families.protocols import RewardFamily, RewardModel  # noqa: F401 - version 0.2.0 had them here
from topalpha.families.units import (
    FAMILIES,
    MODELS,
    checked,
    checked_model,
    describe,
    parse_family,
    read_numbers,
    unit_rewards,
)
from topalpha.validate import choice, plain, quoted, require, words  # noqa: F401 - as above

__all__ = [
    "FAMILIES",
    "MODELS",
    "Bernoulli",
    "Exponential",
    "Gamma",
    "Gaussian",
    "Graded",
    "LowVariance",
    "Mirrored",
    "Normal",
    "PassFail",
    "Poisson",
    "checked",
    "checked_model",
    "describe",
    "draws",
    "parse_family",
    "protocols",
    "read_numbers",
    "unit_rewards",
    "units",
]
