"""The study of docs/arithmetic.md: runs with another C library, simulated."""
