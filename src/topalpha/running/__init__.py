"""Searches over functions of the user: ``search(draw, pull)`` and its kin, and how they run."""

from topalpha.running.drive import Draw, afinish, begin, finish, prepare, proceed
from topalpha.running.entry import aresume, asearch, resume, search
from topalpha.running.settings import PROVING, VANISHED, Running, Watch

__all__ = [
    "PROVING",
    "VANISHED",
    "Draw",
    "Running",
    "Watch",
    "afinish",
    "aresume",
    "asearch",
    "begin",
    "finish",
    "prepare",
    "proceed",
    "resume",
    "search",
]
