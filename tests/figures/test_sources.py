"""What can be drawn: results, files, files that are being written; other things are refused."""

from __future__ import annotations

import pytest

from tests.support.pictures import faults
from topalpha import Session, Task, select
from topalpha.figures import KINDS, intervals, new_axes, pulls, race


@pytest.mark.slow
def test_a_file_that_is_being_written_a_choice_and_a_single_reward(tmp_path):
    path = tmp_path / "running.db"
    with Session.start(Task(0.2, 0.2, 0.1, algorithm="cc-lucb"), storage=path, name="$x_1 <script>") as session:
        for function in (pulls, intervals, race):
            with pytest.raises(ValueError, match=r"^source must hold at least one reward, got 0$"):
                function(path, axes=new_axes())
        for one in session.ask_many(9):
            session.keep(one.arm, one.arm)
            if one.arm < 7:
                session.tell(one, one.arm / 8.0)
                for function in (pulls, intervals, race):
                    axes = function(path, axes=new_axes())
                    assert "$x_1 <script>" in axes.get_title(loc="left")
                    assert faults(axes) == [], "the name is no mathematics"
    chosen = select([2, 3, 5, 7], range(1, 31), lambda divisor, number: number % divisor == 0, epsilon=0.1)
    for function in KINDS.values():
        assert faults(function(chosen, axes=new_axes())) == []


@pytest.mark.parametrize("kind", KINDS)
def test_other_sources_are_refused(kind, tmp_path):
    with pytest.raises(ValueError, match=r"^source must be a Result, .*, got 3$"):
        KINDS[kind](3, axes=new_axes())
    with pytest.raises(ValueError, match=r"^path must exist, got "):
        KINDS[kind](tmp_path / "nowhere.db", axes=new_axes())
