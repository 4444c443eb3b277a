"""Searches with the user's functions: ``search(draw, pull)`` and related functions, and how they run."""

from topalpha.running.drive import (
    PROVING,
    VANISHED,
    Draw,
    Watch,
    afinish,
    begin,
    finish,
    prepare,
    proceed,
    same_target,
    start,
)
from topalpha.running.entry import Running, aresume, asearch, resume, search

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
    "same_target",
    "search",
    "start",
]
