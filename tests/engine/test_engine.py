"""Every way to run an algorithm agrees bit for bit; the traps of the compiled driver; its memory and its manners."""

from __future__ import annotations

import gc
import inspect
import os
import signal
import subprocess
import sys
import threading
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import numpy as np
import pytest

import topalpha
from tests.support.marks import quick
from topalpha import engine
from topalpha.algorithms import PRINCIPAL, design
from topalpha.engine import compile as compiling
from topalpha.families import Bernoulli, Exponential, Gamma, Gaussian, Poisson
from topalpha.randomness import run_seed, streams
from topalpha.research.audit.worlds import Thirds
from topalpha.reservoirs import Beta, Conditioned, Dirac, TwoPoint, Uniform
from topalpha.rules.protocol import Traits
from topalpha.rules.sampling import query_fresh
from topalpha.simulation import simulate
from topalpha.testing import (
    Outcome,
    check_algorithm,
    check_design,
    check_family,
    check_parameters,
    check_same,
    compiled,
)

NAMES = [entry.name for entry in PRINCIPAL]
UNIT = Conditioned(Beta(1.0, 1.0), 0.95)
#: Every family with a reservoir of means and the epsilon at which a run takes hundreds of pulls.
FAMILIES = {
    "bernoulli": (Bernoulli(), UNIT, 0.2),
    "gaussian": (Gaussian(0.5), Uniform(0.0, 1.0), 0.25),
    "poisson": (Poisson(3.0), Uniform(0.2, 2.0), 0.4),
    "exponential": (Exponential(3.0), Uniform(0.2, 2.0), 0.6),
    "gamma": (Gamma(2.0, 3.0), Uniform(0.2, 2.0), 0.5),
}


#: Of kl-lucb's options, as many combinations as have each choice once.
OFTEN = [("t", "paper", "both", "all"), ("N", "tight", "least", "all"), ("t", "table", "least", "overlapping")]


def option_sets():
    """Every algorithm with every combination of its textual options that its design accepts."""
    for entry in PRINCIPAL:
        for chosen in product(*entry.options.values()):
            options = dict(zip(entry.options, chosen, strict=True))
            if options.get("clock") == "N" and options.get("refresh") == "overlapping":
                continue
            yield pytest.param(
                entry.name,
                options,
                id="-".join([entry.name, *chosen]),
                marks=() if "kt" not in chosen and (entry.name != "kl-lucb" or chosen in OFTEN) else pytest.mark.slow,
            )


@pytest.mark.parametrize(("name", "options"), list(option_sets()))
def test_every_algorithm_runs_the_same_in_every_way_on_bernoulli_rewards(name, options):
    for run, epsilon in enumerate((0.2, 0.35)):
        algorithm = design(name, 0.2, epsilon, 0.1, **options)
        assert check_algorithm(algorithm, UNIT, seed=1, run=run).t > algorithm.arms


# What families answer to rules is compared method by method elsewhere; each pair here takes seconds to compile.
@pytest.mark.slow
@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "bernoulli"])
@pytest.mark.parametrize("name", NAMES)
def test_every_family_runs_the_same_in_every_way(name, family):
    model, reservoir, epsilon = FAMILIES[family]
    for run in range(3):
        assert check_algorithm(design(name, 0.2, epsilon, 0.1, model), reservoir, seed=2, run=run).t > 10


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("family", list(FAMILIES))
def test_many_seeds_and_ties_run_the_same_in_every_way(name, family):
    model, reservoir, epsilon = FAMILIES[family]
    middle = 0.5 * (reservoir.infimum + reservoir.supremum)
    for law in (reservoir, TwoPoint(middle, middle + 1.02 * epsilon, 0.2), Dirac(middle)):
        for run in range(3):
            check_algorithm(design(name, 0.2, epsilon, 0.1, model), law, seed=3, run=run)


@pytest.mark.parametrize("name", quick(NAMES, ["joint-lucb", "cc-lucb"]))
def test_ties_of_equal_arms_run_the_same_in_every_way(name):
    check_algorithm(design(name, 0.2, 0.3, 0.1), Dirac(0.5), seed=4)


