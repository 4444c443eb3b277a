"""The rules of earlier versions: whole, apart from today's, and on the record."""

import math
import pickle
import sys
from dataclasses import replace

import pytest

from topalpha import Task, parse_reservoir, search, simulate
from topalpha.former_rules import ROOMS, RULES, SUBSTITUTES, restated, rules_module
from topalpha.storage import Storage, read


def draw(rng):
    return rng.random()


def pull(candidate, rng):
    return float(rng.random() < candidate)


def former_modules():
    """All modules of rules 1 that algorithms need."""
    rules_module(1, "algorithms")
    return {name: module for name, module in sys.modules.items() if name.startswith("topalpha.former_rules.rules1.")}


def test_former_rules_are_whole_and_apart():
    """Nothing that today's rooms define is in them, so that no change of a rule reaches them unseen."""
    modules = former_modules()
    assert len(modules) > 70
    today = tuple(f"topalpha.{room}" for room in ROOMS)
    strangers = {
        f"{name}.{key}"
        for name, module in modules.items()
        for key, value in vars(module).items()
        if (getattr(value, "__module__", None) or "").startswith(today)
    }
    assert strangers == set()
    assert modules["topalpha.former_rules.rules1.families.bernoulli"].log is math.log
    assert rules_module(2, "families").Bernoulli is not rules_module(1, "families").Bernoulli


def test_substitutes_offer_what_the_modules_in_whose_place_they_stand_do():
    for rules, table in SUBSTITUTES.items():
        for name in table:
            assert set(rules_module(RULES, name).__all__) - {"elementary"} == set(rules_module(rules, name).__all__)


def test_the_number_of_the_rules_is_on_record(tmp_path):
    path = tmp_path / "one.db"
    search(draw, pull, alpha=0.3, epsilon=0.3, delta=0.2, storage=path, progress="none")
    assert read(path).config["task"]["rules"] == RULES
    assert Task.from_dict({"alpha": 0.3, "epsilon": 0.3, "delta": 0.2}).rules == 1, "records had none at first"
    former = Task(0.3, 0.3, 0.2, rules=1)
    assert "rules" not in former.to_dict()
    assert Task.from_dict(former.to_dict()) == former


@pytest.mark.parametrize("wrong", [0, RULES + 1, "2", None, True, 1.0])
def test_rules_of_no_version_are_refused(wrong):
    with pytest.raises(ValueError, match=rf"^rules must be a whole number from 1 to {RULES}, or topalpha newer, got "):
        Task(0.3, 0.3, 0.2, rules=wrong)


def test_tasks_and_designs_of_former_rules_can_be_pickled():
    for rules in (1, RULES):
        task = Task(0.3, 0.3, 0.2, algorithm="cc-lucb", rules=rules)
        again = pickle.loads(pickle.dumps(task))
        assert again == task
        assert type(pickle.loads(pickle.dumps(task.design()))) is type(again.design())


def test_a_design_is_restated_with_its_parts():
    today = Task(0.3, 0.3, 0.2, algorithm="joint-lucb").design()
    former = restated(today, 1)
    assert tuple(former) == tuple(today)
    assert type(former.evidence.family).__module__ == "topalpha.former_rules.rules1.families.bernoulli"
    assert restated(today, RULES) is today
    assert restated(former, 1) is former


def test_records_of_later_rules_are_refused(tmp_path):
    """As a later version will write them."""
    path = tmp_path / "one.db"
    task = Task(0.3, 0.3, 0.2).to_dict() | {"rules": RULES + 1}
    with Storage(path) as storage:
        storage.create("later", {"task": task, "version": "9", "code": None})
    with pytest.raises(
        ValueError,
        match=rf"rules must be a whole number from 1 to {RULES}, or topalpha newer, got {RULES + 1}",
    ):
        Task.from_dict(read(path).config["task"])


def test_rules_do_not_make_other_tasks_equal():
    assert replace(Task(0.3, 0.3, 0.2), rules=1) != Task(0.3, 0.3, 0.2)


def test_former_rules_are_not_compiled():
    with pytest.raises(ValueError, match=r"^algorithm must be of today's rules to be compiled"):
        simulate(Task(0.3, 0.3, 0.2, algorithm="cc-lucb", rules=1).design(), parse_reservoir("beta(1,2)"), runs=1)
