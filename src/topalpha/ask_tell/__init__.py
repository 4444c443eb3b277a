"""A search by ask and tell: the next pull (evaluation), its reward, and the trail to run the search again."""

from topalpha.ask_tell.replaying import Log, fingerprint, replay, steps
from topalpha.ask_tell.result import Result
from topalpha.ask_tell.search import Pull, Search, at_rest
from topalpha.ask_tell.task import Task
from topalpha.ask_tell.trail import Journal, Trail

__all__ = ["Journal", "Log", "Pull", "Result", "Search", "Task", "Trail", "at_rest", "fingerprint", "replay", "steps"]
