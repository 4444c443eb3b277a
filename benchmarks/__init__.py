"""Benchmarks: speed, start-up, pulls and the dashboard, against their targets. ``python -m benchmarks`` runs them."""
