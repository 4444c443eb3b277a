"""``cv_results_``: a finished search as the dictionary of columns known from scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.ma import MaskedArray
from numpy.typing import NDArray
from scipy.stats import rankdata

from topalpha.session import Session
from topalpha.sklearn.distributions import Settings
from topalpha.sklearn.split_score import Times


def columns(session: Session, arms: Sequence[int], scores: Sequence[NDArray[Any]]) -> dict[str, Any]:
    """All columns, a row per arm, for arms with these scores.

    Pulls of an earlier process have no times.
    """
    found: dict[str, Any] = {}
    times: Mapping[tuple[int, int], Times] = session.notes
    for name in ("fit", "score"):
        by_arm = [
            np.array([getattr(times[arm, place], name) for place in range(len(values)) if (arm, place) in times])
            for arm, values in zip(arms, scores, strict=True)
        ]
        found[f"mean_{name}_time"] = np.array([_mean(values[~np.isnan(values)]) for values in by_arm])
        found[f"std_{name}_time"] = np.array([_deviation(values[~np.isnan(values)]) for values in by_arm])
    settings = [session.candidates[arm] for arm in arms]
    found.update(parameter_columns(settings))
    found["params"] = settings
    means = np.array([_mean(values) for values in scores])
    found["mean_test_score"] = means
    found["std_test_score"] = np.array([_deviation(values) for values in scores])
    found["n_splits"] = np.array([len(values) for values in scores])
    found["lower_bound"] = np.array([session.model.to_user(session.lower(arm)) for arm in arms])
    found["upper_bound"] = np.array([session.model.to_user(session.upper(arm)) for arm in arms])
    found["rank_test_score"] = rankdata(-means, method="min").astype(np.int32)
    return found


def parameter_columns(settings: Sequence[Settings]) -> dict[str, MaskedArray[Any, Any]]:
    """A column per parameter; masked if a setting does not have it.

    Examples
    --------
    >>> found = parameter_columns([{"C": 1.0, "kernel": "rbf"}, {"C": 2.0}])
    >>> found["param_C"].dtype.kind, found["param_kernel"].tolist()
    ('f', ['rbf', None])
    """
    names = dict.fromkeys(name for one in settings for name in one)
    found: dict[str, MaskedArray[Any, Any]] = {}
    for name in names:
        values = [one[name] for one in settings if name in one]
        kinds = {type(value) for value in values}
        dtype: Any = (
            {bool: bool, int: np.int64, float: np.float64}.get(kinds.pop(), object) if len(kinds) == 1 else object
        )
        if dtype is np.int64 and max(map(abs, values)) >= 2**63:
            dtype = object
        column: MaskedArray[Any, Any] = MaskedArray(np.empty(len(settings), dtype=dtype), mask=True)
        for row, one in enumerate(settings):
            if name in one:
                column[row] = one[name]
        found[f"param_{name}"] = column
    return found


def _mean(values: NDArray[Any]) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _deviation(values: NDArray[Any]) -> float:
    return float(values.std()) if len(values) else float("nan")
