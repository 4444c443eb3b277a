"""A pilot: a few candidates, each evaluated a few times, and the reservoir that they represent.

Means of a few rewards differ even if the candidates do not. So the variance of the means, minus the part that sampling
noise adds, estimates the variance between candidates, and the means are shrunk towards their mean until they have that
variance. A plan simulates the law of the shrunken means, each equally likely.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from topalpha.families import Bernoulli, Gaussian, LowVariance, Normal, PassFail, describe
from topalpha.families.protocols import EvidenceFamily, RewardModel
from topalpha.families.units import Model, reward_model
from topalpha.planner.pilot_rewards import Softened
from topalpha.reservoirs import Empirical
from topalpha.validate import number_in, real, require, whole

# Families on [0, 1]: with rewards in between, and with rewards that are 0 or 1 if only means are known.
_FRACTIONAL, _BINARY = (Bernoulli, LowVariance), (Bernoulli, PassFail)

_ENOUGH = "have at least 2 candidates with at least 2 evaluations each"
_COLUMNS = "have the columns candidate and reward, or candidate, mean and pulls, in its first row"
_FULL = "hold rewards by candidate: a mapping, a sequence of sequences, or the result of read_pilot"


@dataclass(frozen=True)
class Pilot:
    """The estimates of a pilot about the reservoir.

    Attributes
    ----------
    candidates, evaluations
        Their numbers.
    mean
        The mean of the candidates' means.
    spread
        The estimated standard deviation between candidates; that of the raw means is ``raw_spread``.
    noise
        The pooled standard deviation of rewards of one candidate.
    law
        The shrunken means, each equally likely, in the family's units; the figures above are in the pilot's units.
    rewards
        The law of rewards with this noise, if it differs from the family.
    notes
        Remarks for the reader.

    Examples
    --------
    >>> pilot = summarise({"a": [1, 0, 1, 1], "b": [0, 0, 1, 0], "c": [1, 1, 1, 1]})
    >>> pilot.candidates, pilot.evaluations, round(pilot.raw_spread, 3), round(pilot.spread, 3)
    (3, 12, 0.382, 0.323)
    """

    candidates: int
    evaluations: int
    mean: float
    spread: float
    raw_spread: float
    noise: float
    law: Empirical = field(repr=False)
    rewards: Any = None
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        figures = {name: getattr(self, name) for name in ("candidates", "evaluations", "mean", "spread", "raw_spread")}
        return {**figures, "noise": self.noise, "means": sorted(self.law.data), "notes": list(self.notes)}


def summarise(pilot: Any, family: Model | RewardModel | str | None = None) -> Pilot:
    """The pilot from rewards by candidate: a mapping of candidates to rewards, or a sequence of sequences.

    Examples
    --------
    >>> summarise([[0.2, 0.3], [0.8, 0.7], [0.5, 0.4]]).evaluations
    6
    >>> summarise({"a": [0.2, 1.3], "b": [0.8, 0.7]})
    Traceback (most recent call last):
    ValueError: candidate 'a': reward must lie in [0, 1], got 1.3; another range is stated as low-variance(lo,hi) or
    range(lo,hi)
    """
    if isinstance(pilot, Pilot):
        return pilot
    model = _model(family)
    groups: dict[Any, list[float]] = {}
    require(isinstance(pilot, (Mapping, Sequence, np.ndarray)) and not isinstance(pilot, str), "pilot", _FULL, pilot)
    for label, rewards in pilot.items() if isinstance(pilot, Mapping) else enumerate(pilot):
        require(isinstance(rewards, (Sequence, np.ndarray)) and not isinstance(rewards, str), "pilot", _FULL, rewards)
        groups[label] = [_reward(model, reward, f"candidate {label!r}") for reward in rewards]
    return _from_rewards([rewards for rewards in groups.values() if rewards], model)


def _model(family: Model | RewardModel | str | None) -> Model:
    return family if isinstance(family, Model) else reward_model(family)


def read_pilot(path: str | PathLike[str], family: Model | RewardModel | str | None = None) -> Pilot:
    r"""The pilot in a CSV file: a row per evaluation (candidate, reward) or per candidate (candidate, mean, pulls).

    The first row names the columns; other columns are ignored. Rows are numbered as in a spreadsheet.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "pilot.csv"
    >>> _ = path.write_text("candidate,mean,pulls\na,0.25,20\nb,0.75,20\n")
    >>> read_pilot(path).evaluations
    40
    """
    model = _model(family)
    rows = _rows(path)
    groups: dict[str, list[float]] = {}
    means: dict[str, tuple[float, int]] = {}
    for number, row in rows:
        label, where = row["candidate"], f"row {number}"
        require(label != "", f"{where}: candidate", "have a name", label)
        if "reward" in row:
            groups.setdefault(label, []).append(_reward(model, _number("reward", row["reward"], where), where))
            continue
        require(label not in means, f"{where}: candidate", "have one row", label)
        try:
            means[label] = _mean(model, number_in("mean", row["mean"])), whole("pulls", _integer(row["pulls"]))
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
    return _from_rewards(list(groups.values()), model) if groups else _from_means(list(means.values()), model)


def _rows(path: str | PathLike[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows as dictionaries, with their numbers; empty rows are left out."""
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as stream:
            reader = csv.reader(stream)
            header = [name.strip().lower() for name in next(reader, [])]
            known = any(
                set(wanted) <= set(header) for wanted in (("candidate", "reward"), ("candidate", "mean", "pulls"))
            )
            require(known, "pilot", _COLUMNS, ",".join(header))
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    cells += [""] * (len(header) - len(cells))
                    yield reader.line_num, {name: cell.strip() for name, cell in zip(header, cells, strict=False)}
    except OSError as error:
        reason = (error.strerror or type(error).__name__).lower()
        raise ValueError(f"pilot must name a file that can be read ({reason}), got {str(path)!r}") from None
    except (UnicodeDecodeError, csv.Error):
        raise ValueError(f"pilot must name a CSV file in UTF-8, got {str(path)!r}") from None


