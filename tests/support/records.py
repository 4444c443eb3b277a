"""Searches and pickles of earlier versions, and what evaluates them.

``python -m tests.support.records FOLDER`` makes such files.

``tests/data/records`` has files that were made by the code of their time, packed: the searches must open, resume and
verify for ever, and the pickles must load.
"""

from __future__ import annotations

import gzip
import inspect
import pickle
import random
import subprocess
import sys
from pathlib import Path

import topalpha
from tests.support.folders import DATA, ROOT
from topalpha import Session, Task, parse_reservoir
from topalpha.former_rules import rules_module
from topalpha.running import drive as running

FOLDER = DATA / "records"
EASY = {"alpha": 0.3, "epsilon": 0.3, "delta": 0.2, "progress": "none"}
NAMES = ["ant", "bee", "cat", "dog", "eel", "fox"]


def unpacked(folder, file="0.1.0.db"):
    """A copy of a recorded file, to work on."""
    path = Path(folder) / file
    path.write_bytes(gzip.decompress((FOLDER / f"{file}.gz").read_bytes()))
    return path


def draw(rng):
    return {"rate": float(rng.random()), "word": "caf\u00e9"}


def toss(candidate, rng):
    return float(rng.random() < candidate["rate"])


def noise(candidate, rng):
    return float(rng.normal(candidate["rate"]))


def count(candidate, rng):
    return float(rng.poisson(3.0 * candidate["rate"]))


def toss_name(candidate, rng):
    return float(rng.random() < NAMES.index(candidate) / 6.0)


def pair(rng):
    return (1, float(rng.random()))


def toss_pair(candidate, rng):
    return float(rng.random() < candidate[1])


def scaled(candidate, rng):
    return 10.0 * float(rng.random() < candidate["rate"])


def gamma(candidate, rng):
    return float(rng.gamma(2.0, 0.5 + candidate["rate"]))


def passes(candidate, item):
    return (len(candidate) * item + ord(candidate[0])) % 7 < 4


class Broken:
    """Evaluations of which number 40 fails, long after the last snapshot."""

    def __init__(self):
        self.calls = 0

    def __call__(self, candidate, rng):
        self.calls += 1
        if self.calls == 20:
            running.PERIOD = 1e9
        if self.calls == 40:
            raise OSError("no answer")
        return toss(candidate, rng)


def drive(path, name, task, seed=0, width=60, pulls=10**9, end=True):
    """A search with several pulls in flight, told in any order, some of which fail: every kind of entry in the logs."""
    chance = random.Random(seed)
    with Session.start(task, path, name) as session:
        flying = []
        while not session.stopped and session.told < pulls:
            for pull in session.ask_many(width - len(flying)):
                if pull.number == 0:
                    session.keep(pull.arm, {"mean": 10.0 * chance.random()})
                flying.append(pull)
            if session.stopped:
                break
            pull = flying.pop(chance.randrange(len(flying)))
            if chance.random() < 0.03:
                session.failed(pull, "no answer", "retry")
            mean = session.candidates[pull.arm]["mean"]
            session.tell(pull, 10.0 * chance.betavariate(mean, 10.0 - mean))
        return session.finish("pulls") if end else None


#: What goes on with each search: the arguments of ``topalpha.resume`` after the file.
GOES_ON = {
    "joint": (draw, toss),
    "clock": (draw, toss),
    "early": (draw, toss),
    "normal": (draw, noise),
    "poisson": (draw, count),
    "pickled": (pair, toss_pair),
    "list": (NAMES, passes),
    "failed": (draw, toss),
    "threads": (draw, toss),
    "optimised": (draw, toss),
}

#: Each family as a search states it, with rewards of that kind; every second search minimises.
FAMILIES = {
    "bernoulli": toss,
    "range(0,10)": scaled,
    "low-variance(0,10)": scaled,
    "gaussian(1)": noise,
    "normal": noise,
    "poisson": count,
    "exponential": gamma,
    "gamma(2)": gamma,
}


