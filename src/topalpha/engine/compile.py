"""The compiler of plain rule bodies; the only module that imports numba.

At compile time every method of a parameter tuple is resolved to the method of the tuple's own class; so
``self.family.upper(...)`` compiles the same body that Python would run.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.core import types
from numba.extending import overload, overload_attribute, overload_method, register_jitable

from topalpha import arithmetic, confidence, families, rules
from topalpha.families import draws
from topalpha.validate import require

#: The rooms whose plain functions rule bodies may call.
SHARED_ROOMS: tuple[ModuleType, ...] = (arithmetic, families, confidence, rules)

#: Modules that run on the host only: input checks, texts of families, theory, reservoirs and the registry. An edit of
#: them compiles nothing again.
HOST = re.compile(r"topalpha\.(validate|randomness|families\.units|(theory|reservoirs)(\..*)?|algorithms)$")

# Compiled code borrows its arrays from a caller that keeps them alive. Counting references instead would cost an atomic
# increment and decrement per array and call: more than all the mathematics of a round.
_OPTIONS = {"_nrt": False}

_LONGEST_TUPLE = 16

_registered_methods: dict[str, int] = {}
_registered_properties: set[str] = set()


def _register_method(name: str, method: FunctionType) -> None:
    """Resolve ``tuple.name(...)`` in compiled code to the method of the tuple's own class."""
    arguments = len(inspect.signature(method).parameters)
    if name in _registered_methods:
        require(
            arguments == _registered_methods[name],
            f"{method.__qualname__}",
            f"take {_registered_methods[name]} arguments like the other compiled methods of that name",
            arguments,
        )
        return

    def resolve(self: Any, *rest: Any) -> Any:
        return getattr(self.instance_class, name, None)

    # Numba binds calls by this signature, so it must have as many positions as the methods.
    position = inspect.Parameter.POSITIONAL_OR_KEYWORD
    names = ["self", *(f"argument{index}" for index in range(1, arguments))]
    resolve.__signature__ = inspect.Signature([inspect.Parameter(n, position) for n in names])  # type: ignore[attr-defined]
    overload_method(types.BaseNamedTuple, name, strict=False, jit_options=_OPTIONS)(resolve)
    _registered_methods[name] = arguments


def _register_property(name: str) -> None:
    """Resolve ``tuple.name`` in compiled code to the property of the tuple's own class."""

    def resolve(self: Any) -> Any:
        cls = self.instance_class
        if name in cls._fields:  # one tuple's field may have the name of another's property
            place = cls._fields.index(name)
            return lambda self: self[place]
        return getattr(cls, name).fget if hasattr(cls, name) else None

    overload_attribute(types.BaseNamedTuple, name, strict=False, jit_options=_OPTIONS)(resolve)
    _registered_properties.add(name)


def parameter_classes(parameters: Any) -> list[type]:
    """The classes of this tuple, of those that its methods make (``builds``), and of the tuples in its fields."""
    found = [type(parameters), *getattr(parameters, "builds", ())]
    for value in parameters:
        if isinstance(value, tuple):
            found.extend(parameter_classes(value))
    return found


def _register_classes(classes: list[type]) -> None:
    for cls in classes:
        for name in dir(cls):
            member = inspect.getattr_static(cls, name)
            if isinstance(member, FunctionType) and not name.startswith("_"):
                _register_method(name, member)
            if isinstance(member, property) and name not in _registered_properties:
                _register_property(name)
    for cls in classes:
        for field in getattr(cls, "_fields", ()):
            # Compiled code would find the other class's method instead of this field.
            require(field not in _registered_methods, f"a field of {cls.__name__}", "not be named like a method", field)


@cache
def _register_function(function: Callable[..., Any], allocates: bool) -> None:
    options = {"_nrt": True} if allocates else _OPTIONS
    tables = {
        name: np.array(value)
        for name in function.__code__.co_names
        if isinstance(value := function.__globals__.get(name), tuple) and len(value) > _LONGEST_TUPLE
    }
    if not tables:
        register_jitable(**options)(function)
        return
    # The compiler makes a variable of each element of a tuple; an array it takes as it is.
    code, names = function.__code__, function.__globals__ | tables
    body = FunctionType(code, names, function.__name__, function.__defaults__, function.__closure__)

    def resolve(*_: Any) -> Any:
        return body

    resolve.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
    overload(function, strict=False, jit_options=options)(resolve)


SHARED_MODULES: tuple[ModuleType, ...] = tuple(
    import_module(found.name)
    for room in SHARED_ROOMS
    for found in pkgutil.iter_modules(room.__path__, f"{room.__name__}.")
    if not HOST.match(found.name)
)

for _module in SHARED_MODULES:
    for _function in list(vars(_module).values()):
        if isinstance(_function, FunctionType) and _function.__module__ == _module.__name__:
            _register_function(_function, allocates=_module is draws)


@cache
def _imports(name: str) -> tuple[str, ...]:
    """The modules of this package that a module imports at its top level, where compiled code can see them."""
    tree = ast.parse(Path(str(sys.modules[name].__file__)).read_bytes())
    named: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            named += [f"{node.module}", *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            named += [alias.name for alias in node.names]
    return tuple(
        found for found in named if found.startswith("topalpha.") and not HOST.match(found) and found in sys.modules
    )


def _sources(names: Iterable[str]) -> set[Path]:
    """The files of these modules and of everything that they import from this package, directly or indirectly."""
    seen: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(_imports(name))
    return {Path(str(sys.modules[name].__file__)) for name in seen}


def _files(parts: Iterable[Any]) -> set[Path]:
    """All source files of a compiled loop with these classes and functions.

    The shared rooms count as a whole: a rule may call any of their functions.
    """
    return _sources([__name__, *(module.__name__ for module in SHARED_MODULES), *(part.__module__ for part in parts)])


def _digest(parts: Iterable[Any]) -> str:
    """A hash of all these source files.

    Numba's disk cache checks only the file of the compiled function; without this hash an edited rule would run stale.
    Constants are compiled in, so imported modules count as well.
    """
    digest = hashlib.sha256()
    for file in sorted(_files(parts)):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def compiled(function: Callable[..., Any], classes: tuple[type, ...] = ()) -> Any:
    """The function, compiled for parameter tuples of these classes, from the disk cache if possible.

    The function must not own arrays: the functions it calls borrow them from its caller.
    """
    _register_classes(list(classes))
    cacheable = all(
        cls.__module__ != "__main__" and hasattr(sys.modules[cls.__module__], "__file__") for cls in classes
    )
    _register_function(function, allocates=False)

    def entry(*arguments: Any) -> Any:
        return function(*arguments)

    # Numba reads the index file of a function whole, and fails on classes that it cannot import: of other programs,
    # or of an earlier version of this package. So each function, set of classes and state of the source has its own.
    parts: list[Any] = [function, *classes]
    names = " ".join(f"{part.__module__}.{part.__qualname__}" for part in parts)
    name = hashlib.sha256(f"{names} {_digest(parts) if cacheable else ''}".encode()).hexdigest()
    entry.__qualname__ = f"entry_{name[:16]}"
    return numba.njit(nogil=True, cache=cacheable)(entry)
