"""The audit: whether every algorithm keeps its guarantee on hard reservoirs, and whether all ways to run it agree.

>>> from topalpha import design
>>> from topalpha.research.audit import equality
>>> from topalpha.reservoirs import parse
>>> equality(design("cc-lucb", 0.3, 0.4, 0.2), parse("beta(1,1)"), seed=1).identical
True
"""

from topalpha.research.audit.cases import cells, controls
from topalpha.research.audit.cell import AuditCase, AuditCell
from topalpha.research.audit.judgement import FALSE_ALARM, Judgement, judge
from topalpha.research.audit.replay import Equality, equality

__all__ = [
    "FALSE_ALARM",
    "AuditCase",
    "AuditCell",
    "Equality",
    "Judgement",
    "cells",
    "controls",
    "equality",
    "judge",
]
