"""For users of scikit-learn: boosting and model search with proofs. Needs the extra ``sklearn``.

Names are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from topalpha.validate import installing

if find_spec("sklearn") is None:
    raise ImportError(f"topalpha.sklearn needs scikit-learn: {installing('sklearn')}")

_HOMES = {
    "BanditAdaBoostClassifier": "topalpha.sklearn.boosting",
    "TopAlphaSearchCV": "topalpha.sklearn.model_search",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'topalpha.sklearn' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
