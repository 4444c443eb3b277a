"""``topalpha list``: the contents of the registries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from topalpha.cli import inputs
from topalpha.cli.output import console, delivery


@click.command("list")
@inputs.json_option
def listing(json_target: str | None) -> None:
    """List the algorithms with their options, the reward families, and the notation of reservoirs."""
    with delivery(json_target) as deliver:
        found = {"algorithms": algorithms(), "families": families(), "reservoirs": reservoirs()}
        deliver(found)
    if json_target != "-":
        show(found)


def algorithms() -> list[dict[str, Any]]:
    """The registered algorithms.

    Examples
    --------
    >>> [one["name"] for one in algorithms()][0]
    'joint-lucb'
    """
    from topalpha.algorithms import ALGORITHMS, DEFAULT

    return [
        {
            "name": one.name,
            "default": one.name == DEFAULT,
            "guarantee": one.guarantee,
            "reference": one.reference,
            "proof": one.proof,
            "options": {
                name: {"default": default, "choices": list(one.options[name]) if name in one.options else None}
                for name, default in inputs.settable(one).items()
            },
        }
        for one in ALGORITHMS
    ]


def families() -> list[dict[str, Any]]:
    """The reward models and their parameters.

    Examples
    --------
    >>> families()[1]["name"], families()[1]["parameters"]
    ('gaussian', {'sigma': 1.0, 'highest': inf})
    """
    from topalpha.families import MODELS

    known = {"lo": None, "hi": None}
    rewards = "Any rewards between lo and hi, in their own units (for `topalpha run`)."
    return [
        *_models(MODELS),
        {"name": "range", "parameters": known, "rewards": rewards},
    ]


def _models(models: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "parameters": {field: kind._field_defaults.get(field) for field in kind._fields},
            "rewards": (kind.__doc__ or "").strip().partition("\n")[0],
        }
        for name, kind in models.items()
    ]


def reservoirs() -> list[str]:
    """The notation of reservoirs.

    Examples
    --------
    >>> reservoirs()[0]
    'beta(a,b)'
    """
    from topalpha.reservoirs.text import FORMS

    return list(FORMS)


def show(found: dict[str, Any]) -> None:
    """Print three readable lists."""
    from rich.markup import escape

    page = console()
    page.print("[bold]Algorithms[/bold] (--algorithm, --option name=value)")
    for one in found["algorithms"]:
        default = ", the default" if one["default"] else ""
        page.print(f"  [bold]{one['name']}[/bold]: {one['guarantee']}{default}")
        page.print(f"      {escape(one['reference'])}; proof: {escape(one['proof'] or 'none')}")
        for name, option in one["options"].items():
            page.print(f"      {escape(_option(name, option))}", soft_wrap=True)
    page.print("\n[bold]Families[/bold] (--family)")
    for one in found["families"]:
        parameters = ",".join(_parameter(name, value) for name, value in one["parameters"].items())
        page.print(f"  [bold]{one['name']}[/bold]({parameters}): {escape(one['rewards'])}", soft_wrap=True)
    page.print("\n[bold]Reservoirs[/bold] (--reservoir; --at-most conditions, --clip clips)")
    for form in found["reservoirs"]:
        page.print(f"  {escape(form)}")


def _option(name: str, option: dict[str, Any]) -> str:
    """An option with its choices (the default first), or with its default.

    Examples
    --------
    >>> _option("clock", {"default": "t", "choices": ["t", "N"]}), _option("k1", {"default": None, "choices": None})
    ('clock=t|N', 'k1=(derived)')
    """
    if option["choices"] is not None:
        return f"{name}={'|'.join(option['choices'])}"
    default = option["default"]
    if isinstance(default, tuple):
        return f"{name}={','.join(f'{part:g}' for part in default)}"
    return f"{name}={'(derived)' if default is None else default}"


def _parameter(name: str, default: float | None) -> str:
    return name if default is None else f"{name}={default:g}"