def write_families(path):
    """A search for each family, one with lost pulls, and one over settings of a model."""
    running.PERIOD = 0.0
    for place, (family, pull) in enumerate(FAMILIES.items()):
        how = {"family": family, "minimise": place % 2 == 1, "storage": path, "name": family}
        topalpha.search(draw, pull, **{**EASY, "epsilon": 1.0 if place else 0.3}, **how, pulls=60)
    with Session.start(Task(0.3, 0.3, 0.2, on_lost="worst"), path, "lost") as session:
        for pull in session.ask_many(9):
            session.keep(pull.arm, {"rate": pull.arm / 9.0, "word": "lost"})
            if pull.arm < 7:
                session.tell(pull, 1.0)
    topalpha.resume(path, draw, toss, name="lost", pulls=20, progress="none")
    model_search(path).fit(*iris())


def iris():
    from sklearn.datasets import load_iris

    return load_iris(return_X_y=True)


def model_search(path, **more):
    from scipy.stats import loguniform
    from sklearn.tree import DecisionTreeClassifier

    from topalpha.sklearn import TopAlphaSearchCV

    settings = {"min_impurity_decrease": loguniform(1e-3, 1.0)}
    target = {"alpha": 0.3, "epsilon": 0.3, "delta": 0.2, "max_fits": 30, "random_state": 0}
    return TopAlphaSearchCV(DecisionTreeClassifier(random_state=0), settings, **target, storage=path, **more)


def former_design(name):
    """The design of this name as of rules 1."""
    algorithms = rules_module(1, "algorithms")
    law = parse_reservoir("two-point(0.2,0.8,0.3)")
    entry = algorithms.entry(name)
    told = entry.knowledge(law, 0.3, 0.3) if entry.knowledge else {}
    return algorithms.design(name, 0.3, 0.3, 0.2, **told, **({"budget": 500} if entry.budgeted else {}))


def objects():
    """What users may have pickled, by name."""
    from topalpha import design, plan, simulate
    from topalpha.algorithms import ALGORITHMS
    from topalpha.sklearn import BanditAdaBoostClassifier
    from topalpha.standing import standing

    made = {}
    for entry in ALGORITHMS:
        told = entry.knowledge(parse_reservoir("two-point(0.2,0.8,0.3)"), 0.3, 0.3) if entry.knowledge else {}
        budget = {"budget": 500} if entry.budgeted else {}
        made[f"design {entry.name}"] = design(entry.name, 0.3, 0.3, 0.2, **told, **budget)
    for family in (
        *(topalpha.Bernoulli(), topalpha.Gaussian(0.5), topalpha.Poisson(3.0), topalpha.Exponential()),
        *(topalpha.Gamma(2.0), topalpha.PassFail(20), topalpha.Normal(), topalpha.LowVariance()),
        topalpha.Mirrored(topalpha.Poisson()),
    ):
        made[f"family {family}"] = family
    for text in ("beta(1,2)", "uniform(0,1)", "two-point(0.2,0.8,0.1)", "dirac(0.5)"):
        made[f"reservoir {text}"] = parse_reservoir(text)
    result = topalpha.search(draw, toss, **EASY)
    made |= {"result": result, "certificate": result.certificate, "claim": topalpha.Claim(0.1, 0.2)}
    made |= {"standing": standing(result), "task": Task(0.3, 0.3, 0.2), "plan": plan(0.3, 0.3, 0.2, runs=20)}
    made["study"] = simulate(design("cc-lucb", 0.3, 0.3, 0.2), parse_reservoir("beta(1,2)"), runs=5, seed=0)
    # Version 0.2.0, which pickled one, knew no other orders.
    own = {"order": "own"} if "order" in inspect.signature(topalpha.select).parameters else {}
    made["selection"] = topalpha.select(NAMES, list(range(20)), passes, epsilon=0.2, progress="none", **own)
    made["boosting"] = BanditAdaBoostClassifier(n_estimators=2, random_state=0).fit(*iris())
    made["model search"] = model_search(None, refit=False).fit(*iris())
    return made


