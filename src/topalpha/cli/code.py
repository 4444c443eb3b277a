"""Finding the user's functions: ``MODULE:FUNCTION`` or ``FILE.py:FUNCTION``."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from topalpha.validate import require

_SHAPE = "be written MODULE:FUNCTION or FILE.py:FUNCTION"


def locate(text: str, name: str = "function") -> Any:
    """The object that the text names; modules are looked up in the current folder first, as by ``python -m``.

    Examples
    --------
    >>> locate("math:sqrt")(4.0)
    2.0
    >>> locate("math:root")
    Traceback (most recent call last):
    ValueError: function must be defined in 'math', got 'root'
    """
    module, attribute = split(text, name)
    found: Any = load(module, name)
    for part in attribute.split("."):
        require(hasattr(found, part), name, f"be defined in {module!r}", attribute)
        found = getattr(found, part)
    return found


def split(text: str, name: str = "function") -> tuple[str, str]:
    """The module or file, and the name in it.

    Examples
    --------
    >>> split("tasks.prompts:pull")
    ('tasks.prompts', 'pull')
    """
    module, colon, attribute = text.rpartition(":")
    require(bool(colon and module and attribute), name, _SHAPE, text)
    return module, attribute


def sibling(text: str, attribute: str) -> str:
    """The same module with another name in it.

    Examples
    --------
    >>> sibling("tasks.prompts:pull", "draw")
    'tasks.prompts:draw'
    """
    return f"{text.rpartition(':')[0]}:{attribute}"


def whereabouts(module: str) -> str:
    """The file that :func:`load` would run for this module, found without running anything.

    Examples
    --------
    >>> whereabouts("json.decoder").endswith("decoder.py")
    True
    >>> whereabouts("no_such_module"), whereabouts("sys")
    ('nowhere that can be found', 'Python itself')
    """
    if module.endswith(".py"):
        return os.path.realpath(module)
    spec, path = None, None
    parts = module.split(".")
    for end in range(1, len(parts) + 1):
        spec = _spec(".".join(parts[:end]), path)
        if spec is None:
            return "nowhere that can be found"
        try:
            path = list(spec.submodule_search_locations or ())
        except (KeyError, AttributeError):  # nested namespace packages, not imported yet
            return f"a folder {parts[end - 1]!r}"
    assert spec is not None
    if spec.has_location and spec.origin is not None:
        return spec.origin
    return ", ".join(path or ()) or "Python itself"


def _spec(module: str, path: list[str] | None) -> ModuleSpec | None:
    """The spec that an import would find; ``importlib.util.find_spec`` would import the parent packages."""
    if module in sys.modules and sys.modules[module].__spec__ is not None:
        return sys.modules[module].__spec__
    first = [] if path is not None else [str(Path.cwd())]
    for finder in sys.meta_path:
        places = [*first, *sys.path] if path is None and finder is PathFinder else path
        found = finder.find_spec(module, places)
        if found is not None:
            return found
    return None


def load(module: str, name: str) -> ModuleType:
    """The module of this name or file; an import that fails raises one sentence with the error and its line."""
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    if not module.endswith(".py"):
        with _importing(module, name):
            return importlib.import_module(module)
    path = Path(module)
    require(os.path.isfile(path), name, "be in a file that exists", module)
    # Imported under its plain name, from its own folder, so that worker processes find the same module.
    folder = os.path.dirname(os.path.realpath(path))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    with _importing(module, name):
        found = importlib.import_module(path.stem)
    same = getattr(found, "__file__", None) is not None and os.path.samefile(str(found.__file__), path)
    require(same, name, f"be in a file whose name no other module has; there is another {path.stem!r}", module)
    return found


@contextmanager
def _importing(module: str, name: str) -> Iterator[None]:
    """Turn an error inside an imported module into one sentence that says where it happened."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or not (module == error.name or module.startswith(error.name + ".")):
            raise ValueError(_failure(module, name, error)) from error
        raise ValueError(f"{name} must be in a module that can be imported, got {module!r}") from None
    except (Exception, SystemExit) as error:  # a module may raise anything, or exit
        raise ValueError(_failure(module, name, error)) from error


def _failure(module: str, name: str, error: BaseException) -> str:
    """The module's error, with the last line of the module that ran."""
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if not _internal(frame.filename)]
    if isinstance(error, SyntaxError) and error.filename:
        place = f", line {error.lineno} of {error.filename}"
        what = error.msg
    else:
        place = f", line {lines[-1].lineno} of {lines[-1].filename}" if lines else ""
        what = " ".join(str(error).split())
    kind = type(error).__name__
    return f"{name} must be in a module that can be imported, got {module!r} ({kind}: {what}{place})"


def _internal(filename: str) -> bool:
    """Whether this file belongs to the import machinery, or is this module."""
    return filename.startswith("<frozen ") or filename in (__file__, importlib.__file__)
