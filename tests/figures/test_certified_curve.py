"""The curve of what is proved: it is what the certificate claims."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from tests.support.drawn_searches import EASY, NAMES, draw, look, points, pull, run
from tests.support.pictures import faults
from topalpha import Certificate, Refuted, Search, design, search
from topalpha.figures import KINDS, claims_curve, intervals, new_axes, pulls, race
from topalpha.figures.style import PROVED
from topalpha.standing import standing, timeline
from topalpha.storage import Storage, read


@pytest.mark.parametrize("name", NAMES)
def test_the_curve_is_what_the_certificate_claims(file, name):
    now = standing(file, name)
    axes = claims_curve(file, name, axes=new_axes())
    np.testing.assert_array_equal(points(axes, PROVED), np.array(now.certificate.claims))
    steps = look(axes, PROVED)
    assert steps.get_drawstyle() == "steps-post"
    assert steps.get_xydata()[-1].tolist() == [1.0, now.claims[-1].epsilon]
    target = next(line for line in axes.lines if line.get_marker() == "*")
    assert target.get_xydata().tolist() == [[now.alpha, now.epsilon]]


@pytest.mark.parametrize("alpha", [0.3, 0.21, 0.007])
def test_the_target_s_alpha_is_a_tick_of_the_curve(alpha):
    found = search(draw, pull, **EASY | {"alpha": alpha, "epsilon": 0.6}, algorithm="cc-lucb")
    axes = claims_curve(found, axes=new_axes())
    labels = {tick: label.get_text() for tick, label in zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)}
    assert labels[alpha] == f"{100 * alpha:g}%"
    assert labels[1.0] == "100%"
    assert faults(axes) == []


def test_wide_letters_in_a_title_are_not_cut(file):
    for name in ("W" * 150, "M m W w " * 20, "探" * 90, "i" * 200):
        axes = pulls(replace(standing(file, "stopped"), name=name), axes=new_axes())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            assert faults(axes) == []


def test_a_leader_that_least_is_proved_of_is_told(file):
    now = standing(file, "early")
    other = next(arm for arm in range(now.drawn) if arm != now.leader)
    for function, source in ((intervals, replace(now, about=other)), (pulls, replace(now, about=other))):
        labels = [text.get_text() for text in function(source, axes=new_axes()).get_legend().get_texts()]
        assert f"the leader, arm {now.leader} (most is proved of arm {other})" in labels
    moments = timeline(file, "early", arms=3)
    moments[-1] = replace(moments[-1], about=other)
    labels = [text.get_text() for text in race(moments, axes=new_axes()).get_legend().get_texts()]
    assert f"mean of the leader (arm {now.leader} at the end) (most is proved of arm {other})" in labels
    same = replace(now, about=now.leader)
    assert not any("most is" in text.get_text() for text in intervals(same, axes=new_axes()).get_legend().get_texts())


def test_without_a_proof_there_is_no_curve():
    found = Search(design("cc-lucb", 0.3, 0.3, 0.2))
    found.tell(found.ask(), 1.0)
    with pytest.raises(
        ValueError, match=r"^source must come from a search that has proved something, got 'it is still run"
    ):
        claims_curve(found, axes=new_axes())


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "difference"])
@pytest.mark.parametrize(
    ("change", "entry"),
    [
        ({"claims": [{"alpha": 0.001, "epsilon": 0.001}]}, "claims"),
        ({"claims": [{"alpha": 0.2, "beta": 1}]}, "claims"),
        ({"arm": 0}, "arm"),
        ({"more": 1}, "more"),
    ],
)
def test_a_certificate_that_was_altered_is_refused(file, tmp_path, kind, change, entry):
    found = read(file, "stopped").certificate
    assert found["arm"] != 0
    forged = tmp_path / "forged.db"
    forged.write_bytes(file.read_bytes())
    with Storage(forged) as storage:
        storage.open("stopped").finish("stopped", found | change)
    outcome = run("figure", forged, "--name", "stopped", "--kind", kind, "-o", tmp_path / "x.png")
    assert outcome.exit_code == 1
    assert outcome.output.startswith(f"topalpha: NOT verified: {entry} must be what the record bears out, got ")
    assert not (tmp_path / "x.png").exists()
    with pytest.raises(Refuted, match=f"^{entry} must"):
        KINDS[kind](forged, "stopped", axes=new_axes())


def test_a_claim_that_is_none_is_refused(file):
    found = read(file, "stopped").certificate
    for wrong in (None, {"alpha": 0.1}, {"alpha": 0.1, "beta": 0.1}, 3):
        with pytest.raises(ValueError, match=r"^claim must have exactly the entries alpha, epsilon, got "):
            Certificate.from_dict(found | {"claims": [wrong]})
