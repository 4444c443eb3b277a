"""The parts of a model search before its first fit: the pull, the claim in words, and the session."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pickle import PicklingError
from typing import Any

import joblib
import numpy as np
from numpy.random import default_rng
from sklearn.base import clone, is_classifier
from sklearn.utils import check_random_state, get_tags, indexable
from sklearn.utils.multiclass import type_of_target

from topalpha.algorithms import default_for
from topalpha.ask_tell import Task
from topalpha.execution import Calls
from topalpha.families.units import Model, reward_model
from topalpha.running import Running, prepare, proceed, start
from topalpha.session import Session
from topalpha.sklearn.distributions import Grid, Sampler, by_value, in_words, parts, without_addresses
from topalpha.sklearn.split_score import SplitScore
from topalpha.storage import holds
from topalpha.validate import (
    choice,
    file_name,
    flag,
    int_like,
    not_negative,
    positive,
    real,
    require,
    seed_number,
    whole,
)

#: Each setting has its own splits, or split k is the same for all.
SPLITS = ("own", "shared")
#: The family of ``bounds="normal"``: a smaller guard than usual, and upper bounds of a level that suits a search in
#: which most settings are fitted only a few times. The reasons are in docs/model_search.md.
NORMAL = "normal(least_pulls=5)"
NORMAL_OPTIONS = {"delta_u": 0.3}


def prepared(search: Any, scorer: Any, X: Any, y: Any, params: Mapping[str, Any]) -> SplitScore:
    """The function that evaluates a setting once; raises scikit-learn's errors about the data."""
    _check_running(search)
    require("groups" not in params, "groups", "be left out, because splits are of rows", "groups")
    model = _model(search.bounds)
    number = search.error_score == "raise" or math.isfinite(real("error_score", search.error_score))
    require(number, "error_score", "be 'raise' or a finite number", search.error_score)
    if y is None and get_tags(search.estimator).target_tags.required:
        raise ValueError(f"This {type(search).__name__} requires y to be passed, but the target y is None.")
    X, y = indexable(X, y)
    stratified = is_classifier(search.estimator) and y is not None and type_of_target(y) in ("binary", "multiclass")
    rows = count_rows(X)
    if rows < 2:
        raise ValueError(f"Found array with n_samples={rows}, and a split needs at least 2 samples.")
    pull = SplitScore(
        estimator=clone(search.estimator),
        X=X,
        y=y,
        params=dict(params),
        scorer=scorer,
        test_size=search.test_size,
        stratified=stratified,
        shared=choice("splits", search.splits, SPLITS) == "shared",
        dither=0.0,
        error_score=search.error_score,
        model=model,
    )
    if pull.error_score != "raise":
        pull.check(float(pull.error_score))
    held_out = len(pull.split(default_rng(0))[1])  # raises if there is nothing to split
    return replace(pull, dither=_dither(search, pull, held_out))


def _check_running(search: Any) -> None:
    """Raise if the options for running fits are invalid, before a file is created."""
    if search.n_jobs is not None:
        number = int_like(search.n_jobs) and search.n_jobs != 0
        require(number, "n_jobs", "be None or a whole number other than 0", search.n_jobs)
    if search.max_fits is not None:
        whole("max_fits", search.max_fits)
    if search.max_seconds is not None:
        require(real("max_seconds", search.max_seconds) > 0.0, "max_seconds", "be positive", search.max_seconds)
    not_negative("patience", search.patience)
    if search.storage is not None:
        file_name("storage", search.storage)
    flag("pickle", search.pickle)


def _model(bounds: Any) -> Model:
    require(isinstance(bounds, str), "bounds", "be text", bounds)
    with _called_bounds():
        return reward_model(NORMAL if bounds == "normal" else bounds)


@contextmanager
def _called_bounds() -> Iterator[None]:
    """Turn errors about a family into errors about ``bounds``, its name here."""
    try:
        yield
    except ValueError as error:
        words = str(error)
        if not words.startswith("family "):
            raise
        raise ValueError("bounds" + words.removeprefix("family")) from None


def count_rows(X: Any) -> int:
    """The number of rows.

    Examples
    --------
    >>> count_rows(np.zeros((3, 2))), count_rows(["a", "b"])
    (3, 2)
    """
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _dither(search: Any, pull: SplitScore, held_out: int) -> float:
    """The width of the noise that makes scores on a lattice nearly normal; 0 for bounds that need none."""
    if search.dither != "auto":
        width = real("dither", search.dither)
        require(0.0 <= width < math.inf, "dither", "be 'auto', 0 or a positive number", search.dither)
        require(width == 0.0 or pull.model.worst is None, "dither", "be 0 or 'auto' with these bounds", search.dither)
        return width
    if pull.model.text.partition("(")[0] != "normal":
        return 0.0
    accuracy = search.scoring == "accuracy" or (search.scoring is None and is_classifier(search.estimator))
    return 1.0 / held_out if accuracy else 0.5 * positive("epsilon", search.epsilon)


