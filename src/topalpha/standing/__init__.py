"""How a search stands, now or at any moment of its past: what pictures and reports are made of."""

from topalpha.ask_tell import Standing
from topalpha.standing.moments import standing, timeline
from topalpha.standing.origin import Origin, Source, origin_of

__all__ = ["Origin", "Source", "Standing", "origin_of", "standing", "timeline"]
