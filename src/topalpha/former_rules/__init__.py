"""The rules of earlier versions: a record replays by the rules that it was made by.

The decisions of a search must not change while it is recorded, resumed and verified. So each record has the number of
its rules (``Task.rules``), and what a later version decides otherwise is kept here. Former rules are today's files of
the rooms in ``ROOMS``, read with the modules that were different then (``SUBSTITUTES``) in place of today's. They have
module names of their own, such as ``topalpha.former_rules.rules1.algorithms.joint_lucb``.

Whoever changes a decision raises ``RULES`` by one and moves what is replaced into a file of this folder.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

__all__ = ["RULES", "SUBSTITUTES", "restated", "rules_module"]

#: The number of today's rules.
RULES = 2

#: The rooms that decide.
ROOMS = ("algorithms", "arithmetic", "confidence", "families", "rules", "theory")

#: By the number of former rules: the modules that were different, and their files in this room.
SUBSTITUTES: dict[int, dict[str, str]] = {
    1: {"arithmetic": "c_library", "theory.chances": "chances_by_scipy"},
}

_FORMER = re.compile(r"topalpha\.former_rules\.rules([1-9][0-9]*)(?:\.(.+))?")
_ROOM = re.compile(rf"topalpha\.(?:{'|'.join(ROOMS)})(?:\.|$)")


class FormerRules:
    """Finds and reads the modules of former rules: a finder and loader of the import system."""

    @staticmethod
    def find_spec(fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """The spec of a module of former rules; else None."""
        found = _FORMER.fullmatch(fullname)
        if found is None or int(found[1]) not in SUBSTITUTES:
            return None
        if found[2] is None:
            return ModuleSpec(fullname, FormerRules, is_package=True)  # type: ignore[arg-type]
        substitute = SUBSTITUTES[int(found[1])].get(found[2])
        origin = f"topalpha.{found[2]}" if substitute is None else f"{__name__}.{substitute}"
        today = find_spec(origin) if origin.startswith(__name__) or _ROOM.match(origin) else None
        if today is None:
            return None
        whole = today.submodule_search_locations is not None
        return ModuleSpec(fullname, FormerRules, origin=origin, is_package=whole)  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        """None: a usual module."""

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Run the source of the file with imports from the rooms led to the same former rules."""
        spec = module.__spec__
        assert spec is not None
        if spec.origin is None:
            return
        today = find_spec(spec.origin)
        assert today is not None
        assert today.loader is not None
        source: str = today.loader.get_source(spec.origin)  # type: ignore[attr-defined]
        tree = ast.parse(source)
        home = ".".join(spec.name.split(".")[:3])
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and _ROOM.match(node.module or ""):
                node.module = f"{home}.{(node.module or '').removeprefix('topalpha.')}"
        exec(compile(tree, today.origin or spec.name, "exec"), module.__dict__)


def rules_module(rules: int, name: str) -> Any:
    """A module of one of the rooms, as of these rules.

    Examples
    --------
    >>> rules_module(2, "algorithms").__name__, rules_module(1, "algorithms").__name__
    ('topalpha.algorithms', 'topalpha.former_rules.rules1.algorithms')
    """
    return import_module(f"topalpha.{name}" if rules == RULES else f"{__name__}.rules{rules}.{name}")


def restated(parameters: Any, rules: int) -> Any:
    """The same parameters with the classes of these rules: pickles of version 0.2 name those of today.

    Examples
    --------
    >>> from topalpha import design
    >>> type(restated(design("cc-lucb", 0.1, 0.1, 0.1), 1)).__module__
    'topalpha.former_rules.rules1.algorithms.cc_lucb'
    """
    kind = type(parameters)
    if rules == RULES or not isinstance(parameters, tuple) or not _ROOM.match(kind.__module__):
        return parameters
    home = rules_module(rules, kind.__module__.removeprefix("topalpha."))
    return getattr(home, kind.__qualname__)(*(restated(part, rules) for part in parameters))


sys.meta_path.insert(0, FormerRules)
