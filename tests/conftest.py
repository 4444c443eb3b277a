"""What holds for every test: signals are heard, failures leave no process behind, and neither does the suite.

Hypothesis is deterministic here: a test that passed yesterday passes today. ``--hypothesis-profile=wide`` roams.
"""

import leftovers
import pytest
from hypothesis import settings
from storing import CHILDREN

settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("wide", max_examples=5000, deadline=None)
settings.load_profile("fixed")

leftovers.hear_signals()
MARK = leftovers.mark()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """A test that fails, or whose time is over, may not have come to its own end: what it started is killed."""
    report = yield
    if report.failed and call.when == "call":
        leftovers.kill_descendants(since=call.start)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_sessionfinish(session):
    """A suite that leaves processes running fails, and they end; the leader of several workers has the last word."""
    result = yield
    if not hasattr(session.config, "workerinput"):
        left = leftovers.sweep(MARK)
        if left:
            print("\nleft running by the tests, and killed now:", *left, sep="\n  ")
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
    return result


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