@pytest.mark.parametrize("entry", PRINCIPAL, ids=lambda entry: entry.name)
def test_designs_refuse_what_is_wrong_and_coerce_the_rest(entry):
    check_design(entry.design)
    for family, _, _ in FAMILIES.values():
        check_parameters(entry.design(0.1, 0.1, 0.1, family))
    with pytest.raises(ValueError, match=f"option of {entry.name}"):
        design(entry.name, 0.1, 0.1, 0.1, no_such_option=1)


@pytest.mark.parametrize("family", list(FAMILIES))
def test_families_conform(family):
    model, reservoir, _ = FAMILIES[family]
    check_family(model, [reservoir.lower_quantile(p) for p in (0.1, 0.5, 0.9)])


def test_conformance_checks_see_a_last_bit():
    one = Outcome(2, 1, (2,), ((0.3,),), (0.0,), 0)
    check_same(one, one, "a run and itself")
    with pytest.raises(AssertionError, match="column 0"):
        check_same(one, one._replace(stats=((0.1 + 0.2,),)), "two runs")
    with pytest.raises(AssertionError, match=r"state 0: 0\.0 and -0\.0"):
        check_same(one, one._replace(state=(-0.0,)), "two runs")


@pytest.mark.parametrize("name", NAMES)
def test_workers_and_the_number_of_runs_change_nothing(name):
    algorithm = design(name, 0.2, 0.2, 0.1)
    one = simulate(algorithm, UNIT, runs=40, seed=5, workers=1)
    four = simulate(algorithm, UNIT, runs=40, seed=5, workers=4)
    few = simulate(algorithm, UNIT, runs=7, seed=5, workers=2)
    np.testing.assert_array_equal(one.pulls, four.pulls)
    np.testing.assert_array_equal(one.means, four.means)
    np.testing.assert_array_equal(one.pulls[:7], few.pulls)
    np.testing.assert_array_equal(one.means[:7], few.means)
    assert len(set(one.pulls)) > 5, "different runs must differ"
    assert (simulate(algorithm, UNIT, runs=7, seed=6, workers=2).pulls != few.pulls).any()
    single = compiled(algorithm, UNIT, seed=5, run=3)
    assert single.t == one.pulls[3]


# A small algorithm for the traps: one pull of each arm, then `extra` pulls of the arm that `aim` names.


class Probe(NamedTuple):
    alpha: float
    epsilon: float
    delta: float
    arms: int
    family: Bernoulli
    extra: int
    aim: int
    count: int

    @property
    def traits(self):
        return Traits("probe", width=2, covered=False)

    def scratch(self, arms):
        return Nothing(ready=[0])

    def observe(self, history, memory, arm, reward):
        history.pulls[arm] += 1
        history.stats[0][arm] += reward

    def plan(self, history, memory, rng, batch):
        if history.arms < self.arms:
            return query_fresh(history.arms, self.arms, batch)
        if history.t >= self.arms + self.extra:
            return 0
        batch[0] = self.aim
        return self.count

    def recommend(self, history, memory):
        return 0


class Nothing(NamedTuple):
    ready: list


PROBE = Probe(0.1, 0.1, 0.1, arms=3, family=Bernoulli(), extra=5, aim=1, count=1)


def test_an_algorithm_of_ones_own_runs():
    assert check_algorithm(PROBE, UNIT).pulls == (1, 6, 1)
    assert simulate(PROBE, UNIT, runs=3).pulls.tolist() == [8, 8, 8]


@pytest.mark.parametrize(
    "faulty", [{"aim": -1}, {"aim": 4}, {"aim": 2**40}, {"count": -1}, {"count": 3}], ids=lambda change: str(change)
)
def test_a_faulty_plan_is_refused(faulty):
    probe = PROBE._replace(**faulty)
    with pytest.raises(RuntimeError, match="plan must name arms"):
        simulate(probe, UNIT, runs=2)
    with pytest.raises(AssertionError, match="plan must"):
        check_algorithm(probe, UNIT)


def test_an_algorithm_may_ask_for_more_arms_than_it_announced():
    assert check_algorithm(PROBE._replace(aim=3), UNIT).arms == 4