def _integer(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        return text


def _number(name: str, text: str, where: str) -> float:
    try:
        return number_in(name, text)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None


def _reward(model: Model, value: Any, where: str) -> float:
    """The reward in the family's units."""
    try:
        reward = real("reward", value)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from None
    try:
        model.check(reward)
    except ValueError as error:
        raise ValueError(f"{where}: {error}{model.other_range}") from None
    return model.to_internal(reward)


def _mean(model: Model, mean: float) -> float:
    """The mean in the family's units."""
    family = model.family
    # A mean of rewards may exceed the highest true mean.
    bounded = isinstance(family, (*_FRACTIONAL, *_BINARY))
    low, high = sorted((model.to_user(family.lowest), model.to_user(1.0 if bounded else math.inf)))
    require(low <= mean <= high and math.isfinite(mean), "mean", f"be finite and between {low:g} and {high:g}", mean)
    return model.to_internal(mean)


def _from_rewards(groups: list[list[float]], model: Model) -> Pilot:
    family = model.family
    repeated = sum(len(rewards) >= 2 for rewards in groups)
    require(repeated >= 2, "pilot", _ENOUGH, repeated)
    counts = np.array([len(rewards) for rewards in groups])
    means = np.array([math.fsum(rewards) / len(rewards) for rewards in groups])
    squares = [(reward - mean) ** 2 for rewards, mean in zip(groups, means, strict=True) for reward in rewards]
    within = math.fsum(squares) / int((counts - 1).sum())
    fractional = isinstance(family, _FRACTIONAL) and any(0.0 < reward < 1.0 for rewards in groups for reward in rewards)
    return _estimate(means, counts, within, model, fractional)


def _from_means(pairs: list[tuple[float, int]], model: Model) -> Pilot:
    """Without single rewards their variance is the family's; for Bernoulli it is that of 0/1 rewards."""
    family = model.family
    repeated = sum(pulls >= 2 for _, pulls in pairs)
    require(repeated >= 2, "pilot", _ENOUGH, repeated)
    means, counts = np.array([mean for mean, _ in pairs]), np.array([pulls for _, pulls in pairs])
    if isinstance(family, _BINARY):
        within = math.fsum(pulls * mean * (1.0 - mean) for mean, pulls in pairs) / int((counts - 1).sum())
    elif isinstance(family, EvidenceFamily):
        within = math.fsum(pulls * family.variance(mean) for mean, pulls in pairs) / int(counts.sum())
    else:
        raise ValueError(f"pilot must hold single rewards, because {describe(family)} has no known noise, got means")
    return _estimate(means, counts, within, model, False)


def _estimate(
    means: NDArray[np.float64], counts: NDArray[np.int64], within: float, model: Model, fractional: bool
) -> Pilot:
    """Method of moments: variance between = variance of the means - mean sampling variance, not below 0."""
    family, unit = model.family, abs(model.factor)
    centre, raw = float(means.mean()), float(means.var(ddof=1))
    between = max(0.0, raw - within * float((1.0 / counts).mean()))
    shrink = math.sqrt(between / raw) if raw > 0.0 else 0.0
    shrunken = np.clip(centre + shrink * (means - centre), family.lowest, family.highest)
    rewards: Any = Gaussian(math.sqrt(within)) if isinstance(family, Normal) and within > 0.0 else None
    if fractional:
        largest = float((shrunken * (1.0 - shrunken)).mean())  # the variance of 0/1 rewards with these means
        rewards = Softened(math.sqrt(min(1.0, within / largest)) if largest > 0.0 else 1.0)
    notes = []
    if between == 0.0:
        notes.append("The pilot cannot tell its candidates apart; the plan assumes them to be alike, the costly case.")
    if isinstance(family, Gaussian):
        # The pooled standard deviation is itself uncertain, by about 1 / sqrt(2 degrees of freedom) of its size.
        doubt = 1.0 + 2.0 / math.sqrt(2.0 * float((counts - 1).sum()))
        if math.sqrt(within) > family.sigma * doubt:
            notes.append(f"Its rewards vary by {math.sqrt(within):.3g}, more than sigma = {family.sigma:g} allows.")
    return Pilot(
        candidates=len(means),
        evaluations=int(counts.sum()),
        mean=model.to_user(centre),
        spread=unit * math.sqrt(between),
        raw_spread=unit * math.sqrt(raw),
        noise=unit * math.sqrt(within),
        law=Empirical(shrunken.tolist()),
        rewards=rewards,
        notes=tuple(notes),
    )
