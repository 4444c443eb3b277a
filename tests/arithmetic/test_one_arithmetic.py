"""Decisions do not depend on the C library: no rule calls it, and no compiled rule fuses a product with a sum."""

import ast
import math
import re
from pathlib import Path

import numpy as np
import pytest

import topalpha
from tests.support.nudging import BORROWED, nudged
from topalpha import design, parse_reservoir
from topalpha.arithmetic import elementary
from topalpha.ask_tell import Search, Task
from topalpha.engine import Run, compiled_run
from topalpha.engine.compile import compiled, parameter_classes
from topalpha.former_rules import ROOMS

ROOT = Path(topalpha.__file__).parent
#: What IEEE 754 or Python itself makes the same everywhere; ``fsum`` rounds once.
EXACT = {
    *(
        "ceil",
        "copysign",
        "e",
        "floor",
        "fsum",
        "inf",
        "isfinite",
        "isinf",
        "isnan",
        "isqrt",
        "nan",
        "nextafter",
        "pi",
        "sqrt",
        "ulp",
    ),
    *("frexp", "ldexp", "comb", "perm"),
}
#: NumPy's laws whose draws take logarithms, and the algorithms that draw from them: their records are not covered.
DRAWS = {"beta", "standard_exponential"}
DRAWING = {"posterior.py", "ttts.py", "d_ttts.py", "weighted_rows.py"}
#: Powers of whole numbers, which Python computes exactly.
WHOLE = {"(largest + 2) ** 2", "eta ** (largest + 1)", "ratio ** bracket", "self.eta ** bracket", "self.eta ** stage"}


def borrowed(tree):
    """Names from the C library: functions of ``math`` but the exact ones, SciPy, and powers that are not whole."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "math":
            if node.attr not in EXACT:
                yield node.attr
        elif isinstance(node, ast.ImportFrom) and node.module == "math":
            yield from {alias.name for alias in node.names} - EXACT
        elif isinstance(node, ast.ImportFrom | ast.Import):
            names = [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
            yield from (name for name in names if name.split(".")[0] in ("scipy", "numba"))
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            exact = isinstance(node.left, ast.Constant) and node.left.value in (0.5, 2, 10)
            if not (exact or ast.unparse(node) in WHOLE):
                yield ast.unparse(node)
        elif isinstance(node, ast.Attribute) and node.attr in DRAWS:
            yield node.attr


def rule_files():
    return [file for room in ROOMS for file in (ROOT / room).rglob("*.py")]


def test_rules_take_no_function_of_the_c_library():
    files = rule_files()
    assert len(files) > 80
    found = {str(file): set(borrowed(ast.parse(file.read_text(encoding="utf-8")))) for file in files}
    left = {file: names for file, names in found.items() if names and Path(file).name not in DRAWING}
    assert left == {}
    drawn = set().union(*(names for file, names in found.items() if Path(file).name in DRAWING))
    assert drawn <= DRAWS
    seen = set(borrowed(ast.parse("import scipy.special\nfrom math import log\nx = math.exp(1.0) + y ** 0.5")))
    assert seen == {"scipy.special", "log", "exp", "y ** 0.5"}, "the check sees them"


def run_of(task, reservoir, run, most=4000):
    """Every decision of a run that the generators of this number decide the rewards of."""
    means = reservoir.sample(4096, np.random.default_rng([run, 0]))
    rng, search = np.random.default_rng([run, 1]), Search(task.design(), seed=run, model=task.model)
    asked = []
    while search.told < most and (pull := search.ask()) is not None:
        search.tell(pull, float(rng.random() < means[pull.arm]))
        asked.append(pull.arm)
    return asked, search.best, [search.upper(arm) for arm in range(search.history.arms)]


TASKS = [
    Task(0.2, 0.2, 0.1, algorithm=name) for name in ("kl-lucb", "lucb++", "cc-lucb", "joint-lucb", "joint-one-phase")
]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.algorithm)
def test_another_c_library_changes_nothing(task):
    law = parse_reservoir("beta(1,2)")
    plain = [run_of(task, law, run) for run in range(10)]
    with nudged(BORROWED) as places:
        assert {place for place in places if "former_rules" not in place} == {"math"}
        assert [run_of(task, law, run) for run in range(10)] == plain


def test_negative_control_a_rule_that_calls_it_decides_otherwise():
    """Those of rules 1 did."""
    law, task = parse_reservoir("beta(1,2)"), Task(0.2, 0.2, 0.1, algorithm="joint-lucb", rules=1)
    plain = [run_of(task, law, run) for run in range(20)]
    with nudged(BORROWED) as places:
        assert len(places) > 20
        assert [run_of(task, law, run) for run in range(20)] != plain


def listing(algorithm):
    """The compiled loop of this algorithm, as LLVM's code and as the machine's: caches keep neither."""
    run = Run(algorithm)
    run._loop = compiled_run._loop.__wrapped__((*parameter_classes(algorithm), *parameter_classes(run.world)))
    run.add_arms(np.linspace(0.1, 0.9, 64))
    rng = np.random.default_rng(0)
    run.advance(rng, rng, 10)
    return *run._loop.inspect_llvm().values(), *run._loop.inspect_asm().values()


#: A call of a logarithm, an exponential or a power; a fused product and sum; leave to compute otherwise than written.
CALL = re.compile(r'@"?(?:llvm\.)?(?:log|exp|pow|fma|fmuladd)[\w.]*"?\(')
FUSED = re.compile(r"\bvf[mn]{1,2}(?:add|sub)\w*")
LEAVE = re.compile(r"\bf(?:add|sub|mul|div)\s+(?:fast|contract|reassoc|afn|arcp)\b")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["joint-lucb", "cc-lucb"])
def test_compiled_rules_call_no_c_library_and_fuse_nothing(name, tmp_path, monkeypatch):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    code, machine = listing(design(name, 0.1, 0.2, 0.1))
    assert len(code) > 10_000
    assert CALL.findall(code) == FUSED.findall(machine) == LEAVE.findall(code) == []
    assert "fmul double" in code


def test_compiled_functions_call_no_c_library_and_fuse_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))

    def own(x: float) -> float:
        return x * elementary.log(x) + elementary.exp(x)

    def borrowed(x: float) -> float:
        return x * math.log(x) + math.exp(x)

    found = []
    for function in (own, borrowed):
        quick = compiled(function)
        quick(0.5)
        (code,), (machine,) = quick.inspect_llvm().values(), quick.inspect_asm().values()
        found.append((CALL.findall(code), FUSED.findall(machine), LEAVE.findall(code)))
    assert found[0] == ([], [], [])
    assert len(found[1][0]) >= 2, "the check sees them"