IMPORTS = """
from typing import NamedTuple
from topalpha.rules.protocol import Traits
from topalpha.families.bernoulli import Bernoulli
from topalpha.rules.sampling import query_fresh
"""


def probe_module(length):
    """The source of a module with the probe, its rule edited to stop after ``length`` pulls."""
    source = inspect.getsource(Probe)
    edited = source.replace("self.arms + self.extra", str(length))
    assert edited != source
    return "\n\n".join([IMPORTS, inspect.getsource(Nothing), edited])


SCRIPT = """
from topalpha.reservoirs import Uniform
from topalpha.simulation import simulate
from topalpha.engine.compiled_run import _loop

algorithm = Probe(0.1, 0.1, 0.1, arms=3, family=Bernoulli(), extra=0, aim=1, count=1)
print(simulate(algorithm, Uniform(0.0, 1.0), runs=2, workers=1).pulls.tolist())
print(sum(loop_hits(f) for f in [_loop((Probe, Bernoulli, Bernoulli))]))
"""

HITS = """
def loop_hits(dispatcher):
    return sum(dispatcher.stats.cache_hits.values())


"""


def run_script(path, cache):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": str(Path(topalpha.__file__).parents[1])}
    result = subprocess.run(
        [sys.executable, str(path)], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert result.returncode == 0, result.stderr
    pulls, hits = result.stdout.splitlines()
    return pulls, int(hits)


@pytest.mark.slow
def test_an_edited_rule_in_another_file_never_runs_stale(tmp_path):
    script, module = tmp_path / "script.py", tmp_path / "probe.py"
    script.write_text("from probe import Bernoulli, Probe\n" + HITS + SCRIPT)
    module.write_text(probe_module(11))
    pulls, hits = run_script(script, tmp_path / "cache")
    assert (pulls, hits) == ("[11, 11]", 0)
    pulls, hits = run_script(script, tmp_path / "cache")
    assert pulls == "[11, 11]"
    assert hits > 0, "an unchanged rule must come from the disk cache"
    module.write_text(probe_module(13))
    pulls, hits = run_script(script, tmp_path / "cache")
    assert (pulls, hits) == ("[13, 13]", 0)
    module.write_text(probe_module(15).replace("Nothing", "Emptiness"))
    pulls, hits = run_script(script, tmp_path / "cache")
    assert (pulls, hits) == ("[15, 15]", 0), "what was compiled for a class that is gone is not in the way"


@pytest.mark.slow
def test_a_class_from_main_compiles_without_the_cache(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(HITS + probe_module(9) + SCRIPT)
    for _ in range(2):
        assert run_script(script, tmp_path / "cache") == ("[9, 9]", 0)


def test_the_digest_sees_what_compiled_code_is_made_of_and_nothing_else(tmp_path, monkeypatch):
    """A package with a rule, a module of constants that it imports, and one that it does not."""
    sources = {"rule": "from topalpha.probing import constants\n", "constants": "one = 1\n", "page": "two = 2\n"}
    for name, source in sources.items():
        file = tmp_path / f"{name}.py"
        file.write_text(source)
        module = ModuleType(f"topalpha.probing.{name}")
        module.__file__ = str(file)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    rule = type("Rule", (), {"__module__": "topalpha.probing.rule"})

    def digest(**edited):
        for name, source in edited.items():
            (tmp_path / f"{name}.py").write_text(source)
        compiling._imports.cache_clear()
        return compiling._digest([rule])

    first = digest()
    assert digest(page="two = 3\n") == first
    assert digest(constants="one = 2\n") != first
    assert digest(constants="one = 1\n") == first
    assert digest(rule=sources["rule"] + "three = 3\n") != first


def test_rules_are_made_of_rules():
    """What shows and stores searches is no part of compiled code, so that an edit there compiles nothing again."""
    rules = [type(part) for part in (design("joint-lucb", 0.1, 0.1, 0.1), design("p2", 0.1, 0.1, 0.1))]
    files = compiling._files(rules)
    assert {Path(module.__file__) for module in compiling.SHARED_MODULES} <= compiling._files([NamedTuple])
    rooms = {file.relative_to(Path(topalpha.__file__).parent).parts[0] for file in files}
    assert rooms == {"algorithms", "arithmetic", "confidence", "engine", "families", "rules"}


def resident():
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
@pytest.mark.slow
@pytest.mark.parametrize("family", ["bernoulli", "poisson"])
def test_thousands_of_runs_leak_nothing(family):
    model, reservoir, epsilon = FAMILIES[family]
    algorithm = design("cc-lucb", 0.3, 2.0 * epsilon, 0.3, model)
    simulate(algorithm, reservoir, runs=4000, seed=0, workers=2)  # as many again: queues are as long as they get
    before = resident()
    study = simulate(algorithm, reservoir, runs=4000, seed=1, workers=2)
    growth = resident() - before
    # 1 kB a run would be 4 MB, 8 bytes a pull of the Poisson runs more than 2 MB
    assert growth < 2**21, f"{growth} bytes in {study.runs} runs of {study.pulls.mean()} pulls"


@pytest.mark.parametrize("name", quick(NAMES, ["cc-lucb"]))
def test_memory_grows_with_arms_not_with_pulls(name):
    algorithm = design(name, 0.1, 0.02, 0.1)
    run = engine.Run(algorithm)
    source = streams(run_seed(0, 0))
    run.add_arms(Dirac(0.5).sample(algorithm.arms, source.arms))

    def size():
        held = [run.batch, run.control, run.state, run.means, run.pulls, *run.stats, *leaves(run.memory)]
        return sum(array.nbytes for array in held)

    def leaves(memory):
        return [leaf for part in memory for leaf in (leaves(part) if isinstance(part, tuple) else [part])]

    before, resident_before = size(), None
    for budget in (1000, 50_000):
        run.advance(source.rules, source.rewards, budget)
        resident_before = resident_before or resident()
    assert run.history.t == 50_000
    assert size() == before < 200 * algorithm.arms + 10_000
    assert resident() - resident_before < 2**20


def test_importing_the_package_loads_neither_numba_nor_scipy():
    code = (
        "import sys, topalpha; assert not {'numba', 'scipy', 'numpy'} & set(sys.modules), 'import';"
        "search = topalpha.Search(topalpha.design('joint-lucb', .3, .3, .3));"
        "search.tell(search.ask(), 1.0);"
        "assert not {'numba', 'scipy'} & set(sys.modules), 'search';"
        "import topalpha.testing;"
        "assert not {'numba', 'pytest'} & set(sys.modules), 'testing'"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(topalpha.__file__).parents[1])}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, timeout=60)


