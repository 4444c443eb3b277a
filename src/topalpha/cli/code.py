"""Finding a person's own functions: ``MODULE:FUNCTION`` or ``FILE.py:FUNCTION``."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from topalpha.validate import require

_SHAPE = "be written MODULE:FUNCTION or FILE.py:FUNCTION"


def locate(text: str, name: str = "function") -> Any:
    """What the text names; the current folder is searched for modules first, as ``python -m`` does.

    Examples
    --------
    >>> locate("math:sqrt")(4.0)
    2.0
    >>> locate("math:root")
    Traceback (most recent call last):
    ValueError: function must be one that 'math' has, got 'root'
    """
    module, colon, attribute = text.rpartition(":")
    require(bool(colon and module and attribute), name, _SHAPE, text)
    found: Any = load(module, name)
    for part in attribute.split("."):
        require(hasattr(found, part), name, f"be one that {module!r} has", attribute)
        found = getattr(found, part)
    return found


def sibling(text: str, attribute: str) -> str:
    """The same module, another name in it.

    Examples
    --------
    >>> sibling("tasks.prompts:pull", "draw")
    'tasks.prompts:draw'
    """
    return f"{text.rpartition(':')[0]}:{attribute}"


def load(module: str, name: str) -> ModuleType:
    """The module of this name, or in this file; what goes wrong inside it is its own error."""
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    if not module.endswith(".py"):
        try:
            return importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name is None or not (module == error.name or module.startswith(error.name + ".")):
                raise
            raise ValueError(f"{name} must be in a module that can be imported, got {module!r}") from None
    path = Path(module)
    require(path.is_file(), name, "be in a file that exists", module)
    # Under its plain name, and from its own folder, so that worker processes find the same module.
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    found = importlib.import_module(path.stem)
    same = getattr(found, "__file__", None) is not None and Path(str(found.__file__)).resolve() == path.resolve()
    require(same, name, f"be in a file that has a name of its own; there is another module {path.stem!r}", module)
    return found
