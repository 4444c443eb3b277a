"""topalpha: a near-best candidate (arm) from an endless pool, with a proof.

Names are loaded on first use, so that ``import topalpha`` is quick.

>>> import topalpha
>>> topalpha.design("joint-lucb", 0.05, 0.05, 0.05).arms
193
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from topalpha import former_names as former_names

__version__ = "0.2.0"

_HOMES = {
    "ALGORITHMS": "topalpha.algorithms",
    "Bernoulli": "topalpha.families",
    "Certificate": "topalpha.certificate",
    "Claim": "topalpha.rules.protocol",
    "Exponential": "topalpha.families",
    "Gamma": "topalpha.families",
    "Gaussian": "topalpha.families",
    "Graded": "topalpha.families",
    "History": "topalpha.rules.protocol",
    "LowVariance": "topalpha.families",
    "Mirrored": "topalpha.families",
    "Normal": "topalpha.families",
    "PassFail": "topalpha.families",
    "Poisson": "topalpha.families",
    "Progress": "topalpha.session",
    "Pull": "topalpha.ask_tell",
    "PullFailed": "topalpha.execution",
    "Refuted": "topalpha.session",
    "Result": "topalpha.ask_tell",
    "ScoreTable": "topalpha.testset",
    "Search": "topalpha.ask_tell",
    "Selection": "topalpha.testset",
    "Session": "topalpha.session",
    "StorageError": "topalpha.storage",
    "Study": "topalpha.simulation",
    "Task": "topalpha.ask_tell",
    "DuelResult": "topalpha.testset",
    "aduel": "topalpha.testset",
    "aresume": "topalpha.running",
    "aselect": "topalpha.testset",
    "asearch": "topalpha.running",
    "design": "topalpha.algorithms",
    "duel": "topalpha.testset",
    "parse_family": "topalpha.families",
    "parse_reservoir": "topalpha.reservoirs",
    "plan": "topalpha.planner",
    "resume": "topalpha.running",
    "search": "topalpha.running",
    "select": "topalpha.testset",
    "simulate": "topalpha.simulation",
    "verify": "topalpha.session",
}

__all__ = sorted([*_HOMES, "__version__"])


def __getattr__(name: str) -> Any:
    if name not in _HOMES and name in former_names.FORMER:
        return import_module(f"topalpha.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'topalpha' has no attribute {name!r}")
    home = import_module(_HOMES[name])
    value = getattr(home, name.removesuffix("_reservoir") if name == "parse_reservoir" else name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
