"""The user's two functions with one signature: ``draw`` gives a candidate, ``pull`` a reward or a failure."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.random import Generator, SeedSequence, default_rng
from numpy.typing import NDArray

from topalpha.ask_tell import Pull
from topalpha.execution.endings import released
from topalpha.execution.failures import NoReward
from topalpha.validate import has_length, real, require, seed_number

# Children of the seed. Children 0, 1 and 2 belong to streams(seed), and the runs of a study count up from there.
_DRAW, _PULL, _ITEMS, _LIST, _COMMON, _SHARED = (0x70A10000 + child for child in range(6))


def _generator(seed: int, *child: int) -> Generator:
    return default_rng(SeedSequence(seed, spawn_key=child))


def pull_generator(seed: int, arm: int, number: int) -> Generator:
    """The generator of this pull of this arm, in its initial state.

    Examples
    --------
    >>> pull_generator(0, arm=3, number=1).random() == pull_generator(0, arm=3, number=1).random()
    True
    """
    return _generator(seed, _PULL, arm, number)


def common_generator(rng: Generator) -> Generator:
    """A generator shared by the pulls of the same number of all arms, given the generator of one of them.

    For common random numbers: rewards then depend on each other, which only some proofs allow (lucb++, kl-lucb).

    Examples
    --------
    >>> one, other = pull_generator(0, arm=3, number=1), pull_generator(0, arm=4, number=1)
    >>> one.random() == other.random(), common_generator(one).random() == common_generator(other).random()
    (False, True)
    """
    origin = rng.bit_generator.seed_seq
    assert isinstance(origin, SeedSequence)
    assert isinstance(origin.entropy, int)
    return _generator(origin.entropy, _COMMON, origin.spawn_key[-1])


def place_of(rng: Generator) -> tuple[int, int]:
    """The arm and the number of the pull that owns this generator.

    Examples
    --------
    >>> place_of(pull_generator(0, arm=3, number=1))
    (3, 1)
    """
    origin = rng.bit_generator.seed_seq
    assert isinstance(origin, SeedSequence)
    return int(origin.spawn_key[-2]), int(origin.spawn_key[-1])


class Noted(float):
    """A reward with a note about its pull, for example how long it took.

    The note comes back with the reward from every executor, for ``cost_of`` and the ``notes`` of a session.
    Search and file keep the number only.

    Examples
    --------
    >>> reward = Noted(0.75, {"seconds": 1.5})
    >>> reward + 1.0, reward.note
    (1.75, {'seconds': 1.5})
    """

    note: Any

    def __new__(cls, reward: float, note: Any = None) -> Noted:  # noqa: D102 - the class says it
        made = super().__new__(cls, reward)
        made.note = note
        return made


@lru_cache(maxsize=256)  # few arms are pulled at a time, and an order is quick to compute again
def _order(seed: int, count: int, *child: int) -> NDArray[np.intp]:
    return _generator(seed, *child).permutation(count)


def place_in_list(seed: int, pool: int, arm: int) -> int:
    """The position of this arm's candidate in the list of ``pool`` candidates that a search with this seed was given.

    Examples
    --------
    >>> [place_in_list(0, 3, arm) for arm in range(3)]
    [1, 0, 2]
    """
    return int(_order(seed, pool, _LIST)[arm])


def arm_of(seed: int, pool: int, place: int) -> int:
    """The arm that the candidate at this place of a list of ``pool`` candidates becomes.

    Examples
    --------
    >>> calls = Calls(["a", "b", "c"], max, seed=5)
    >>> calls.place(arm_of(5, 3, 2))
    2
    """
    return int(np.flatnonzero(_order(seed, pool, _LIST) == place)[0])


def _number(value: Any) -> float:
    """The reward as a float, with its note if it has one."""
    number = real("reward", value)
    return value if isinstance(value, Noted) else number


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One pull, ready to be evaluated anywhere: its random numbers depend only on the seed, the arm and the number.

    Examples
    --------
    >>> calls = Calls(lambda: 0.3, lambda mean, rng: rng.normal(mean), seed=0)
    >>> evaluation = calls.evaluation(Pull(arm=0, number=0, order=0), 0.3)
    >>> evaluation() == evaluation()
    True
    """

    function: Callable[..., Any] | None
    arguments: tuple[Any, ...]
    key: tuple[int, int, int, int] | None
    keyword: bool

    def __call__(self) -> float:
        """The reward."""
        return _number(self.call())

    def call(self) -> Any:
        """The value of the function: a number, or an awaitable."""
        assert self.function is not None
        if self.key is None:
            return self.function(*self.arguments)
        rng = _generator(*self.key)
        return self.function(*self.arguments, rng=rng) if self.keyword else self.function(*self.arguments, rng)

    async def wait(self) -> float:
        """The reward of a coroutine function."""
        return _number(await self.call())


