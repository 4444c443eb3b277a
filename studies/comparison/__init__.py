"""The study of docs/comparison.md: all algorithms on the same reservoirs."""
