"""Parameters: named tuples whose fields are inherited, so that an algorithm is one class with its parameters and rules.

``typing.NamedTuple`` allows neither further base classes nor inherited fields.
"""

from __future__ import annotations

import inspect
from collections import namedtuple
from typing import TYPE_CHECKING, Any, dataclass_transform

from topalpha.families.protocols import RewardModel

if TYPE_CHECKING:
    from typing import Self


@dataclass_transform(frozen_default=True)
class Fields(type):
    """The type of classes that are named tuples of annotated names: those of their bases first, then their own."""

    def __new__(mcs, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> Fields:
        """The class; its instances have the fields and no other attributes."""
        return super().__new__(mcs, name, bases, {"__slots__": (), **members})

    def __init__(cls, name: str, bases: tuple[type, ...], members: dict[str, Any]) -> None:
        super().__init__(name, bases, members)
        inherited = (field for base in cls.__mro__[:0:-1] for field in vars(base).get("_fields", ()))
        made = namedtuple(name, dict.fromkeys((*inherited, *inspect.get_annotations(cls))))  # type: ignore[misc]
        for key, member in vars(made).items():
            if key not in vars(cls):
                setattr(cls, key, member)


class Named(tuple[Any, ...], metaclass=Fields):
    """A named tuple; classes below it add fields by annotations, without defaults, and may have other bases.

    Examples
    --------
    >>> class Point(Named):
    ...     x: float
    >>> class Weighted(Point):
    ...     weight: float
    >>> Weighted(1.0, weight=2.0), Weighted(1.0, 2.0)._replace(x=3.0)._asdict()
    (Weighted(x=1.0, weight=2.0), {'x': 3.0, 'weight': 2.0})
    """

    if TYPE_CHECKING:

        def _replace(self, **changes: Any) -> Self: ...
        def _asdict(self) -> dict[str, Any]: ...


class Parameters(Named):
    """The first fields of every algorithm: the target, the number of arms to query, and the reward model."""

    alpha: float
    epsilon: float
    delta: float
    arms: int
    family: RewardModel
