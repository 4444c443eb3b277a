"""Hypothesis is deterministic here: a test that passed yesterday passes today. ``--hypothesis-profile=wide`` roams."""

import pytest
from hypothesis import settings
from storing import CHILDREN
from turns import Turns, wants_to_be_alone

settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("wide", max_examples=5000, deadline=None)
settings.load_profile("fixed")


turns = Turns()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    """Tests with the mark ``alone`` have no other beside them, in whichever process."""
    turns.begin(alone=wants_to_be_alone(item))
    try:
        return (yield)
    finally:
        if not (wants_to_be_alone(item) and wants_to_be_alone(nextitem)):
            turns.end()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "searches.db"


@pytest.fixture(autouse=True)
def _no_child_outlives_its_test():
    yield
    while CHILDREN:
        process = CHILDREN.pop()
        process.kill()
        process.wait()
        process.stdout.close()
