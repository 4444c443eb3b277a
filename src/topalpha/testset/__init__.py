"""Choices of prompts or models on a finite test set, duels of two, and an audit of choices on recorded scores.

>>> from topalpha.testset import select
>>> select([2, 3, 6], range(1, 13), lambda divisor, number: number % divisor == 0, epsilon=0.1).candidate
2
"""

from topalpha.testset.dueling import DuelResult, aduel, duel
from topalpha.testset.score_audit import Audit, audit
from topalpha.testset.selecting import aselect, select
from topalpha.testset.selection import Score, Selection
from topalpha.testset.table import ScoreTable

__all__ = ["Audit", "DuelResult", "Score", "ScoreTable", "Selection", "aduel", "aselect", "audit", "duel", "select"]