Outcome = float | NoReward


def attempt(evaluation: Evaluation) -> Outcome:
    """The reward, or the failure; exceptions outside ``Exception`` (Ctrl-C, an exit) pass through.

    Examples
    --------
    >>> attempt(Evaluation(lambda: 1 / 0, (), None, False)).reason
    'ZeroDivisionError: division by zero'
    """
    try:
        return evaluation()
    except Exception as error:
        return NoReward.of(error)


def attempt_elsewhere(evaluation: Evaluation) -> Outcome:
    """As :func:`attempt`, in another process: the outcome can be sent back.

    Examples
    --------
    >>> attempt_elsewhere(Evaluation(lambda: "2", (), None, False)).reason
    "ValueError: reward must be a real number, got '2'"
    """
    outcome = attempt(evaluation)
    return outcome.portable() if isinstance(outcome, NoReward) else outcome


@lru_cache(maxsize=4)
def _function(packed: bytes) -> Callable[..., Any]:
    loaded: Callable[..., Any] = pickle.loads(packed)
    return loaded


def attempt_packed(function: bytes, evaluation: bytes) -> Outcome:
    """The same from bytes: a failure to unpack must happen here, where it does not break the pool of processes.

    Examples
    --------
    >>> attempt_packed(b"", b"").travel
    True
    """
    try:
        ready = replace(pickle.loads(evaluation), function=_function(function))
    except Exception as error:
        return NoReward.of(error)._replace(travel=True).portable()
    return attempt_elsewhere(ready)


