"""Input shared by the commands: checked numbers, the target, the law, the algorithm and its options."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from topalpha.cli.program import refusals, section
from topalpha.validate import (
    LARGEST,
    LARGEST_SEED,
    MOST_RUNS,
    MOST_WIDTH,
    MOST_WORKERS,
    fraction,
    not_negative,
    number_in,
    positive,
    real,
    require,
    whole,
)

if TYPE_CHECKING:
    from topalpha.families.protocols import RewardModel
    from topalpha.reservoirs import Reservoir
    from topalpha.rules.protocol import Algorithm
    from topalpha.rules.registration import Entry

    ParameterType = click.ParamType[Any]
else:
    ParameterType = click.ParamType  # generic only in newer versions

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class Checked(ParameterType):
    """A parameter read by a check of :mod:`topalpha.validate`, with its message on failure."""

    def __init__(self, name: str, check: Callable[[str, Any], Any]) -> None:
        self.name = name
        self.check = check

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value of the text."""
        with refusals():
            return self.check((param.name if param is not None else None) or self.name, value)


def _count(name: str, text: Any, least: int, most: int = LARGEST) -> int:
    try:
        number = int(text)
    except ValueError:
        number = text
    return whole(name, number, least, most)


def _number(name: str, text: Any) -> float:
    return number_in(name, text) if isinstance(text, str) else real(name, text)


