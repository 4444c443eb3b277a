"""A search by ask and tell: the next pull (evaluation), how the search stands, and the trail to run it again."""

from topalpha.ask_tell.replaying import Log, replay, steps
from topalpha.ask_tell.result import Result, score, several, spent
from topalpha.ask_tell.search import Pull, Search, at_rest, begun_again
from topalpha.ask_tell.standing import (
    Contest,
    Standing,
    contest,
    contest_of,
    figures_of,
    proved_claims,
    stand,
    strongest,
)
from topalpha.ask_tell.task import Task
from topalpha.ask_tell.trail import Journal, Trail
from topalpha.storage import fingerprint

__all__ = [
    "Contest",
    "Journal",
    "Log",
    "Pull",
    "Result",
    "Search",
    "Standing",
    "Task",
    "Trail",
    "at_rest",
    "begun_again",
    "contest",
    "contest_of",
    "figures_of",
    "fingerprint",
    "proved_claims",
    "replay",
    "score",
    "several",
    "spent",
    "stand",
    "steps",
    "strongest",
]
