"""How a search stands, now or at any moment of its past, for pictures and reports."""

from topalpha.ask_tell import Standing
from topalpha.standing.moments import Origin, Source, origin_of, standing, timeline

__all__ = ["Origin", "Source", "Standing", "origin_of", "standing", "timeline"]
