"""The command line: fields, codes, sentences, and that nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

from tests.support.folders import DATA
from topalpha.algorithms import ALGORITHMS
from topalpha.cli import main
from topalpha.families import MODELS

COMMANDS = (
    "demo",
    "plan",
    "run",
    "resume",
    "show",
    "verify",
    "scores",
    "simulate",
    "table1",
    "bounds",
    "audit",
    "list",
)
CHEAP = ("--alpha", ".2", "--epsilon", ".3", "--delta", ".2", "--runs", "5", "--workers", "2")
FIELDS = {
    *("algorithm", "family", "reservoir", "alpha", "epsilon", "delta", "runs", "arms", "errors", "errors_alpha"),
    *("regret", "pulls", "seconds", "pulls_per_second"),
}


def call(*arguments: str, code: int = 0):
    result = CliRunner().invoke(main, list(arguments))
    assert result.exit_code == code, (result.output, result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


def refused(*arguments: str) -> str:
    """The one sentence on stderr with which the command line refuses, with code 2 and nothing on stdout."""
    result = call(*arguments, code=2)
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("topalpha: ")
    return line.removeprefix("topalpha: ")


def spawn(*arguments: str, code="from topalpha.cli import main; main(prog_name='topalpha')") -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def assert_study(fields: dict) -> None:
    assert set(fields) >= FIELDS
    for name in ("errors", "errors_alpha"):
        assert set(fields[name]) == {"count", "rate", "interval"}
        low, high = fields[name]["interval"]
        assert 0.0 <= low <= fields[name]["rate"] <= high <= 1.0
    assert set(fields["regret"]) == {"mean", "stderr"}
    assert set(fields["pulls"]) == {"mean", "stderr", "median", "p90"}
    assert fields["errors"]["count"] <= fields["errors_alpha"]["count"]


def test_simulate_prints_every_field_and_nothing_else():
    result = call(
        *("simulate", "--algorithm", "cc-lucb", "--family", "bernoulli", "--reservoir", "beta(1,2)"),
        *("--at-most", "0.95", "--alpha", ".05", "--epsilon", ".05", "--delta", ".05"),
        *("--runs", "20", "--seed", "0", "--workers", "2", "--json", "-"),
    )
    fields = json.loads(result.stdout)
    assert_study(fields)
    assert result.stderr == ""
    assert (fields["algorithm"], fields["family"], fields["runs"]) == ("cc-lucb", "bernoulli", 20)
    assert fields["reservoir"] == "conditioned(beta(1,2),0.95)"


def test_simulate_does_not_depend_on_workers_and_writes_a_file_that_is_whole(tmp_path):
    studies = []
    for workers in ("1", "4"):
        target = tmp_path / f"{workers}.json"
        arguments = ("--reservoir", "beta(1,1)", *CHEAP[:-1], workers, "--seed", "3", "--json", str(target))
        result = call("simulate", "--algorithm", "lucb++", *arguments)
        assert "lucb++" in result.stdout
        studies.append({k: v for k, v in json.loads(target.read_text()).items() if "second" not in k})
    assert studies[0] == studies[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.json", "4.json"]


def test_simulate_runs_the_default_algorithm():
    fields = json.loads(call("simulate", "--reservoir", "uniform(0,1)", *CHEAP, "--json", "-").stdout)
    assert fields["algorithm"] == "joint-lucb"


def test_options_reach_the_algorithm():
    arguments = ("--algorithm", "kl-lucb", "--reservoir", "beta(1,1)", *CHEAP, "--json", "-")
    fields = json.loads(call("simulate", *arguments, "--option", "arms=table", "--option", "gamma=1.2").stdout)
    assert fields["arms"] == 9
    assert fields["options"] == {"arms": "table", "gamma": 1.2}


def test_table1_has_a_row_per_algorithm_with_the_papers_figures():
    result = call("table1", "--runs", "2", "--rows", "11,12", "--algorithms", "lucb++,kl-lucb", "--json", "-")
    results = json.loads(result.stdout)
    assert [(one["row"], one["algorithm"]) for one in results["rows"]] == [
        *((11, "lucb++"), (11, "kl-lucb"), (12, "lucb++"), (12, "kl-lucb")),
    ]
    for one in results["rows"]:
        assert_study(one)
        assert set(one["paper"]) == {"effective_alpha", "errors", "regret", "pulls"}
        assert one["paper"]["pulls"] >= 1000.0
        assert 0.0 < one["true_measure"] < 1.0
    (ratio,) = results["ratios"]
    assert ratio["geometric_mean"] >= ratio["least"] > 0.0


def test_table1_is_readable():
    output = call(
        *("table1", "--runs", "1", "--rows", "11", "--algorithms", "kl-lucb,lucb++", "--option", "kl-lucb:arms=table")
    ).stdout
    for words in ("Beta(1,", "effective α", "measure", "paper", "geometric mean"):
        assert words in output


def test_bounds_gives_values_or_reasons():
    found = json.loads(call("bounds", "--reservoir", "beta(1,1)", "--at-most", ".95", "--json", "-").stdout)
    assert found["arms"]["paper"] == 74
    assert found["bounds"]["lower_bound"]["value"] == pytest.approx(141.628086)
    assert found["bounds"]["lower_bound"]["void"] is False
    assert len(found["partition"]) == 21
    void = json.loads(call("bounds", "--reservoir", "dirac(.5)", "--json", "-").stdout)["bounds"]
    assert void["lower_bound"]["void"] is True
    assert "atoms" in void["lower_bound"]["reason"]
    assert "void: " in call("bounds", "--reservoir", "dirac(.5)").stdout


@pytest.fixture
def small_audit(monkeypatch):
    """An audit of two cells, a control and a comparison, all of the algorithm that compiles fastest."""
    from topalpha.research import audit
    from topalpha.research.audit import replay, survival

    named = lambda cells: [one for one in cells if one.algorithm.traits.name == "lucb++"]  # noqa: E731
    sound, wrong = named(audit.cells())[3:5], named(audit.controls())[:1]
    pairs = [pair for pair in replay.matrix() if pair[0].traits.name == "lucb++"][:1]
    monkeypatch.setattr("topalpha.research.audit.cells", lambda full: sound)
    monkeypatch.setattr("topalpha.research.audit.controls", lambda: wrong)
    monkeypatch.setattr("topalpha.research.audit.replay.matrix", lambda full: pairs)
    survived = survival.Survival("cc-lucb", "threads", 0, kills=1, pulls=900, repeated=1, difference="")
    monkeypatch.setattr("topalpha.research.audit.survival.survive", lambda *chosen, **more: survived)
    return sound, wrong


def test_audit_passes_sound_algorithms_and_finds_the_control_out(small_audit):
    found = json.loads(call("audit", "--runs", "50", "--json", "-").stdout)
    assert found["passed"] is True
    assert [one["verdict"] for one in found["cells"]] == ["compatible", "compatible"]
    assert [one["verdict"] for one in found["controls"]] == ["NOT compatible"]
    assert found["false_alarm_at_most"] == pytest.approx(2e-6)
    assert all(one["identical"] for one in found["equality"])
    assert found["survival"][0]["kills"] == 1
    assert "All checks passed" in call("audit", "--runs", "50").stdout


def test_audit_fails_if_a_control_passes_or_a_guarantee_is_broken(small_audit, monkeypatch):
    sound, wrong = small_audit
    monkeypatch.setattr("topalpha.research.audit.controls", lambda: [sound[0]._replace(control="not wrong at all")])
    assert json.loads(call("audit", "--runs", "50", "--json", "-", code=1).stdout)["passed"] is False
    monkeypatch.setattr("topalpha.research.audit.controls", lambda: [])
    monkeypatch.setattr("topalpha.research.audit.cells", lambda full: [wrong[0]._replace(control="")])
    assert "NOT all checks passed" in call("audit", "--runs", "300", code=1).stdout


def test_equality_sees_a_difference(small_audit, monkeypatch):
    from topalpha import design
    from topalpha.research import audit
    from topalpha.reservoirs import parse
    from topalpha.testing import algorithms

    algorithm, law = design("lucb++", 0.2, 0.3, 0.2), parse("beta(1,1)")
    same = audit.equality(algorithm, law, 0)
    assert same.identical
    assert same.pulls > algorithm.arms
    compiled = algorithms.compiled
    monkeypatch.setattr(algorithms, "compiled", lambda a, r, seed, *rest, **more: compiled(a, r, 1, *rest, **more))
    different = audit.equality(algorithm, law, 0)
    assert not different.identical
    assert different.pulls is None
    assert different.difference.startswith("interpreted and compiled differ in t: ")
    output = call("audit", "--runs", "50", code=1).stdout
    assert "0 of 1 bit-identical" in output
    assert "interpreted and compiled differ in t: " in output


def test_list_knows_every_algorithm():
    found = json.loads(call("list", "--json", "-").stdout)
    assert [one["name"] for one in found["algorithms"]] == [one.name for one in ALGORITHMS]
    output = call("list").stdout
    for words in ("joint-lucb", "clock=t (or N)", "stop with a proof", "gaussian", "two-point(low,high,p)"):
        assert words in output


def test_demo_ends_in_a_statement(tmp_path):
    process = spawn("demo", "--seed", "1", "--json", tmp_path / "demo.json")
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert errors == ""
    results = json.loads((tmp_path / "demo.json").read_text())
    assert results["statement"].startswith("With probability at least 0.95")
    assert results["paper"]["pulls"] > results["pulls"]
    for word in ("Found", "Proved", "Spent", "Compared", "Revealed"):
        assert word in output
    assert f", candidate {results['arm']} is within 0.05" in output


@pytest.mark.slow
def test_demo_does_not_need_the_compiler():
    code = (
        "import sys; from topalpha.cli import main; main(['demo', '--json', '-'], standalone_mode=False);"
        "sys.exit('numba' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.returncode == 0
    assert json.loads(found.stdout)["statement"].startswith("With probability at least 0.95")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--alpha", "2"), "alpha must lie strictly between 0 and 1, got 2.0"),
        (("--alpha", "nan"), "alpha must be a real number, got 'nan'"),
        (("--epsilon", "0"), "epsilon must be positive and finite, got 0.0"),
        (("--epsilon", "x"), "epsilon must be a real number, got 'x'"),
        (("--delta", "1"), "delta must lie strictly between 0 and 1, got 1.0"),
        (("--runs", "0"), "runs must be a whole number of at least 1, got 0"),
        (("--runs", "1.5"), "runs must be a whole number of at least 1, got '1.5'"),
        (("--seed", "-1"), "seed must be a whole number of at least 0, got -1"),
        (("--workers", "0"), "workers must be a whole number of at least 1, got 0"),
        (
            ("--family", "laplace"),
            f"family must be one of {', '.join(MODELS)}, got 'laplace'",
        ),
        (("--family", "gamma"), "family must give its shape, got 'gamma'"),
        (
            ("--reservoir", "uniform(0,2)"),
            "reservoir must have means between 0 and 1 for bernoulli, got 'uniform(0,2)'",
        ),
        (("--option", "speed=9"), "option of lucb++ must be one of none, got 'speed'"),
        (("--at-most", ".5", "--clip", ".6"), "clip must be left out when at_most is given, got 0.6"),
    ],
)
def test_bad_input_gets_one_sentence(arguments, sentence):
    assert refused("simulate", "--algorithm", "lucb++", "--reservoir", "beta(1,1)", *arguments) == sentence


@pytest.mark.parametrize(
    "reservoir",
    ["beta(1", "gauss(0,1)", "beta(1,1))", "beta(-1,1)", "discrete()", "two-point(.5,.2)", "", "beta(1,1)?"],
)
def test_malformed_reservoirs_are_refused(reservoir):
    assert " must " in refused("simulate", "--reservoir", reservoir)


def test_other_bad_input_gets_one_sentence():
    assert refused("simulate", "--reservoir", "beta(1,1)", "--algorithm", "ucb").startswith("algorithm must be one of ")
    choice = ("--reservoir", "beta(1,1)", "--algorithm", "kl-lucb", "--option")
    assert refused("simulate", *choice, "clock=s") == "clock must be one of t, N, got 's'"
    assert refused("simulate", *choice, "clock") == "option must be written name=value, got 'clock'"
    assert refused("simulate", *choice, "gamma=fast") == "gamma must be a real number, got 'fast'"
    assert refused("table1", "--rows", "0-3").startswith("rows must be numbers and ranges within 1 to 36")
    assert refused("table1", "--algorithms", "kl-lucb,ucb").startswith("algorithm must be one of ")
    assert refused("table1", "--option", "speed=9").startswith("option must belong to one of ")
    assert "gamma must" in refused("bounds", "--reservoir", "beta(1,1)", "--gamma", "1")
    assert "--reservoir" in refused("simulate")
    assert "--nonsense" in refused("simulate", "--nonsense")
    assert "nonsense" in refused("nonsense")


def test_an_unwritable_file_is_refused_before_the_work(tmp_path):
    long = ("--reservoir", "beta(1,1)", "--epsilon", ".001", "--runs", "1000000")
    file = tmp_path / "file"
    file.touch()
    for target in (tmp_path / "missing" / "out.json", tmp_path, file / "out.json"):
        assert refused("simulate", *long, "--json", str(target)).startswith("json must name a file that can be written")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_failed_run_leaves_the_old_file_alone(tmp_path, monkeypatch):
    target = tmp_path / "out.json"
    target.write_text("old")

    def fail(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("topalpha.simulation.simulate", fail)
    result = call("simulate", "--reservoir", "beta(1,1)", "--json", str(target), code=130)
    assert result.stderr == "topalpha: interrupted\n"
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


# Numba is loaded first: an interrupt while compiled modules initialise may become another error.
WATCHED = """
import topalpha.engine
from topalpha.cli import main
from topalpha.simulation import Experiment
run = Experiment.run
def first(*arguments):
    Experiment.run = run
    print("running", flush=True)
    return run(*arguments)
