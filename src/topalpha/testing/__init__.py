"""Conformance checks for authors of algorithms and reward families; each raises ``AssertionError`` on a difference.

An algorithm is written once and run by two drivers, so every way to run it must agree bit for bit: interpreted, through
:class:`topalpha.Search`, replayed, compiled, compiled in slices, and with its scratch memory replaced at any moment.
"""

from topalpha.testing.algorithms import check_algorithm, check_design, check_parameters
from topalpha.testing.drivers import Outcome, Step, check_same, compiled, interpreted, outcome, replayed, searched
from topalpha.testing.families import check_family

__all__ = [
    "Outcome",
    "Step",
    "check_algorithm",
    "check_design",
    "check_family",
    "check_parameters",
    "check_same",
    "compiled",
    "interpreted",
    "outcome",
    "replayed",
    "searched",
]
