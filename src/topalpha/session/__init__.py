"""A search with its record: kept in a file, shown while it runs, resumed, and verified."""

from topalpha.session.identity import digest, likeness
from topalpha.session.progress import LOGGER, PERIOD, STYLES, Progress, Reporter, Snapshots, survey
from topalpha.session.recorded_search import AGAIN, BEGUN, IDLE, LOST, RUNNING, Session, recorded_task
from topalpha.session.verification import Refuted, confirmed, verify

__all__ = [
    "AGAIN",
    "BEGUN",
    "IDLE",
    "LOGGER",
    "LOST",
    "PERIOD",
    "RUNNING",
    "STYLES",
    "Progress",
    "Refuted",
    "Reporter",
    "Session",
    "Snapshots",
    "confirmed",
    "digest",
    "likeness",
    "recorded_task",
    "survey",
    "verify",
]
