"""TopAlphaSearchCV: random search over settings of an estimator that stops when its choice is proved."""

from __future__ import annotations

import os
import time
import warnings
from copy import copy
from functools import partial
from typing import Any

from sklearn import get_config
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import check_scoring
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from topalpha.ask_tell import Result
from topalpha.execution import PATIENCE, PullFailed, depart, exit_code
from topalpha.running import finish
from topalpha.session import Session
from topalpha.sklearn.delegation import Delegating
from topalpha.sklearn.distributions import pool
from topalpha.sklearn.preparation import opened, prepared, running
from topalpha.sklearn.results import columns
from topalpha.sklearn.split_score import SplitScore, Times, scores_without_noise
from topalpha.validate import require, suggesting

# As everywhere in scikit-learn, a scorer turns costs around.
_HINTS = dict.fromkeys(("minimise", "minimize"), "large scores are good: for a cost take scoring='neg_...'") | {
    "n_iter": "how many settings are drawn follows from alpha and delta; a budget is max_fits=",
    "cv": "each fit has a random split of its own; how many rows it holds out is test_size=",
}


class TopAlphaSearchCV(Delegating, BaseEstimator):
    """Random search that stops when its choice is proved: a setting within epsilon of the top alpha fraction.

    Settings (candidates) are drawn as by ``RandomizedSearchCV``. An evaluation fits a setting on a random part of the
    rows and scores it on the rest. The numbers of settings and of fits follow from the target, not from an ``n_iter``
    and a number of folds. The search stops as soon as it is proved, with probability at least 1 - delta, that the mean
    score of the returned setting is within epsilon of the top alpha fraction of all settings. A mean score is over all
    random splits *of this data set*.

    Parameters
    ----------
    estimator
        Has ``fit``, and ``score`` unless ``scoring`` is given. If its ``random_state`` is None, every fit gets its own.
    param_distributions
        A dictionary from names of parameters to lists or distributions (objects with ``rvs``), or a list of such
        dictionaries. If all are lists, the settings are a finite list, drawn without replacement, and the claim is
        about that list.
    alpha, epsilon, delta
        The target. ``epsilon`` is in the unit of the score.
    scoring
        One metric: a name, a callable, or None for ``estimator.score``.
    test_size
        The fraction (or number) of the rows that a fit is scored on.
    splits
        ``"own"``: every setting has its own random splits, which the proofs of cc-lucb and joint-lucb need.
        ``"shared"``: split k is the same for all settings; the algorithm is then lucb++, which needs no independence.
    bounds
        The assumption about scores. ``"normal"``: the scores of one setting are normal, with an unknown variance; this
        is cheapest, and an approximation. ``"low-variance"``, ``"bernoulli"``: scores lie in [0, 1], without further
        assumptions. Or another family as text, such as ``low-variance(-1,1)`` or ``range(-1,1)``.
    dither
        For ``bounds="normal"``: the width of a uniform noise that is added to each score, and does not change its mean.
        Without it a setting whose scores are all equal, for example because it always predicts the majority, would have
        no finite bounds. ``"auto"``: 1 over the number of test rows for accuracy, which moves in such steps; else
        epsilon / 2.
    algorithm
        The algorithm; by default the one that suits bounds and splits.
    executor, n_jobs
        Where fits run: None for this thread, ``"threads"``, ``"processes"``, an executor or a Dask ``Client``; and how
        many run at once. ``n_jobs`` alone means threads; -1 means one per processor.
    storage, pickle
        A file that records every score. A ``fit`` with the same file, data and parameters continues where the last one
        ended. ``pickle`` permits pickles of settings that JSON cannot hold (tuples, estimators).
    max_fits, max_seconds
        A budget. When it is spent, the best guess is returned, and ``certificate_`` states what is proved.
    patience
        Seconds to wait for fits in flight when a budget or a signal ends the search.
    refit
        Whether to fit the best setting on all rows.
    error_score
        ``"raise"``, or the score that counts if a fit fails or a score is not finite.
    random_state
        Seed of settings and splits.
    verbose
        0 is silent; 1 shows progress.

    Attributes
    ----------
    best_params_, best_index_, best_score_
        The returned setting, its row in ``cv_results_``, and its mean score.
    best_estimator_, refit_time_
        That setting fitted on all rows, and the seconds it took.
    certificate_
        The proof and its assumptions: a :class:`topalpha.Certificate`.
    cv_results_
        Columns as in scikit-learn, a row per setting: ``params``, ``param_*``, ``mean_test_score``, ``std_test_score``,
        ``rank_test_score``, ``mean_fit_time``, ...; ``n_splits``, the number of splits that it was scored on; and
        ``lower_bound`` and ``upper_bound``, the bounds that the search used. These are not 95% intervals:
        ``certificate_.levels`` has their levels.
    scores_
        The array of scores of each setting, in the order of its splits.
    n_fits_, n_candidates_
        The numbers of scores and of settings.
    scorer_
        The scorer.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> law = {"var_smoothing": loguniform(1e-9, 1e3)}
    >>> search = TopAlphaSearchCV(GaussianNB(), law, alpha=0.3, epsilon=0.1, delta=0.1, random_state=0).fit(X, y)
    >>> search.certificate_.proved, search.best_score_ > 0.8
    (True, True)
    """

    @partial(suggesting, hints=_HINTS)
    def __init__(
        self,
        estimator: Any,
        param_distributions: Any,
        *,
        alpha: float = 0.05,
        epsilon: float = 0.02,
        delta: float = 0.05,
        scoring: Any = None,
        test_size: float | int = 0.2,
        splits: str = "own",
        bounds: str = "normal",
        dither: str | float = "auto",
        algorithm: str | None = None,
        executor: Any = None,
        n_jobs: int | None = None,
        storage: str | os.PathLike[str] | None = None,
        pickle: bool = False,
        max_fits: int | None = None,
        max_seconds: float | None = None,
        patience: float = PATIENCE,
        refit: bool = True,
        error_score: str | float = "raise",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.param_distributions = param_distributions
        self.alpha = alpha
        self.epsilon = epsilon
        self.delta = delta
        self.scoring = scoring
        self.test_size = test_size
        self.splits = splits
        self.bounds = bounds
        self.dither = dither
        self.algorithm = algorithm
        self.executor = executor
        self.n_jobs = n_jobs
        self.storage = storage
        self.pickle = pickle
        self.max_fits = max_fits
        self.max_seconds = max_seconds
        self.patience = patience
        self.refit = refit
        self.error_score = error_score
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, **params: Any) -> TopAlphaSearchCV:
        """Search, and fit the best setting on all rows.

        ``params`` go to the estimator's ``fit``; those with one entry per row, such as sample weights, are split with
        the rows. With metadata routing they go to the objects that request them. Ctrl-C raises KeyboardInterrupt when
        the fits in flight are over (SIGTERM and SIGHUP raise SystemExit); ``certificate_`` and ``storage`` then hold
        the proof so far.
        """
        require(isinstance(self.refit, bool), "refit", "be True or False", self.refit)
        draw = pool(self.param_distributions)
        if params and _routing():
            process_routing(self, "fit", **params)  # raises on metadata that was not requested
        pull = prepared(self, self._scorer(), X, y, params)
        session, calls = opened(self, draw, pull)
        with session:
            failure = None
            try:
                result = finish(session, calls, running(self))
            except PullFailed as error:
                failure = error
            if failure is not None:
                cause = failure.__cause__ or failure
                cause.add_note(f"This was split {failure.pull.number} of {session.candidates[failure.pull.arm]}.")
                raise cause
            self._keep(session, pull, result)
        times: list[Times] = list(session.notes.values())
        if exit_code(self.certificate_.reason):
            depart(self.certificate_.reason)
        failed = sum(note.failed for note in times)
        if times and failed == len(times):
            raise ValueError(f"All the {failed} fits failed. It is very likely that the model is misconfigured.")
        if failed:
            words = f"{failed} of {len(times)} fits failed or had no finite score, and count as {self.error_score}."
            warnings.warn(words, FitFailedWarning, stacklevel=2)
        if self.refit:
            self._refit(pull)
        return self

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """The score of ``best_estimator_`` by ``scorer_``."""
        found = self._found()
        if params:
            condition = "not be given to score unless metadata routing is enabled"
            require(_routing(), "parameters", condition, sorted(params))
            params = process_routing(self, "score", **params).scorer.score
        score: float = self.scorer_(found, X, y, **params)
        return score

    def __sklearn_clone__(self) -> Any:
        """A clone with the same executor: workers cannot be copied."""
        bare = copy(self)
        bare.executor = None
        made = super(TopAlphaSearchCV, bare).__sklearn_clone__()
        made.executor = self.executor
        return made

    def get_metadata_routing(self) -> Any:
        """The routing of metadata to the estimator's ``fit`` and to the scorer."""
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        to_score = MethodMapping().add(caller="score", callee="score").add(caller="fit", callee="score")
        router = MetadataRouter(owner=self).add(estimator=self.estimator, method_mapping=to_fit)
        return router.add(scorer=self._scorer(), method_mapping=to_score)

    def _scorer(self) -> Any:
        one = self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring)
        require(one, "scoring", "be one metric, as a name or a callable", self.scoring)
        return check_scoring(self.estimator, self.scoring)

    def _keep(self, session: Session, pull: SplitScore, result: Result) -> None:
        rewards, seed = session.rewards, session.task.seed
        scored = [arm for arm, values in enumerate(rewards) if values]
        assert result.certificate is not None
        self.scores_ = [scores_without_noise(rewards[arm], pull.dither, seed, arm) for arm in scored]
        self.cv_results_ = columns(session, scored, self.scores_)
        self.certificate_ = result.certificate
        self.scorer_, self.multimetric_ = pull.scorer, False
        self.n_candidates_, self.n_fits_ = len(scored), sum(map(len, self.scores_))
        self.best_index_ = scored.index(result.certificate.arm)
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.best_score_ = float(self.cv_results_["mean_test_score"][self.best_index_])
        if hasattr(self, "best_estimator_"):
            del self.best_estimator_  # of an earlier fit

    def _refit(self, pull: SplitScore) -> None:
        params = pull.params
        if params and _routing():
            params = process_routing(self, "fit", **params).estimator.fit
        found = clone(self.estimator).set_params(**clone(self.best_params_, safe=False))
        began = time.perf_counter()
        self.best_estimator_ = found.fit(pull.X, **params) if pull.y is None else found.fit(pull.X, pull.y, **params)
        self.refit_time_ = time.perf_counter() - began
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_


def _routing() -> bool:
    return bool(get_config()["enable_metadata_routing"])