def test_an_error_in_one_run_ends_the_study_soon():
    calls = []

    def progress(step):
        calls.append(step)
        if len(calls) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(design("cc-lucb", 0.2, 0.2, 0.1), UNIT, runs=5000, workers=2, progress=progress)
    assert len(calls) < 1000


def test_control_c_is_heard_while_compiled_code_runs():
    algorithm = design("cc-lucb", 0.1, 0.0001, 0.1)  # hours of work
    simulate(design("cc-lucb", 0.2, 0.2, 0.1), UNIT, runs=1)
    before = threading.active_count()
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        simulate(algorithm, Dirac(0.5), runs=4, workers=2)
    timer.join()
    assert threading.active_count() == before


def test_progress_counts_every_run():
    calls = []
    simulate(design("cc-lucb", 0.2, 0.3, 0.1), UNIT, runs=23, workers=3, progress=calls.append)
    assert calls == [1] * 23


class Coin(NamedTuple):
    """Rewards in [0, 1] that are not Bernoulli: the mean plus or minus a tenth."""

    width: float

    def sample(self, mean, rng):
        return mean + self.width * (2.0 * rng.random() - 1.0)


@pytest.mark.parametrize("world", quick([Thirds, Coin], [Thirds]))
def test_rewards_may_come_from_another_world(world):
    algorithm, rewards = design("lucb++", 0.2, 0.2, 0.1), world(0.1)
    study = simulate(algorithm, Uniform(0.1, 0.9), runs=20, seed=0, rewards=rewards)
    assert study.errors.count == 0
    assert (study.pulls != simulate(algorithm, Uniform(0.1, 0.9), runs=20, seed=0).pulls).any()
