"""Examples: each file is a script of its own, ``python examples/width.py``."""
