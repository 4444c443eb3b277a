"""How results are printed and shown in notebooks, and how sentences name candidates."""

__all__ = ["candidate_names", "printing"]