def law_in_words(search: Any, draw: Grid | Sampler, pull: SplitScore) -> str:
    """The subject of the claim: the settings, and the scores whose mean counts."""
    what = f"settings of {type(search.estimator).__name__} ({in_words(search.param_distributions)})"
    drawn = f"the list of {len(draw)} {what}" if isinstance(draw, Grid) else f"the {what} drawn independently"
    metric = getattr(search.scoring, "__name__", "") or without_addresses(repr(search.scoring))
    own = "the score" if search.scoring is None else metric
    scored = search.scoring if isinstance(search.scoring, str) else own
    kind = "random splits stratified by class" if pull.stratified else "random splits"
    held_out = len(pull.split(default_rng(0))[1])
    splits = f"{kind} of this data set ({held_out} of its {count_rows(pull.X)} rows held out)"
    failing = "" if search.error_score == "raise" else f", a fit that fails counting as {search.error_score}"
    noise = f", each score with uniform noise of width {pull.dither:.3g} added" if pull.dither > 0.0 else ""
    return f"{drawn}, where a mean is that of {scored} over {splits}{failing}{noise}"


def fingerprint(search: Any, task: Task, pull: SplitScore) -> str:
    """A hash of the search for its name in a file: data, estimator, settings, metric and target, by value."""
    target = {name: value for name, value in task.to_dict().items() if name not in ("seed", "rules")}
    seed = search.random_state if int_like(search.random_state) else None
    laws = [{name: by_value(values) for name, values in one.items()} for one in parts(search.param_distributions)]
    parameters = (target, search.test_size, search.splits, seed, pull.dither)
    hashes = (
        _hashed("data and fit parameters", (pull.X, pull.y, pull.params, parameters)),
        _hashed("estimator", search.estimator),
        _hashed("param_distributions", laws),
        _hashed("scoring", search.scoring),
    )
    return str(joblib.hash(hashes))


def _hashed(name: str, value: Any) -> str:
    """A hash of the value; raise for functions that cannot be found again by name."""
    try:
        return str(joblib.hash(value))
    except (PicklingError, TypeError, AttributeError):
        condition = "be picklable if storage is given (no lambda, no function inside a function)"
        raise ValueError(f"{name} must {condition}, got {value!r}") from None


def opened(search: Any, draw: Grid | Sampler, pull: SplitScore) -> tuple[Session, Calls]:
    """A session for this search: a new one, or the one already in its file."""
    if search.random_state is None or not int_like(search.random_state):
        seed = int(check_random_state(search.random_state).randint(np.iinfo(np.int32).max))
    else:
        seed = seed_number("random_state", search.random_state)
    algorithm = search.algorithm or ("lucb++" if pull.shared else default_for(pull.model.family))
    plain = search.bounds == "normal" and algorithm == "cc-lucb"
    target: dict[str, Any] = {
        "alpha": search.alpha,
        "epsilon": search.epsilon,
        "delta": search.delta,
        "family": pull.model.text,
        "algorithm": algorithm,
        "options": NORMAL_OPTIONS if plain else {},
        "seed": seed,
        "about": law_in_words(search, draw, pull),
    }
    with _called_bounds():
        task, calls = prepare(draw, pull, **target)
    shareable = not (pull.shared and task.design().traits.independent)
    require(shareable, "algorithm", "allow shared splits, as lucb++ does", search.algorithm)
    if search.storage is None:
        return start(task, calls), calls
    name = "search " + fingerprint(search, task, pull)
    if holds(search.storage, name):
        return proceed(search.storage, draw, pull, name=name, allow_pickle=search.pickle)
    return start(task, calls, search.storage, name, pickle=search.pickle), calls


def running(search: Any) -> Running:
    """Options for running the search."""
    workers = None if search.n_jobs is None else joblib.effective_n_jobs(search.n_jobs)
    return Running(
        executor=search.executor,
        workers=None if search.executor is None and workers == 1 else workers,
        pulls=search.max_fits,
        seconds=search.max_seconds,
        patience=search.patience,
        progress="auto" if search.verbose else "none",
    )
