"""The examples run, the documents for practitioners run, and the commands that they show are commands."""

import importlib.util
import json
import re
import shlex
import sys
from pathlib import Path

import pytest

from tests.support.folders import ROOT
from tests.support.marks import quick

EXAMPLES = ROOT / "examples"
DOCUMENTS = (
    *("start", "when", "choosing", "costs", "questions", "guarantee", "tutorial", "model_search", "boosting"),
    *("parallel", "minimise", "test_sets", "command_line", "reports", "ask_and_tell", "simulation"),
    *("figures", "dashboard", "trust", "recorded_tables"),
)
#: Their code runs in the test of what they print.
PRINTING = ("start", "costs", "questions")
LONG = (
    "tutorial",
    "model_search",
    "boosting",
    "figures",
    "dashboard",
    "parallel",
    "ask_and_tell",
)  # half a minute in all
FEWER_FILES = 12
TESTED = ("compression", "compression_truth", "folk_rule", "pilots", "prompt_choice", "width")


@pytest.fixture
def compression(monkeypatch, tmp_path):
    """The tutorial's module with a few small files, each packed once by each candidate; in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.delitem(sys.modules, "compression", raising=False)
    import compression

    smallest = sorted(compression.NAMES, key=lambda name: len(compression.SOURCES[name]))[:FEWER_FILES]
    monkeypatch.setattr(compression, "NAMES", smallest)
    known, saved = {}, compression.saved

    def remembered(candidate, name):
        key = (*candidate.items(), name)
        if key not in known:
            known[key] = saved(candidate, name)
        return known[key]

    monkeypatch.setattr(compression, "saved", remembered)
    yield compression
    sys.modules.pop("compression", None)


def script(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def fences(name):
    """Info string and text of every fenced block."""
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    assert text.count("\n```") % 2 == 0
    return re.findall(r"^```([^\n]*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands():
    """Every command line of these documents, in blocks and in sentences."""
    for name in DOCUMENTS:
        text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        lines = [line for info, block in fences(name) if not info for line in block.splitlines()]
        lines += re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL))
        for line in lines:
            if line.startswith("topalpha ") and "..." not in line:
                yield line


def parsed(arguments):
    """Parse without running, as far as the parameters."""
    from topalpha.cli import main

    command = main.commands[arguments[0]]
    return command.make_context(arguments[0], list(arguments[1:]))


def test_compression_script(compression, monkeypatch, capsys):
    chosen = ["--alpha", "0.2", "--epsilon", "0.1", "--delta", "0.2", "--storage", "one.db"]
    monkeypatch.setattr(sys, "argv", ["compression.py", *chosen])
    compression.main()
    printed = capsys.readouterr().out
    assert "the stopping rule was met" in printed
    assert compression.ABOUT in printed
    assert Path("one.db").exists()


def test_compressors_are_what_they_say(compression):
    """Every candidate that can be drawn packs a file into something that can be unpacked."""
    import bz2
    import lzma
    import zlib

    import numpy as np

    rng, codecs = np.random.default_rng(0), set()
    source = compression.SOURCES[compression.NAMES[0]]
    for _ in range(60):
        candidate = compression.draw(rng)
        packed = compression.compress(candidate, source)
        codecs.add(candidate["codec"])
        if candidate["codec"] == "lzma":
            bits = {key: candidate[key] for key in ("lc", "lp", "pb")}
            filters = [{"id": lzma.FILTER_LZMA2, "preset": candidate["preset"], **bits}]
            back = lzma.decompress(packed, format=lzma.FORMAT_RAW, filters=filters)
        else:
            back = (bz2 if candidate["codec"] == "bz2" else zlib).decompress(packed)
        assert back == source
        assert json.loads(json.dumps(candidate)) == candidate
    assert codecs == {"zlib", "bz2", "lzma"}


def test_the_law_of_the_truth_is_that_of_draw(compression):
    """The weights of compression_truth.py, against the frequencies of draws, group by group (chi-squared)."""
    import numpy as np
    from scipy.stats import chisquare

    truth = script("compression_truth")
    candidates, weights = truth.law()
    assert len(candidates) == len({repr(one) for one in candidates}) == 3894
    assert weights.sum() == pytest.approx(1.0)
    known = {repr(one) for one in candidates}

    def group(one):
        return (one["codec"], one["level"]) if one["codec"] != "lzma" else (one["lc"], one["lp"])

    expected = {}
    for one, weight in zip(candidates, weights, strict=True):
        expected[group(one)] = expected.get(group(one), 0.0) + weight
    rng, draws = np.random.default_rng(0), 6000
    counts = dict.fromkeys(expected, 0)
    for _ in range(draws):
        one = compression.draw(rng)
        assert repr(one) in known
        counts[group(one)] += 1
    test = chisquare(list(counts.values()), [draws * share for share in expected.values()])
    assert test.pvalue > 1e-6


def test_truth_script(compression, monkeypatch, capsys, tmp_path):
    import numpy as np

    truth = script("compression_truth")
    monkeypatch.setattr(truth, "NAMES", compression.NAMES)
    few = [({"codec": "bz2", "level": level}, 1 / 27) for level in range(1, 10)]
    monkeypatch.setattr(truth, "law", lambda: ([one for one, _ in few], np.full(9, 1 / 9)))
    np.save(tmp_path / "truth.npy", [truth.everywhere(one) for one, _ in few])
    monkeypatch.setattr(truth, "draw", lambda rng: few[int(rng.integers(9))][0])
    chosen = ["--table", "truth.npy", "--searches", "2", "--epsilon", "0.1", "--alpha", "0.3"]
    monkeypatch.setattr(sys, "argv", ["compression_truth.py", *chosen])
    monkeypatch.setattr(truth, "CODECS", ("bz2",))
    truth.main()
    assert "2 searches: 0 errors" in capsys.readouterr().out


def test_width_script(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["width.py", "--runs", "1"])
    script("width").main()
    rows = [line.replace(",", "").split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [int(row[0]) for row in rows] == [1, 4, 16, 64, 256]
    assert int(rows[0][1]) == int(rows[0][2])
    assert int(rows[-1][1]) > int(rows[0][1])
    assert int(rows[-1][2]) < int(rows[0][2])


@pytest.mark.slow
def test_pilots_script(compression, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["pilots.py", "--runs", "1"])
    script("pilots").main()
    assert len(capsys.readouterr().out.splitlines()) == 7


def test_folk_rule_is_right_with_exact_scores_and_wrong_with_noisy_ones(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["folk_rule.py", "--runs", "2000", "--searches", "0"])
    script("folk_rule").main()
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("beta(20,5)")]
    exact, fifty = (float(row[-2].rstrip("%")) for row in rows[:2])
    assert exact < 7.5 < 35.0 < fifty


@pytest.mark.slow
def test_folk_rule_beside_searches(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["folk_rule.py", "--runs", "200", "--searches", "20"])
    script("folk_rule").main()
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if "joint-lucb" in line]
    assert len(rows) == 3
    assert all(float(row[-1].rstrip("%")) <= 20.0 for row in rows)


def test_every_script_of_examples_is_tested():
    assert {path.stem for path in EXAMPLES.glob("*.py")} - {"__init__"} == set(TESTED)


def same_pictures(drawn, kept):
    """Whether the pictures of the page are those that its lines draw, up to how letters and edges are smoothed."""
    image = pytest.importorskip("matplotlib.image")
    names = sorted(path.name for path in drawn.glob("*.png"))
    assert names == sorted(path.name for path in kept.glob("*.png"))
    assert sum(path.stat().st_size for path in kept.glob("*.png")) < 600 * 1024
    for one in names:
        new, old = image.imread(drawn / one), image.imread(kept / one)
        assert new.shape == old.shape, one
        assert abs(new - old).mean() < 0.004, f"{one} is not what the page draws: python docs/figures/draw.py"


def check_the_budget(search, X, y):
    """What the page on model search says of a budget: that, and what little it proves if it is smaller yet."""
    text, claims = (ROOT / "docs" / "model_search.md").read_text(encoding="utf-8"), search.certificate_.claims
    assert search.certificate_.reason == "pulls"
    assert claims[0].alpha == search.alpha
    words = f"Here {search.n_fits_} fits do not prove {search.epsilon}. They prove {claims[0].epsilon:.2g}, and"
    assert words in text
    assert f"{search.n_candidates_} settings have no finite bounds before five fits each, and with less than" in text
    assert f"with less than {5 * search.n_candidates_} fits the statement" in text
    short = search.set_params(max_fits=5 * search.n_candidates_ - 1).fit(X, y)
    assert short.certificate_.statement.startswith("Nothing is proved.")


@pytest.mark.parametrize(
    "name",
    quick([one for one in DOCUMENTS if one not in PRINTING], [one for one in DOCUMENTS if one not in LONG + PRINTING]),
)
def test_blocks_of_python_run(name, compression, monkeypatch):
    """In order, in one namespace, with targets as printed. "needs X" in the info string: only where X is installed."""
    kinds = {info for info, _ in fences(name)}
    assert all(re.fullmatch(r"|python( needs \w+)?", kind) for kind in kinds)
    space = {"__name__": "__main__"}
    for info, block in fences(name):
        needed = info.removeprefix("python").removeprefix(" needs ")
        if not info or (needed and importlib.util.find_spec(needed) is None):
            continue
        exec(compile(block, f"docs/{name}.md", "exec"), space)
    if name == "ask_and_tell":
        assert space["certificate"].proved
    if name == "tutorial":
        assert space["early"].certificate.reason in ("pulls", "stopped")
    if name == "model_search":
        check_the_budget(space["early"], space["X"], space["y"])
    if name == "figures":
        same_pictures(Path.cwd(), ROOT / "docs" / "figures")


def test_commands_parse(compression):
    found = list(commands())
    assert len(found) >= 15
    assert {line.split()[1] for line in found} >= {"plan", "run", "resume", "show", "verify", "export", "audit"}
    for line in found:
        arguments = shlex.split(line)[1:]
        if arguments[0] in ("resume", "verify", "show") and len(arguments) == 1:
            continue  # the name of a command, in a sentence
        arguments = ["joint-lucb" if one == "NAME" else one for one in arguments]
        if len(arguments) > 1:
            parsed(arguments)


def test_negative_control_a_wrong_option_does_not_parse():
    import click

    with pytest.raises(click.NoSuchOption):
        parsed(["run", "compression.py:pull", "--alfa", "0.1"])


def test_links_lead_somewhere():
    def anchor(title):
        return re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")

    for name in DOCUMENTS:
        text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)]+)\)", text):
            if target.startswith("https:"):
                continue
            path, _, place = target.partition("#")
            file = (ROOT / "docs" / path) if path else ROOT / "docs" / f"{name}.md"
            assert file.is_file(), target
            if place:
                titles = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
                assert place in {anchor(title) for title in titles}, target


@pytest.mark.parametrize("plan", quick([False, True], [False]))
def test_tutorial_on_the_command_line(compression, plan):
    """The commands of the tutorial, one after another, with a coarse target; a plan is compiled first."""
    from topalpha.cli import main

    target = ["--alpha", "0.3", "--epsilon", "0.2", "--delta", "0.2"]
    script_file = str(EXAMPLES / "compression.py")
    Path("files.json").write_text(json.dumps(compression.NAMES), encoding="utf-8")
    run = ["run", f"{script_file}:pull", *target, "--family", "low-variance", "--progress", "none"]
    for arguments in (
        [*run, "--storage", "pilot.db", "--pulls", "60", "--seed", "1"],
        ["export", "pilot.db", "--csv", "pilot.csv"],
        *([["plan", *target, "--family", "low-variance", "--pilot", "pilot.csv", "--runs", "8"]] if plan else ()),
        [*run, "--storage", "run.db", "--pulls", "20"],
        ["resume", "run.db", "--allow-code", "--progress", "none"],
        ["show", "run.db", "--arms", "5"],
        ["verify", "run.db"],
        ["export", "run.db", "--what", "arms", "--csv", "arms.csv"],
        ["run", f"{script_file}:saves_enough", "--items", "files.json", *target, "--progress", "none"],
    ):
        assert main.main(arguments, standalone_mode=False) == 0, arguments
    costs = ["--minimise", "--family", "low-variance(0,1000)", "--alpha", "0.3", "--epsilon", "200"]
    assert main.main(["run", f"{script_file}:bytes_per_kilobyte", *costs], standalone_mode=False) == 0
    assert len(Path("arms.csv").read_text(encoding="utf-8").splitlines()) > 5


def test_what_the_readme_shows_runs(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 3
    assert len(text.splitlines()) <= 150
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {"__name__": "readme"})
    once = capsys.readouterr().out
    assert once.count("With probability at least 0.95") == 3
    again = {"__name__": "readme"}
    exec(compile(blocks[1], "README.md", "exec"), again)  # as its words say
    assert capsys.readouterr().out.strip() == str(again["result"])
    assert str(again["result"]) in once