class Calls:
    """The functions that draw and pull candidates.

    Parameters
    ----------
    draw
        ``draw()`` or ``draw(rng)`` returns a candidate; or a list of candidates, taken in random order, each once.
    pull
        ``pull(candidate)`` or ``pull(candidate, rng)`` returns a reward; with items, ``pull(candidate, item)`` or
        ``pull(candidate, item, rng)``. It may be a coroutine function. A further parameter receives the generator if
        it has no default or is called ``rng``.
    seed
        Seeds a generator for every draw and every pull, so that a repeated pull gets the same random numbers.
    items
        Items to try a candidate on, each at most once, in an order of the candidate's own.
    shared
        Whether all candidates try the items in one random order instead.
    words
        The caller's names for ``draw``, ``pull`` and ``items``, for error messages.

    Examples
    --------
    >>> calls = Calls(["a", "b", "c"], lambda name, item: name == item, seed=1, items="abc")
    >>> calls.pool, sorted(calls.candidate(arm) for arm in range(3))
    (3, ['a', 'b', 'c'])
    >>> sorted(calls.evaluation(Pull(0, number, number), "a")() for number in range(3))
    [0.0, 0.0, 1.0]
    """

    def __init__(
        self,
        draw: Any,
        pull: Callable[..., Any],
        *,
        seed: int,
        items: Sequence[Any] | None = None,
        shared: bool = False,
        words: tuple[str, str, str] = ("draw", "pull", "items"),
    ) -> None:
        self.seed = seed_number("seed", seed)
        self.items = items
        self.shared = shared
        drawing, pulling, many = words
        listed = isinstance(draw, (Sequence, np.ndarray)) and not isinstance(draw, (str, bytes)) and has_length(draw)
        require(listed or callable(draw), drawing, "be a function or a list of candidates", draw)
        require(callable(pull), pulling, "be a function", pull)
        if items is not None:
            _check_items(many, items)
        self.draw, self.pull = draw, pull
        #: The number of candidates; 0 if it is unlimited.
        self.pool = len(draw) if listed else 0
        #: Whether pulls must be awaited.
        self.asynchronous = _asynchronous(pull)
        self._draw_rng = ""
        if listed:
            require(self.pool > 0, drawing, "not be empty", draw)
        else:
            require(not _asynchronous(draw), drawing, "be a plain function", draw)
            self._draw_rng = _wants_generator(drawing, draw, ())
        names = ("candidate",) if items is None else ("candidate", many.removesuffix("s"))
        self._pull_rng = _wants_generator(pulling, pull, names)

    def candidate(self, arm: int) -> Any:
        """The candidate of this arm, the same at every call. Ctrl-C may interrupt the drawing."""
        if self.pool > 0:
            return self.draw[self.place(arm)]
        with released():
            if not self._draw_rng:
                return self.draw()
            rng = _generator(self.seed, _DRAW, arm)
            return self.draw(rng=rng) if self._draw_rng == "keyword" else self.draw(rng)

    def place(self, arm: int) -> int:
        """The position of this arm's candidate in the list."""
        require(0 <= arm < self.pool, "arm", f"be below {self.pool}, the number of candidates", arm)
        return place_in_list(self.seed, self.pool, arm)

    def order(self, arm: int) -> NDArray[np.intp]:
        """The positions of the items in the order in which this arm's candidate tries them."""
        assert self.items is not None
        return _order(self.seed, len(self.items), *((_SHARED,) if self.shared else (_ITEMS, arm)))

    def evaluation(self, pull: Pull, candidate: Any) -> Evaluation:
        """The evaluation of this pull."""
        arguments: tuple[Any, ...] = (candidate,)
        if self.items is not None:
            count = len(self.items)
            require(pull.number < count, "pull", f"be one of {count}, the number of items", pull.number)
            arguments += (self.items[int(self.order(pull.arm)[pull.number])],)
        key = (self.seed, _PULL, pull.arm, pull.number) if self._pull_rng else None
        return Evaluation(self.pull, arguments, key, self._pull_rng == "keyword")


def _check_items(name: str, items: Any) -> None:
    """Raise unless ``items`` can be indexed by 0, 1, ..."""
    # pandas objects are indexed by labels, which may differ from positions, or be names of columns.
    condition = "be a list: of a data frame its rows, such as frame.to_dict('records')"
    require(not hasattr(items, "iloc"), name, condition, type(items).__name__)
    listed = has_length(items) and hasattr(items, "__getitem__") and not isinstance(items, Mapping)
    require(listed, name, "be a list", items)
    require(len(items) > 0, name, "not be empty", items)


def _asynchronous(function: Any) -> bool:
    while isinstance(function, partial):
        function = function.func
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _wants_generator(name: str, function: Any, names: tuple[str, ...]) -> str:
    """How the function takes a generator after these arguments: "position", "keyword", or "" if it takes none."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some builtins have no signature
        return ""
    parameters = list(signature.parameters.values())
    places = [one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    named = signature.parameters.get("rng")
    kind = ""
    # A parameter with a default is not ours to fill, unless it is called rng.
    if len(places) > len(names) and (
        places[len(names)].default is inspect.Parameter.empty or places[len(names)] is named
    ):
        kind = "position"
    elif named is not None and (named.kind is named.KEYWORD_ONLY or named in places[len(names) :]):
        kind = "keyword"
    extra = {"rng": None} if kind == "keyword" else {}
    try:
        signature.bind(*names, *([None] if kind == "position" else []), **extra)
    except TypeError:
        plain, more = f"({', '.join(names)})", f"({', '.join((*names, 'rng'))})"
        raise ValueError(f"{name} must take {plain} or {more}, got one that takes {signature}") from None
    return kind