Experiment.run = first
main(prog_name="topalpha")
"""


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_interrupt_gives_code_130_and_one_line():
    long = ("--algorithm", "lucb++", "--reservoir", "beta(1,1)", "--epsilon", ".001", "--runs", "100000")
    process = spawn("simulate", *long, "--workers", "1", code=WATCHED)
    assert process.stdout.readline() == "running\n"
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output, errors) == (130, "", "topalpha: interrupted\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_json(command):
    output = call(command, "--help").stdout
    assert "--json" in output
    assert command in call("--help").stdout


def test_help_imports_nothing_heavy():
    heavy = "print([name for name in ('numpy', 'scipy', 'numba', 'rich') if name in sys.modules])"
    code = f"import sys; from topalpha.cli import main; main(['simulate', '--help'], standalone_mode=False); {heavy}"
    output, _ = spawn(code=code).communicate()
    assert output.startswith("Usage: ")
    assert output.splitlines()[-1] == "[]"


def test_a_reader_that_leaves_is_no_traceback():
    with spawn("list") as process:
        process.stdout.close()
        assert "Traceback" not in process.stderr.read()


def test_the_table_that_is_shipped_is_the_papers():
    here = DATA / "table1.csv"
    from importlib.resources import files

    assert files("topalpha.research").joinpath("data/table1.csv").read_text() == here.read_text()
