"""Comparison of algorithms on reservoirs and targets, resumable, with lower bounds.

>>> from topalpha.research.comparison import ComparisonCase, Comparison, Contender, compare
>>> one = ComparisonCase("two-point(0.2,0.8,0.3)", 0.3, 0.3, 0.2)
>>> rows = compare(Comparison((Contender("joint-lucb"), Contender("cc-lucb")), (one,), runs=20))
>>> [row["algorithm"] for row in rows]
['joint-lucb', 'cc-lucb']
"""

from __future__ import annotations

from topalpha.research.comparison.cells import ComparisonCell, evaluate
from topalpha.research.comparison.configuration import Comparison, ComparisonCase, Contender
from topalpha.research.comparison.measuring import compare

__all__ = ["Comparison", "ComparisonCase", "ComparisonCell", "Contender", "compare", "evaluate"]
