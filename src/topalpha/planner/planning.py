"""The plan: arms, proved and expected pulls, and how they change with each parameter of the target."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from os import PathLike
from typing import Any

from topalpha.algorithms import default_for, design
from topalpha.algorithms.choices import chosen_algorithm, chosen_order, target_alpha
from topalpha.families import PassFail
from topalpha.families.protocols import RewardModel
from topalpha.families.units import Model, reward_model
from topalpha.planner.bills import Bill, bill
from topalpha.planner.caps import Cap, sure_cap
from topalpha.planner.cost import Case, Cost, expect, references
from topalpha.planner.pilot import Pilot, read_pilot, summarise
from topalpha.rules.protocol import Algorithm
from topalpha.simulation import check_means
from topalpha.validate import (
    LONGEST_LIST,
    MOST_ITEMS,
    MOST_RUNS,
    MOST_WORKERS,
    fraction,
    not_negative,
    optional,
    plain,
    positive,
    require,
    seed_number,
    whole,
)

#: Simulated pulls per reservoir: for the target itself, and for each of its neighbours.
BUDGET, ROW_BUDGET = 4_000_000, 800_000

_SIMULATED = "Expected evaluations are simulated on the named laws, not proved. A pilot makes a better plan."
_PILOT = "The plan rests on the pilot: other candidates may cost more or less. It is not a guarantee."


@dataclass(frozen=True)
class PlanRow:
    """One parameter halved or doubled: the arms and, for each reservoir, the expected pulls and their ratio.

    ``parameter`` is alpha, epsilon or delta, or the number of candidates of a list, or of examples of a test set.

    Examples
    --------
    >>> PlanRow("epsilon", 0.1, 190, (550.0,), (0.78,)).ratios
    (0.78,)
    """

    parameter: str
    value: float
    arms: int
    pulls: tuple[float | None, ...]
    ratios: tuple[float | None, ...]
    extrapolated: tuple[bool, ...] = ()


#: As it was called up to version 0.2.0: pickles and imports of that time say so.
Row = PlanRow


@dataclass(frozen=True)
class Plan:
    """The expected cost of a search.

    Attributes
    ----------
    arms
        The number of candidates to draw.
    cap
        A number of evaluations that is never exceeded, if one is proved.
    costs
        Expected evaluations: on the pilot, or on reference reservoirs, the hard one first.
    rows
        The target with one of its parameters halved or doubled.
    pilot
        The estimates of the pilot, if given.
    candidates, examples
        The length of the list, and the size of the test set; None for an endless pool, and without a test set.
    price, seconds
        What one evaluation costs, if given.

    Examples
    --------
    >>> found = plan(0.2, 0.2, 0.1, algorithm="cc-lucb", runs=8)
    >>> found.cap.source, [cost.law for cost in found.costs]
    ('docs/proofs.md, C.3', ['dirac(0.5)', 'uniform(0,1)'])
    >>> found.arms < found.costs[1].mean < found.costs[0].mean < found.cap.pulls
    True
    """

    algorithm: str
    family: str
    alpha: float
    epsilon: float
    delta: float
    options: Mapping[str, Any]
    seed: int
    covered: bool
    arms: int
    cap: Cap
    costs: tuple[Cost, ...]
    rows: tuple[PlanRow, ...] = field(repr=False)
    pilot: Pilot | None = None
    notes: tuple[str, ...] = field(default=(), repr=False)
    candidates: int | None = None
    examples: int | None = None
    price: float | None = None
    seconds: float | None = None

    @property
    def statement(self) -> str:
        """The plan in one sentence."""
        one = self.candidates is not None and round(self.alpha * self.candidates, 9) <= 1.0
        aim = f"within {self.epsilon:g} of the {'best' if one else f'top {100.0 * self.alpha:.10g}%'}"
        aim += "" if self.candidates is None else f" of a list of {self.candidates:,}"
        aim += "" if self.examples is None else f" on {self.examples:,} examples"
        aim += f" with probability {100.0 * (1.0 - self.delta):.10g}%"
        start = f"To find a candidate {aim}: draw {self.arms:,} candidates"
        known = [cost for cost in self.costs if cost.mean is not None]
        if not known:
            return f"{start}; no simulated search ended within the budget of this plan."
        if self.pilot is not None:
            p90 = about(known[0].p90)
            expected = f"about {about(known[0].mean)} evaluations{_mark(known[0])}"
            return f"{start}, expect {expected}, {p90} or fewer in nine searches of ten."
        easy_first = [
            f"about {about(one.mean)} evaluations{_mark(one)} if {one.case} ({one.law})" for one in known[::-1]
        ]
        return f"{start}, expect {' or '.join(easy_first)}."

    @property
    def bills(self) -> tuple[Bill, ...]:
        """Expected evaluations, in the order of ``costs``, and the most, with money and hours where they are known."""
        lines = [(one.case, one.mean) for one in self.costs]
        lines += [("at most", self.cap.pulls)]
        return tuple(bill(case, count, self.price, self.seconds) for case, count in lines if count is not None)

    def to_dict(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        plain = ["algorithm", "family", "alpha", "epsilon", "delta", "seed", "covered", "arms"]
        plain += ["candidates", "examples", "price", "seconds"]
        return {
            **{name: getattr(self, name) for name in plain},
            "options": dict(self.options),
            "cap": self.cap._asdict(),
            "costs": [cost.to_dict() for cost in self.costs],
            "rows": [asdict(row) for row in self.rows],
            "bills": [one._asdict() for one in self.bills],
            "pilot": None if self.pilot is None else self.pilot.to_dict(),
            "notes": list(self.notes),
            "statement": self.statement,
        }


def about(value: float | None) -> str:
    """The value with two digits, as precise as a plan can be.

    Examples
    --------
    >>> about(53556.75), about(7.2), about(None)
    ('54,000', '7', 'unknown')
    """
    return "unknown" if value is None else f"{float(f'{value:.2g}'):,.0f}"


def plan(
    alpha: float | None,
    epsilon: float,
    delta: float,
    family: str | RewardModel | None = None,
    *,
    minimise: bool = False,
    algorithm: str | None = None,
    pilot: Mapping[Any, Sequence[float]] | Sequence[Sequence[float]] | Pilot | str | PathLike[str] | None = None,
    runs: int = 100,
    seed: int = 0,
    workers: int | None = None,
    progress: Callable[[int], None] | None = None,
    candidates: int | None = None,
    examples: int | None = None,
    price: float | None = None,
    seconds: float | None = None,
    **options: Any,
) -> Plan:
    """Estimate how many candidates and evaluations a search will cost, before anything is spent.

    Parameters
    ----------
    alpha, epsilon, delta, family, minimise, algorithm
        As for ``search``: rewards and epsilon in their own units. If alpha is None: the best of a list, or 0.05.
    candidates
        The length of the list that candidates come from; by default the pool is endless.
    examples
        The size of a test set of pass and fail: the plan is then for ``select`` and its default algorithm.
    price, seconds
        What one evaluation costs: money, in any unit, and seconds.
    options
        Options of the algorithm.
    pilot
        Rewards of some candidates (a mapping of candidates to rewards, or a sequence of sequences) or the path of a
        CSV file (see ``read_pilot``). Without it the plan is for two reference reservoirs.
    runs, seed, workers
        As for ``simulate``; there are fewer runs if they are long.
    progress
        Called with 1 after each simulated target and reservoir.

    Examples
    --------
    >>> found = plan(0.2, 0.2, 0.1, runs=8, pilot=[[0, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1], [0, 0, 0, 1]])
    >>> found.pilot.candidates, found.costs[0].runs, found.rows[0].parameter
    (4, 8, 'alpha')
    >>> prompts = plan(None, 0.05, 0.05, candidates=29, examples=200, price=0.002, runs=8)
    >>> prompts.algorithm, prompts.cap.pulls, prompts.bills[-1].money
    ('cc-lucb', 5800, 11.6)
    """
    runs, seed = whole("runs", runs, most=MOST_RUNS), seed_number("seed", seed)
    workers = optional(whole, "workers", workers, most=MOST_WORKERS)
    target = aim(alpha, epsilon, delta, candidates, examples)
    price = None if price is None else not_negative("price", price)
    seconds = None if seconds is None else not_negative("seconds", seconds)
    require("pool" not in options, "options", "not name a pool: give candidates", options)
    model = model_for(family, minimise, examples)

    def make(changed: Mapping[str, float]) -> Algorithm:
        size = int(changed.get("candidates", 0))
        top = target_alpha(changed.get("alpha"), size)
        rewards = PassFail(int(changed["examples"])) if "examples" in changed else model.family
        listed = {"pool": size} if size else {}
        chosen = chosen_for(algorithm, model, examples, size, changed.get("alpha"))
        return design(chosen, top, model.epsilon(changed["epsilon"]), changed["delta"], rewards, **listed, **options)

    model.check_epsilon(target["epsilon"])
    base = make(target)
    summary = None
    if isinstance(pilot, (str, PathLike)):
        summary = read_pilot(pilot, model)
    elif pilot is not None:
        summary = summarise(pilot, model)
    cases = references(base.family, base.epsilon) if summary is None else (Case("pilot", summary.law, summary.rewards),)
    for case in cases:
        check_means(case.law, base.family)

    def costs(changed: Mapping[str, float], runs: int, budget: int, before: Sequence[Cost] = ()) -> list[Cost]:
        found = []
        for place, case in enumerate(cases):
            one = lambda a, e: make({**changed, "alpha": a, "epsilon": e})  # noqa: E731
            finest = _finest(before[place], target) if before else (0.0, 0.0)
            top = target_alpha(changed.get("alpha"), int(changed.get("candidates", 0)))
            found.append(expect(case, one, top, changed["epsilon"], runs, seed, workers, budget, finest))
            if progress is not None:
                progress(1)
        return found

    expected = costs(target, runs, BUDGET)
    rows = []
    for name, value in neighbours(target, model):
        changed = {**target, name: value}
        found = costs(changed, runs, ROW_BUDGET, expected)  # the same runs: they differ in the target alone
        pulls = tuple(cost.mean for cost in found)
        ratios = tuple(_ratio(cost.mean, old.mean) for cost, old in zip(found, expected, strict=True))
        rows.append(PlanRow(name, value, make(changed).arms, pulls, ratios, tuple(cost.extrapolated for cost in found)))
    notes = [_SIMULATED] if summary is None else [_PILOT, *summary.notes]
    notes += sorted({case.note for case in cases if case.note})
    if summary is None and (model.offset, model.factor) != (0.0, 1.0):
        notes.append(f"In the named laws, 0 stands for {model.to_user(0.0):g} and 1 for {model.to_user(1.0):g}.")
    return Plan(
        algorithm=base.traits.name,
        family=model.text + (", to be minimised" if minimise else ""),
        alpha=base.alpha,
        epsilon=target["epsilon"],
        delta=base.delta,
        options=plain(options),
        seed=seed,
        covered=base.traits.covered,
        arms=base.arms,
        cap=sure_cap(base),
        costs=tuple(expected),
        rows=tuple(rows),
        pilot=summary,
        notes=tuple(notes),
        candidates=candidates,
        examples=examples,
        price=price,
        seconds=seconds,
    )


def model_for(family: str | RewardModel | None, minimise: bool, examples: int | None) -> Model:
    """The model of rewards: that of the family, or pass and fail on so many examples.

    Examples
    --------
    >>> model_for(None, False, 200).family
    PassFail(items=200)
    """
    if examples is None:
        return reward_model(family, minimise=minimise)
    require(family is None, "family", "be left out where examples are given: they pass or fail", family)
    require(not minimise, "minimise", "be left out where examples are given: a pass is good", minimise)
    return reward_model(PassFail(examples))


def chosen_for(
    algorithm: str | None, model: Model, examples: int | None, candidates: int | None = None, alpha: float | None = None
) -> str:
    """The algorithm: the default of ``select`` for a test set, that of ``search`` otherwise.

    Examples
    --------
    >>> chosen_for(None, reward_model(), None), chosen_for(None, reward_model(), 200)
    ('joint-lucb', 'cc-lucb')
    >>> chosen_for(None, reward_model(), 200, 5), chosen_for(None, reward_model(), 200, 29)
    ('paired', 'cc-lucb')
    """
    if examples is not None:
        return chosen_algorithm(algorithm, chosen_order(None, candidates or 0, alpha=alpha, algorithm=algorithm))
    return default_for(model.family) if algorithm is None else algorithm


def aim(
    alpha: float | None, epsilon: float, delta: float, candidates: int | None = None, examples: int | None = None
) -> dict[str, float]:
    """The target by its parameters, checked: those that a plan halves and doubles.

    Examples
    --------
    >>> aim(None, 0.05, 0.05, candidates=29)
    {'candidates': 29, 'epsilon': 0.05, 'delta': 0.05}
    """
    target: dict[str, float] = {}
    if alpha is not None or candidates is None:
        target["alpha"] = fraction("alpha", target_alpha(alpha, 0))
    if candidates is not None:
        target["candidates"] = whole("candidates", candidates, most=LONGEST_LIST)
    if examples is not None:
        target["examples"] = whole("examples", examples, most=MOST_ITEMS)
    return target | {"epsilon": positive("epsilon", epsilon), "delta": fraction("delta", delta)}


def neighbours(target: Mapping[str, float], model: Model) -> Iterator[tuple[str, float]]:
    """Each parameter halved and doubled, as long as the result is a valid target.

    Examples
    --------
    >>> list(neighbours({"alpha": 0.5, "epsilon": 0.1, "delta": 0.05}, reward_model()))
    [('alpha', 0.25), ('epsilon', 0.05), ('epsilon', 0.2), ('delta', 0.025), ('delta', 0.1)]
    """
    # With an epsilon as wide as the range of means every candidate is right.
    ends = {"alpha": 1.0, "epsilon": abs(model.factor) * (model.family.highest - model.family.lowest), "delta": 1.0}
    longest = {"candidates": LONGEST_LIST, "examples": MOST_ITEMS}
    for name, value in target.items():
        if isinstance(value, int):  # a length
            yield from ((name, other) for other in (value // 2, 2 * value) if 1 < other <= longest[name])
            continue
        yield name, 0.5 * value
        if 2.0 * value < ends[name]:
            yield name, 2.0 * value


def _finest(cost: Cost, target: Mapping[str, float]) -> tuple[float, float]:
    """The start for simulations of neighbours: a parameter made coarser for the target is so for them."""
    top = target_alpha(target.get("alpha"), int(target.get("candidates", 0)))
    pairs = (cost.alpha, top), (cost.epsilon, target["epsilon"])
    alpha, epsilon = (simulated if simulated > wanted else 0.0 for simulated, wanted in pairs)
    return alpha, epsilon


def _mark(cost: Cost) -> str:
    return " (extrapolated)" if cost.extrapolated else ""


def _ratio(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one / other
