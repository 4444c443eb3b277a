"""Calls with a wrong argument name the right one, or say what to write."""

import asyncio

import pytest
from click.testing import CliRunner

import topalpha
from topalpha.cli import main

ASYNC = {"asearch", "aselect", "aresume"}


def call(name, **wrong):
    function = getattr(topalpha, name)
    places = {"Task": (0.1, 0.1, 0.1), "select": ([1], [1], max), "aselect": ([1], [1], max)}.get(name, ([1], max))
    places = ("nowhere.db", [1], max) if name in ("resume", "aresume") else places
    found = function(*places, **wrong)
    return asyncio.run(found) if name in ASYNC else found


@pytest.mark.parametrize("name", ["search", "asearch", "Task"])
def test_minimize_is_spelt_minimise(name):
    with pytest.raises(TypeError, match="'minimize'; did you mean minimise\\?"):
        call(name, minimize=True)
    assert (
        topalpha.search([1, 2], lambda one: one / 4, minimise=True, alpha=0.5, epsilon=0.3, progress="none").candidate
        == 1
    )


@pytest.mark.parametrize("word", ["maximize", "maximise"])
@pytest.mark.parametrize("name", ["search", "select"])
def test_nobody_who_maximises_is_told_to_minimise(name, word):
    with pytest.raises(TypeError, match=f"'{word}'; large values are good unless something else is said$"):
        call(name, **{word: True})


@pytest.mark.parametrize("word", ["minimize", "minimise"])
@pytest.mark.parametrize("name", ["select", "aselect"])
def test_what_passes_is_said_by_evaluate(name, word):
    with pytest.raises(TypeError, match=f"'{word}'; evaluate says what passes, and can say the opposite: return not"):
        call(name, **{word: True})


def test_scorers_turn_costs_around():
    pytest.importorskip("sklearn")
    from sklearn.base import clone
    from sklearn.svm import SVC

    from topalpha.sklearn import TopAlphaSearchCV

    with pytest.raises(TypeError, match=r"'minimize'; large scores are good: for a cost take scoring='neg_\.\.\.'"):
        TopAlphaSearchCV(SVC(), {}, minimize=True)
    with pytest.raises(TypeError, match=r"'n_iter'; how many settings .* max_fits="):
        TopAlphaSearchCV(SVC(), {}, n_iter=60)
    with pytest.raises(TypeError, match=r"'cv'; each fit has a random split .* test_size="):
        TopAlphaSearchCV(SVC(), {}, cv=5)
    with pytest.raises(TypeError, match=r"'n_job'; did you mean n_jobs\?"):
        TopAlphaSearchCV(SVC(), {}, n_job=2)
    assert clone(TopAlphaSearchCV(SVC(), {}, n_jobs=2)).get_params()["n_jobs"] == 2


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        *((name, "max_workers", "workers") for name in ("search", "asearch", "select", "aselect", "resume", "aresume")),
        ("search", "epsilonn", "epsilon"),
        ("asearch", "stroage", "storage"),
        ("Task", "algorithms", "algorithm"),
    ],
)
def test_other_names_are_suggested_too(name, wrong, right):
    with pytest.raises(TypeError, match=rf"unexpected keyword argument '{wrong}'; did you mean {right}\?"):
        call(name, **{wrong: 1})


def test_a_name_that_is_like_no_other_is_refused_all_the_same():
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'zzz'$"):
        call("search", zzz=1)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'n_jobs'$"):  # and not: did you mean on_lost?
        call("search", n_jobs=1)


@pytest.mark.parametrize("command", [["run", "x.py:f"], ["plan"]])
def test_the_command_line_suggests_as_well(command):
    outcome = CliRunner().invoke(main, [*command, "--minimize"])
    assert outcome.exit_code == 2
    assert "--minimise" in outcome.stderr
