"""Parts of boosting beside the algorithm: stumps as arms of a compiled world, and passes over weighted rows."""

__all__ = ["lazy", "rounds", "rows", "world"]
