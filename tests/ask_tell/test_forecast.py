"""The estimate of the pulls left: searches whose stop is known, and where there is no estimate."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.support import records
from topalpha import Refuted, Search, Task, design, verify
from topalpha.ask_tell import stand
from topalpha.ask_tell.forecast import BOUNDS, Arms, forecast, until_they_meet
from topalpha.session.verification import confirmed
from topalpha.standing import timeline
from topalpha.storage import read


def arms(*rows):
    return Arms(*map(np.array, zip(*rows, strict=True)))


LEADER = arms((100.0, 0.8, 0.7, 0.9))


def steady(task, means):
    """A search in which every reward is its arm's mean, so that means are what they look like."""
    search = Search(task.design(), model=task.model)
    while (pull := search.ask()) is not None:
        search.tell(pull, means[pull.arm % len(means)])
    return search


@pytest.mark.parametrize("minimise", [False, True])
@pytest.mark.parametrize("algorithm", ["cc-lucb", "lucb++", "kl-lucb"])
def test_without_noise_the_bounds_meet_when_they_are_said_to(algorithm, minimise):
    sign = -1.0 if minimise else 1.0
    task = Task(0.2, 0.2, 0.1, family="gaussian(1)", algorithm=algorithm, minimise=minimise)
    search = steady(task, [sign * mean for mean in (1.0, 0.6, 0.3, 0.8, 0.0)])
    whole = search.history.t
    ratios = []
    for now in timeline(search, points=20)[7:-1]:
        figures = (now.pulls.astype(float), sign * now.mean, *sorted_ends(now, sign))
        own = now.leader
        others = np.arange(now.drawn) != own
        leader, rivals = (Arms(*(column[some] for column in figures)) for some in ([own], others))
        ratios.append(until_they_meet(leader, rivals, now.epsilon) / (whole - now.total))
    assert 0.75 < np.median(ratios) < 1.35, ratios


def sorted_ends(now, sign):
    return (now.lower, now.upper) if sign > 0.0 else (-now.upper, -now.lower)


def test_a_perfect_rival_leaves_it_to_the_leader():
    """Its bound does not come down: the leader's must go up to it, alone."""
    one = arms((20.0, 1.0, 0.6, 1.0))
    pulls = until_they_meet(one, arms((5.0, 1.0, 0.2, 1.0)), 0.1)
    assert pulls == pytest.approx(20.0 * (0.4 / 0.1) ** 2 - 20.0, rel=1e-6)


def test_a_test_set_ends_when_all_is_known():
    rival = arms((100.0, 0.75, 0.6, 0.95))
    endless, finite = (until_they_meet(LEADER, rival, 0.1, most=most) for most in (math.inf, 200))
    assert finite < endless
    assert finite < 200


def test_there_is_no_estimate_where_there_is_nothing_to_go_by():
    wide = arms((100.0, 0.5, 0.0, math.inf))
    assert until_they_meet(LEADER, wide, 0.1) == math.inf
    assert forecast(500, LEADER, wide, 0.1, math.inf, math.inf, joined=False) is None
    # A rival that looks more than epsilon better never falls under the leader's line.
    assert until_they_meet(LEADER, arms((10.0, 0.95, 0.6, 1.0)), 0.1) == math.inf
    for name in ("p2", "glr"):
        search = Search(design(name, 0.3, 0.3, 0.2))
        search.tell_many([(pull, float(pull.arm % 2)) for pull in search.ask_many(40)])
        assert stand(search).left is None


def test_it_is_shown_only_in_the_middle():
    rivals = arms(*[(100.0, 0.7, 0.5, 0.95)] * 9)
    found = {total: forecast(total, LEADER, rivals, 0.1, 0.25, math.inf, joined=False) for total in (300, 1000, 90000)}
    assert found[300] is None, "too early"
    assert BOUNDS.least * 1000 <= found[1000] <= BOUNDS.most * 1000
    assert found[90000] is None, "too late"


def test_once_it_has_stopped_there_are_none_left():
    search = steady(Task(0.3, 0.3, 0.2, algorithm="cc-lucb"), [1.0, 0.0])
    now = stand(search)
    assert (now.left, now.evidence) == (0, 1.0)
    assert stand(search, proved=False).left == 0


def test_what_an_earlier_version_estimated_is_verified_as_it_was(tmp_path):
    path = records.unpacked(tmp_path, "0.2.0.db")
    for name, left in (("early", 37), ("poisson", 3331), ("list", 24)):
        recording = read(path, name)
        assert recording.progress["left"] == left
        assert verify(path, name).pulls == recording.progress["pulls"]
        with pytest.raises(Refuted, match="left of the progress must be what the record bears out"):
            confirmed(replace(recording, progress=recording.progress | {"left": left + 1}))
