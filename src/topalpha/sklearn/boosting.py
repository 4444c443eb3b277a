"""AdaBoost whose weak learners are found by a search among stumps, with a certificate per round."""

from __future__ import annotations

import time
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.extmath import softmax
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from topalpha.boosting.lazy import LazyRows, evaluate_all
from topalpha.boosting.rounds import Asking, rounds
from topalpha.boosting.rows import ColumnRows, Stump, WeightedRows, compiled_pass

#: The default limit on the pulls of one round.
MAX_PULLS = 1_000_000


def _columns(X: NDArray[Any]) -> NDArray[Any]:
    """The transposed array, copied in blocks of rows: much quicker than copying it at once."""
    if X.flags.f_contiguous:
        # Compiled code takes no read-only arrays, such as data frames give.
        return X.T if X.flags.writeable else X.T.copy()
    columns = np.empty(X.shape[::-1], dtype=X.dtype)
    for first in range(0, len(X), 4096):
        columns[:, first : first + 4096] = X[first : first + 4096].T
    return columns


class BanditAdaBoostClassifier(ClassifierMixin, BaseEstimator):
    """AdaBoost (SAMME) on decision stumps, each found by a search with a certificate.

    A round searches for a good stump as for a good arm (candidate) of an endless pool. An arm is a stump: a random
    feature and, on that, the best cut and the two best classes for 128 rows drawn by weight. A pull (evaluation) draws
    one more row by weight; the reward is 1 if the stump classifies it correctly. The mean reward is the stump's
    weighted accuracy on the training rows, and its *edge* is that minus 1/K, the accuracy of guessing among K classes.
    The search costs as much on a thousand rows as on a billion; only a few passes per round over one column and the
    weights grow with the rows. The stump gets the weight that AdaBoost gives it for its *exact* error.

    docs/boosting.md states the proof, and what ``delta`` covers.

    Parameters
    ----------
    n_estimators
        The most rounds. There are fewer if a stump makes no error, or if a round spends ``max_pulls`` and finds no
        stump better than guessing; ``reason_`` says so.
    question
        ``"edge"``: is there a stump whose edge is at least gamma? Gamma follows the edges of the last rounds, and is
        lowered if the answer is no. ``"best"``: which stump is near the top ``alpha`` fraction of all stumps?
    alpha
        The top fraction of stumps, in the answer no of ``"edge"`` and in ``"best"``.
    epsilon
        ``"edge"``: a stump is accepted once its edge is proved to be at least (1 - epsilon) gamma. ``"best"``: the
        stump's edge is within epsilon gamma of the top.
    delta
        All claims of a round are true with probability at least 1 - delta; all claims of a fit, with probability at
        least 1 - delta times the number of rounds.
    learning_rate
        Shrinks the weight of every stump.
    features
        None for the columns of X. Or random features of your own: a function, or an object with a method, ``draw(rng)``
        that returns a function of rows. That function takes a block of rows of X and must return one number per row,
        the same at every call and for any other rows in the block. It is evaluated only on the rows that its stump is
        tried on, and on all rows if its stump is taken.
    max_pulls
        A round ends after about this many pulls, by default a million, and then claims nothing about its stump: of the
        eight stumps that look best it takes the one that is best on all rows.
    random_state
        Seed of all draws of rows and stumps.

    Attributes
    ----------
    classes_
        The class labels.
    estimators_
        The stumps: feature, cut, and the numbers of the classes left and right of it.
    estimator_weights_, estimator_errors_, edges_
        Their weights, and their exact weighted errors and edges on the training rows.
    pulls_
        Pulls of each round; each drawn stump looks at 128 more rows (``certificates_[k].arms`` counts the stumps).
    round_seconds_
        Seconds from the beginning of ``fit`` until each round had its stump.
    certificates_
        The proof of each round, as :class:`topalpha.boosting.rounds.RoundCertificate`.
    reason_
        Why the fit ended: ``"all rounds"``, ``"no error"`` (the last stump makes none), or ``"nothing better than
        guessing"`` (a round spent ``max_pulls`` and found no such stump).
    n_features_in_, feature_names_in_
        As in all of scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import make_hastie_10_2
    >>> X, y = make_hastie_10_2(2000, random_state=0)
    >>> model = BanditAdaBoostClassifier(100, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.8
    True
    >>> certificate = model.certificates_[0]
    >>> certificate.proved, bool(certificate.edge_at_least <= model.edges_[0])
    (True, True)
    """

    _parameter_constraints: dict[str, Any] = {  # noqa: RUF012 - scikit-learn's protocol
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "question": [StrOptions({"edge", "best"})],
        "alpha": [Interval(Real, 0.0, 1.0, closed="neither")],
        "epsilon": [Interval(Real, 0.0, 1.0, closed="neither")],
        "delta": [Interval(Real, 0.0, 1.0, closed="neither")],
        "learning_rate": [Interval(Real, 0.0, None, closed="neither")],
        "features": [None, callable, HasMethods("draw")],
        "max_pulls": [None, Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_estimators: int = 50,
        *,
        question: str = "edge",
        alpha: float = 0.05,
        epsilon: float = 0.5,
        delta: float = 0.05,
        learning_rate: float = 1.0,
        features: Any = None,
        max_pulls: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.question = question
        self.alpha = alpha
        self.epsilon = epsilon
        self.delta = delta
        self.learning_rate = learning_rate
        self.features = features
        self.max_pulls = max_pulls
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> BanditAdaBoostClassifier:
        """Find the stumps.

        Parameters
        ----------
        X
            Rows by features. Column order (Fortran) saves a copy, and 32-bit numbers save half of the memory.
        y
            Class labels.
        sample_weight
            Weights of the rows; equal by default. Rows of weight 0 are never looked at.
        """
        begin = time.perf_counter()
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32])
        check_classification_targets(y)
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        self.classes_ = np.unique(y)
        labels = np.searchsorted(self.classes_, y)
        if len(np.unique(labels[weights > 0.0])) < 2:
            raise ValueError("Classifier can't train when only one class is present.")
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        rng = np.random.default_rng(seed)
        data: WeightedRows
        if self.features is None:
            data = ColumnRows(_columns(X), labels, weights, len(self.classes_), rng)
        else:
            draw = getattr(self.features, "draw", self.features)
            data = LazyRows(draw, X, labels, weights, len(self.classes_), rng)
        asking = Asking(
            question=self.question,
            alpha=float(self.alpha),
            epsilon=float(self.epsilon),
            delta=float(self.delta),
            learning_rate=float(self.learning_rate),
            max_pulls=MAX_PULLS if self.max_pulls is None else int(self.max_pulls),
        )
        done, seconds = [], []
        for one in rounds(data, asking, int(self.n_estimators)):
            done.append(one)
            seconds.append(time.perf_counter() - begin)
        if not done:
            words = f"no stump better than guessing was found in {asking.max_pulls} pulls"
            raise ValueError(f"{words}, the ensemble can not be fit.")
        self.estimators_: list[Stump] = [one.stump for one in done]
        self.estimator_weights_ = np.array([one.estimator_weight for one in done])
        self.estimator_errors_ = np.array([one.error for one in done])
        self.edges_ = 1.0 - 1.0 / len(self.classes_) - self.estimator_errors_
        self.certificates_ = [one.certificate for one in done]
        self.pulls_ = np.array([one.pulls for one in self.certificates_])
        self.round_seconds_ = np.array(seconds)
        self.reason_ = "all rounds" if len(done) == self.n_estimators else "nothing better than guessing"
        if done[-1].error == 0.0:
            self.reason_ = "no error"
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """The weighted majority of the stumps, between -2 and 2, for two classes; else one score per class."""
        X, votes = self._ballot(X)
        self._vote(X, slice(None), votes)
        return self._scores(votes, len(self.estimators_))

    def staged_decision_function(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """The decision function after each round."""
        X, votes = self._ballot(X)
        for number in range(len(self.estimators_)):
            self._vote(X, slice(number, number + 1), votes)
            yield self._scores(votes, number + 1)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the highest score."""
        return self._decide(self.decision_function(X))

    def staged_predict(self, X: Any) -> Iterator[NDArray[Any]]:
        """The prediction after each round."""
        for decision in self.staged_decision_function(X):
            yield self._decide(decision)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Softmax of the scores, as in scikit-learn's AdaBoost: useful for ranking, not calibrated."""
        return self._probabilities(self.decision_function(X))

    def staged_predict_proba(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """The probabilities after each round."""
        for decision in self.staged_decision_function(X):
            yield self._probabilities(decision)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of :meth:`predict_proba`."""
        logarithms: NDArray[np.float64] = np.log(self.predict_proba(X))
        return logarithms

    def _ballot(self, X: Any) -> tuple[NDArray[Any], NDArray[np.float64]]:
        check_is_fitted(self)
        X = validate_data(self, X, dtype=[np.float64, np.float32], reset=False)
        return X, np.zeros((len(X), len(self.classes_)))

    def _vote(self, X: NDArray[Any], which: slice, votes: NDArray[np.float64]) -> None:
        weights = self.estimator_weights_[which]
        stumps = self.estimators_[which]
        lazy = callable(stumps[0].feature)
        cuts = np.array([stump.cut for stump in stumps])
        sides = np.array([(stump.left, stump.right) for stump in stumps])
        if not lazy:
            features = np.array([stump.feature for stump in stumps])
            compiled_pass("tally")(X, features, cuts, sides[:, 0].copy(), sides[:, 1].copy(), weights, votes)
            return
        for stump, side, cut, weight in zip(stumps, sides, cuts, weights, strict=True):
            values = evaluate_all(stump.feature, X)
            votes[np.arange(len(votes)), np.where(values <= cut, *side)] += weight

    def _scores(self, votes: NDArray[np.float64], stumps: int) -> NDArray[np.float64]:
        """SAMME's scores: a stump of weight w gives its class w, and each other class -w/(K - 1)."""
        kinds = len(self.classes_)
        total = self.estimator_weights_[:stumps].sum()
        scores: NDArray[np.float64] = (kinds * votes / total - 1.0) / (kinds - 1.0)
        return scores[:, 1] - scores[:, 0] if kinds == 2 else scores

    def _decide(self, decision: NDArray[np.float64]) -> NDArray[Any]:
        numbers = (decision > 0.0).astype(int) if decision.ndim == 1 else np.argmax(decision, axis=1)
        labels: NDArray[Any] = self.classes_[numbers]
        return labels

    def _probabilities(self, decision: NDArray[np.float64]) -> NDArray[np.float64]:
        if decision.ndim == 1:
            decision = np.column_stack([-decision, decision]) / 2.0
        else:
            decision = decision / (len(self.classes_) - 1.0)
        probabilities: NDArray[np.float64] = softmax(decision, copy=False)
        return probabilities
