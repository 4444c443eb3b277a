"""Tools for researchers: the audit of every guarantee, the comparison of all algorithms, and the paper's table."""

__all__ = ["audit", "comparison", "table1"]
