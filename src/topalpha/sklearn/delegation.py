"""Methods that a fitted model search delegates to its best estimator."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

from sklearn.base import MetaEstimatorMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted


def _require_refit(search: Any, name: str) -> None:
    if not search.refit:
        raise AttributeError(f"{name} must have an estimator fitted on all rows, got refit={search.refit!r}")


def _found_has(name: str) -> Callable[[Any], bool]:
    """Whether the best estimator, or before a fit the given one, has this method."""

    def check(search: Any) -> bool:
        _require_refit(search, name)
        getattr(search.best_estimator_ if hasattr(search, "best_estimator_") else search.estimator, name)
        return True

    return check


class Delegating(MetaEstimatorMixin):
    """Methods of ``best_estimator_``, each available if it has them."""

    def _found(self) -> Any:
        _require_refit(self, "the search")
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    @available_if(_found_has("predict"))
    def predict(self, X: Any) -> Any:
        """``best_estimator_.predict``."""
        return self._found().predict(X)

    @available_if(_found_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """``best_estimator_.predict_proba``."""
        return self._found().predict_proba(X)

    @available_if(_found_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Any:
        """``best_estimator_.predict_log_proba``."""
        return self._found().predict_log_proba(X)

    @available_if(_found_has("decision_function"))
    def decision_function(self, X: Any) -> Any:
        """``best_estimator_.decision_function``."""
        return self._found().decision_function(X)

    @available_if(_found_has("score_samples"))
    def score_samples(self, X: Any) -> Any:
        """``best_estimator_.score_samples``."""
        return self._found().score_samples(X)

    @available_if(_found_has("transform"))
    def transform(self, X: Any) -> Any:
        """``best_estimator_.transform``."""
        return self._found().transform(X)

    @available_if(_found_has("inverse_transform"))
    def inverse_transform(self, X: Any) -> Any:
        """``best_estimator_.inverse_transform``."""
        return self._found().inverse_transform(X)

    @property
    def classes_(self) -> Any:
        """The classes of a classifier."""
        _found_has("classes_")(self)
        return self.best_estimator_.classes_

    @property
    def n_features_in_(self) -> int:
        """The number of features seen by the estimator's fit."""
        try:
            count: int = self._found().n_features_in_
        except NotFittedError as error:  # hasattr must be False
            raise AttributeError(f"{type(self).__name__} object has no n_features_in_ attribute.") from error
        return count

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = deepcopy(inner.classifier_tags)
        tags.regressor_tags = deepcopy(inner.regressor_tags)
        tags.transformer_tags = deepcopy(inner.transformer_tags)
        tags.target_tags = deepcopy(inner.target_tags)
        tags.input_tags.pairwise = inner.input_tags.pairwise
        tags.input_tags.sparse = inner.input_tags.sparse
        return tags
