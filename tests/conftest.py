"""What holds for every test: signals are heard, failures leave no process behind, and neither does the suite.

Hypothesis is deterministic here: a test that passed yesterday passes today. ``--hypothesis-profile=long`` tries
more, as ``make test-slow`` does for bounds; ``wide`` roams.
"""

import pytest
from hypothesis import settings

from tests.support import leftovers
from tests.support.leftovers import pytest_configure, pytest_runtest_makereport, pytest_sessionfinish  # noqa: F401 - hooks
from tests.support.storing import CHILDREN

settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile("long", settings.get_profile("fixed"), max_examples=400)
settings.register_profile("wide", max_examples=5000, deadline=None)
settings.load_profile("fixed")

#: Examples in docstrings whose loops take seconds to compile, or that end processes again and again.
LONG_EXAMPLES = (
    "testset.replays.Replays",
    "score_audit.Audit",
    "score_audit.audit",
    "testset.table.ScoreTable.audit",
    "survival.survive",
)

leftovers.hear_signals()
leftovers.mark()


def pytest_collection_modifyitems(items):
    for item in items:
        if isinstance(item, pytest.DoctestItem) and any(name in item.name for name in LONG_EXAMPLES):
            item.add_marker(pytest.mark.slow)


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