NUMBER = Checked("number", _number)
FRACTION = Checked("fraction", lambda name, text: fraction(name, _number(name, text)))
POSITIVE = Checked("number", lambda name, text: positive(name, _number(name, text)))
SECONDS = Checked("seconds", lambda name, text: not_negative(name, _number(name, text)))
PRICE = Checked("price", lambda name, text: not_negative(name, _number(name, text)))
COUNT = Checked("count", lambda name, text: _count(name, text, 1))
RUNS = Checked("count", lambda name, text: _count(name, text, 1, MOST_RUNS))
WORKERS = Checked("count", lambda name, text: _count(name, text, 1, MOST_WORKERS))
WIDTH = Checked("count", lambda name, text: _count(name, text, 1, MOST_WIDTH))
# Some commands count up from the seed.
SEED = Checked("seed", lambda name, text: _count(name, text, 0, LARGEST_SEED // 2))
PORT = Checked("port", lambda name, text: _count(name, text, 0, 65535))


class AlgorithmName(ParameterType):
    """The name of a registered algorithm; checked when the command runs, because importing the registry is slow."""

    name = "name"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The names that start with this text."""
        from topalpha.algorithms import ALGORITHMS

        return [CompletionItem(one.name) for one in ALGORITHMS if one.name.startswith(incomplete)]


#: Where the names and notations of options are listed.
_LISTED = "; all: topalpha list"

_ALPHA = section(
    "Target",
    click.option("--alpha", type=FRACTION, default=0.05, show_default=True, help="The top fraction to aim at."),
)

_LIST_ALPHA = section(
    "Target",
    click.option(
        "--alpha",
        type=FRACTION,
        help="The top fraction of candidates to aim at. Default: the best of a list, or 0.05 of an endless pool.",
    ),
)

near_options = section(
    "Target",
    click.option("--epsilon", type=POSITIVE, default=0.05, show_default=True, help="The allowed distance below it."),
    click.option("--delta", type=FRACTION, default=0.05, show_default=True, help="Allowed probability of an error."),
)


def target_options(command: Decorated) -> Decorated:
    """The options for alpha, epsilon and delta."""
    return _ALPHA(near_options(command))


def list_target_options(command: Decorated) -> Decorated:
    """The same where candidates may come from a list, of which the best is wanted."""
    return _LIST_ALPHA(near_options(command))


law_options = section(
    "Pool and rewards",
    click.option("--reservoir", required=True, help=f"Distribution of the means, such as beta(1,2){_LISTED}."),
    click.option("--at-most", type=NUMBER, help="Condition the reservoir on means of at most this value."),
    click.option("--clip", type=NUMBER, help="Replace higher means by this value."),
    click.option(
        "--family", default="bernoulli", show_default=True, help=f"Rewards, such as gaussian(sigma=0.5){_LISTED}."
    ),
)

rewards_options = section(
    "Rewards",
    click.option("--family", help=f"Such as range(lo,hi) or normal{_LISTED}. Between 0 and 1 unless given."),
    click.option("--minimise", is_flag=True, help="Rewards are costs: small values are good."),
)

json_option = section(
    "Output",
    click.option(
        "--json", "json_target", metavar="FILE", help="Write the results as JSON to this file, or to stdout if -."
    ),
)

workers_option = section(
    "Runs",
    click.option("--workers", type=WORKERS, help="Threads; all cores unless given. Results do not depend on it."),
)


def seed_option(title: str) -> Callable[[Decorated], Decorated]:
    """The option for the seed, in a section of the help."""
    return section(
        title, click.option("--seed", type=SEED, default=0, show_default=True, help="Seed of all random choices.")
    )


option_option = click.option(
    "--option",
    "options",
    multiple=True,
    metavar="NAME=VALUE",
    help="An option of the algorithm, such as clock=N; may be repeated.",
)


def algorithm_option(
    default: str | None, explanation: str = f"Its name{_LISTED}.", *, options: bool = True
) -> Callable[[Decorated], Decorated]:
    """The option for the algorithm, and the one for its own ``options``."""
    name = click.option(
        "--algorithm", type=AlgorithmName(), default=default, show_default=default is not None, help=explanation
    )
    return section("Algorithm", name, *([option_option] if options else []))


def needs(option: str, other: str, holds: bool) -> None:
    """Refuse an option that was given and would be ignored without another one.

    Examples
    --------
    >>> command = click.Command("run", params=[click.Option(["--name"], default="search")])
    >>> with command.make_context("run", ["--name", "second"]):
    ...     needs("name", "--storage", False)
    Traceback (most recent call last):
    topalpha.cli.program.Refused: name must be given together with --storage, got 'second'
    >>> with command.make_context("run", []):
    ...     needs("name", "--storage", False)
    """
    context = click.get_current_context()
    given = context.get_parameter_source(option) in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
    with refusals():
        require(holds or not given, option, f"be given together with {other}", context.params[option])


def runs_option(default: int) -> Callable[[Decorated], Decorated]:
    """The option for the number of runs."""
    return section(
        "Runs", click.option("--runs", type=RUNS, default=default, show_default=True, help="Independent runs.")
    )


def family_of(text: str) -> RewardModel:
    """The family that the text names.

    Examples
    --------
    >>> family_of("gaussian(0.5)")
    Gaussian(sigma=0.5, highest=inf)
    """
    from topalpha.families import parse_family

    with refusals():
        return parse_family(text)


def reservoir_of(text: str, at_most: float | None, clip: float | None, family: RewardModel) -> Reservoir:
    """The reservoir that the text names, if its means are means of the family.

    Examples
    --------
    >>> reservoir_of("beta(1,2)", 0.95, None, family_of("bernoulli")).expression
    'conditioned(beta(1,2),0.95)'
    >>> reservoir_of("uniform(0,2)", None, None, family_of("bernoulli"))
    Traceback (most recent call last):
    topalpha.cli.program.Refused: reservoir must have means between 0 and 1 for bernoulli, got 'uniform(0,2)'
    """
    from topalpha.reservoirs import parse
    from topalpha.simulation import check_means

    with refusals():
        law = parse(text, at_most, clip)
        check_means(law, family)
        return law


def design_of(
    name: str,
    alpha: float,
    epsilon: float,
    delta: float,
    family: RewardModel,
    options: Sequence[str],
    law: Reservoir | None = None,
) -> tuple[Algorithm, dict[str, Any]]:
    """The algorithm for this target, and the options that it was designed with.

    Knowledge about the reservoir that the algorithm needs and ``options`` leave out comes from ``law``, if given.

    Examples
    --------
    >>> algorithm, options = design_of("kl-lucb", 0.05, 0.05, 0.05, family_of("bernoulli"), ["arms=table", "k1=10"])
    >>> algorithm.arms, options
    (60, {'arms': 'table', 'k1': 10.0})
    """
    from topalpha.algorithms import design, entry, prior_knowledge

    with refusals():
        chosen = read_options(entry(name), options)
        if law is not None:
            chosen = prior_knowledge(name, law, alpha, epsilon) | chosen
        return design(name, alpha, epsilon, delta, family, **chosen), chosen


def settable(one: Entry) -> dict[str, Any]:
    """The options of an algorithm with their defaults, without the size of a list, which follows from the list.

    Examples
    --------
    >>> from topalpha.algorithms import entry
    >>> list(settable(entry("cc-lucb")))
    ['bounds', 'delta_u', 'draw_share']
    """
    return {name: value for name, value in one.defaults.items() if name != "pool"}


def read_options(one: Entry, texts: Sequence[str]) -> dict[str, Any]:
    """The options of an algorithm from texts ``name=value``, each read in the type of its default.

    Examples
    --------
    >>> from topalpha.algorithms import entry
    >>> read_options(entry("kl-lucb"), ["k1=30", "clock=N"])
    {'k1': 30.0, 'clock': 'N'}
    >>> read_options(entry("kl-lucb"), ["clock=s"])
    Traceback (most recent call last):
    ValueError: clock must be one of t, N, got 's'
    """
    defaults = settable(one)
    chosen: dict[str, Any] = {}
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        require(bool(name and equals and value), "option", "be written name=value", text)
        require(name in defaults, f"option of {one.name}", f"be one of {', '.join(defaults) or 'none'}", name)
        require(name not in chosen, "option", f"give {name} once", text)
        chosen[name] = _read(name, value, defaults[name], one.options.get(name))
    return chosen


def _read(name: str, text: str, default: Any, choices: Sequence[str] | None) -> Any:
    """The value of the text, in the type of the default; a default of None means a number."""
    if choices is not None:
        require(text in choices, name, f"be one of {', '.join(choices)}", text)
        return text
    if name == "budget":  # it has no default
        return _count(name, text, 1)
    if isinstance(default, str):
        return text
    if isinstance(default, bool):
        require(text in ("true", "false"), name, "be true or false", text)
        return text == "true"
    if isinstance(default, tuple):
        return tuple(_number(name, part) for part in text.split(","))
    return _count(name, text, 0) if isinstance(default, int) else _number(name, text)
