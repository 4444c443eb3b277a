"""Hypothesis is deterministic here: a test that passed yesterday passes today. ``--hypothesis-profile=wide`` roams."""

from hypothesis import settings

settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("wide", max_examples=5000, deadline=None)
settings.load_profile("fixed")