def write(path):
    """One file with all of them; snapshots are taken at every reward, so that some figures are older than others."""
    running.PERIOD = 0.0
    topalpha.search(draw, toss, **EASY, storage=path, name="joint")
    topalpha.search(draw, toss, **EASY, algorithm="kl-lucb", storage=path, name="clock", pulls=120)
    topalpha.search(draw, toss, **EASY, algorithm="cc-lucb", storage=path, name="early", pulls=40)
    topalpha.search(draw, noise, **EASY, family="normal", storage=path, name="normal", pulls=90)
    topalpha.search(draw, count, **EASY, family="poisson(3)", storage=path, name="poisson", pulls=60)
    topalpha.search(pair, toss_pair, **EASY, storage=path, name="pickled", pickle=True, pulls=40)
    topalpha.search(NAMES, passes, **EASY, items=list(range(20)), storage=path, name="list", pulls=30)
    topalpha.select(NAMES, list(range(20)), passes, epsilon=0.2, storage=path, name="select", progress="none")
    topalpha.search(draw, toss, **EASY, workers=3, storage=path, name="threads", pulls=40)
    try:
        topalpha.search(draw, Broken(), **EASY, algorithm="kl-lucb", storage=path, name="failed")
    except topalpha.PullFailed:
        running.PERIOD = 0.0
    costs = Task(0.3, 3.0, 0.2, family="range(0,10)", minimise=True, algorithm="cc-lucb", seed=5, on_error="retry")
    for name, more in {"costs": {}, "costs so far": {"pulls": 50}, "killed": {"pulls": 30, "end": False}}.items():
        drive(path, name, costs, seed=5, width=8, **more)
    code = (
        "import sys, topalpha; from tests.support import records;"
        "topalpha.search(records.draw, records.toss, **records.EASY, storage=sys.argv[1], name='optimised', pulls=40)"
    )
    subprocess.run([sys.executable, "-OO", "-c", code, str(path)], cwd=ROOT, check=True)


def write_sentences(path):
    """A search for each kind of sentence in a certificate."""
    running.PERIOD = 0.0
    several = {**EASY, "algorithm": "cc-lucb-k", "options": {"k": 3}, "storage": path}
    topalpha.search(draw, toss, **several, name="several")
    topalpha.search(draw, toss, **several, name="several so far", pulls=60)
    refuted = {"algorithm": "cc-threshold", "options": {"threshold": 0.9}, "storage": path}
    topalpha.search(draw, lambda candidate, rng: 0.0, **{**EASY, **refuted}, name="refuted")
    topalpha.search(draw, toss, **EASY, about="rates drawn evenly", storage=path, name="described")
    topalpha.search(
        draw, scaled, **{**EASY, "epsilon": 3.0}, family="range(0,10)", minimise=True, storage=path, name="costs"
    )
    topalpha.search(draw, toss, **EASY, pulls=2, storage=path, name="nothing")
    topalpha.search(NAMES, toss_name, **EASY, storage=path, name="list")
    topalpha.search(NAMES[:1], toss_name, **{**EASY, "pulls": 40}, storage=path, name="list of one")
    topalpha.search(pair, toss_pair, **EASY, storage=path, name="pickled", pickle=True)
    topalpha.select(NAMES, list(range(20)), passes, epsilon=0.2, storage=path, name="select", progress="none")
    topalpha.select(
        NAMES, list(range(20)), passes, epsilon=0.1, storage=path, name="select so far", progress="none", pulls=30
    )


def make(folder):
    """The files of this version, packed."""
    from tests.support import records  # pickles name this module, and not the script

    folder = Path(folder)
    contents = {"": records.write, "-families": records.write_families, "-sentences": records.write_sentences}
    for kind, content in contents.items():
        path = folder / f"{topalpha.__version__}{kind}.db"
        content(path)
        (folder / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        path.unlink()
    kept = {name: pickle.dumps(one, protocol=5) for name, one in records.objects().items()}
    (folder / f"{topalpha.__version__}.pickles.gz").write_bytes(gzip.compress(pickle.dumps(kept), mtime=0))


if __name__ == "__main__":
    make(sys.argv[1])
