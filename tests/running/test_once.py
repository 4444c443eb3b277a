"""What a search does once: its design, figures and result are made, each reward is checked, its claims are found."""

from __future__ import annotations

import pickle

import pytest

from topalpha import Result, Task, algorithms, search
from topalpha.ask_tell import Search
from topalpha.families.units import Model
from topalpha.session import Progress, Snapshots

EASY = {"alpha": 0.3, "epsilon": 0.3, "delta": 0.2, "progress": "none"}


@pytest.fixture
def counted(monkeypatch):
    """How often each of these is called."""
    calls = {}

    def count(kind, name):
        original = getattr(kind, name)

        def counting(*given, **named):
            calls[kind.__name__, name] = calls.get((kind.__name__, name), 0) + 1
            return original(*given, **named)

        monkeypatch.setattr(kind, name, counting)

    for kind, name in (
        *((Model, "check"), (Search, "claims"), (Snapshots, "__init__"), (Result, "__init__")),
        *((Task, "__post_init__"), (Progress, "__init__"), (algorithms, "design")),
    ):
        count(kind, name)
    return calls


@pytest.mark.parametrize("limit", [{}, {"pulls": 30}])
@pytest.mark.parametrize("stored", [False, True])
def test_a_search(counted, tmp_path, monkeypatch, stored, limit):
    monkeypatch.setattr("topalpha.running.drive.PERIOD", 1e9)  # nobody looks before the end
    file = {"storage": tmp_path / "searches.db"} if stored else {}
    found = search(lambda rng: rng.random(), lambda p, rng: float(rng.random() < p), **EASY, **file, **limit)
    assert counted == {
        ("Model", "check"): found.pulls,
        ("Search", "claims"): 1,
        ("Snapshots", "__init__"): 1,
        ("Result", "__init__"): 1,
        ("Task", "__post_init__"): 1,
        ("Progress", "__init__"): 1,
        ("topalpha.algorithms", "design"): 1,
    }


def test_a_pickled_task_designs_anew(counted):
    one = Task(0.3, 0.3, 0.2)
    other = pickle.loads(pickle.dumps(one))
    assert (other, other.design()) == (one, one.design())
    assert counted["topalpha.algorithms", "design"] == 2


def test_a_search_for_models(counted):
    pytest.importorskip("sklearn")
    from tests.support import records

    records.model_search(None, refit=False).fit(*records.iris())
    assert counted["Task", "__post_init__"] == counted["Snapshots", "__init__"] == counted["Result", "__init__"] == 1
