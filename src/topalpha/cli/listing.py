"""``topalpha list``: the contents of the registries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from topalpha.cli import inputs
from topalpha.cli.output import console, delivery, facts, unmarked
from topalpha.cli.program import Command

# Families in the order of their use: first rewards between 0 and 1, then in a known range, test sets, and others.
_USE = (
    "bernoulli",
    "low-variance",
    "range",
    "pass-fail",
    "graded",
    "normal",
    "gaussian",
    "poisson",
    "exponential",
    "gamma",
)


@click.command("list", cls=Command)
@inputs.json_option
def listing(json_target: str | None) -> None:
    """List algorithms with their options, rewards, and pools."""
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
    from topalpha.algorithms import ALGORITHMS, DEFAULT, PRINCIPAL

    return [
        {
            "name": one.name,
            "default": one.name == DEFAULT,
            "principal": one in PRINCIPAL,
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
    """The reward models and their parameters, those of most use first.

    Examples
    --------
    >>> families()[0]["name"], families()[0]["parameters"]
    ('bernoulli', {'highest': 1.0})
    """
    from topalpha.families import MODELS

    known = {"lo": None, "hi": None}
    rewards = "Any rewards between lo and hi, in their own units (for topalpha run and topalpha plan)."
    found = [*_models(MODELS), {"name": "range", "parameters": known, "rewards": rewards}]
    return sorted(found, key=lambda one: _USE.index(one["name"]) if one["name"] in _USE else len(_USE))


def _models(models: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "parameters": {field: kind._field_defaults.get(field) for field in kind._fields},
            "rewards": unmarked((kind.__doc__ or "").strip().partition("\n")[0]),
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
    """Print readable lists: the recommended algorithms, those of the literature, families and reservoirs."""
    from rich.markup import escape

    page = console()
    groups: dict[str, list[tuple[str, str]]] = {}
    for one in found["algorithms"]:
        groups.setdefault(_group(one), []).append((escape(one["name"]), escape(_described(one))))
    for title, rows in groups.items():
        page.print(f"[bold]{title}[/bold]")
        facts(page, [(f"  {name}", text) for name, text in rows], "bold")
        page.print()
    page.print("Choose one by --algorithm NAME, its options by --option NAME=VALUE.\n")
    page.print("[bold]Rewards[/bold] (--family)")
    for one in found["families"]:
        parameters = ",".join(_parameter(name, value) for name, value in one["parameters"].items())
        page.print(f"  [bold]{one['name']}[/bold]({parameters})")
        facts(page, [("   ", escape(one["rewards"]))])
    page.print("\n[bold]Reservoirs[/bold] (--reservoir; --at-most conditions, --clip clips)")
    for form in found["reservoirs"]:
        page.print(f"  {escape(form)}")


def _group(one: Mapping[str, Any]) -> str:
    """The part of the list that an algorithm belongs to."""
    if one["principal"]:
        return "Recommended algorithms, and the paper's (kl-lucb)"
    if one["guarantee"] == "fixed-confidence":
        return "The field, for comparisons: algorithms that stop with a proof"
    return "The field: algorithms that are told a budget"


def _described(one: Mapping[str, Any]) -> str:
    """The origin of an algorithm, its proof and its options."""
    parts = [("The default: " if one["default"] else "") + one["reference"], f"proof: {one['proof'] or 'none'}"]
    if one["guarantee"] == "none":
        parts.append("no guarantee")
    options = ", ".join(_option(name, option) for name, option in one["options"].items())
    return "; ".join(parts) + "." + (f"\n{options}" if options else "")


def _option(name: str, option: dict[str, Any]) -> str:
    """An option with its default, and the other choices.

    Examples
    --------
    >>> _option("clock", {"default": "t", "choices": ["t", "N"]}), _option("k1", {"default": None, "choices": None})
    ('clock=t (or N)', 'k1=(derived)')
    """
    default = option["default"]
    if option["choices"] is not None:
        first, *others = option["choices"]
        return f"{name}={first} (or {', '.join(others)})"
    if isinstance(default, tuple):
        return f"{name}={','.join(f'{part:g}' for part in default)}"
    unset = "(required)" if name == "budget" else "(derived)"
    return f"{name}={unset if default is None else default}"


def _parameter(name: str, default: float | None) -> str:
    return name if default is None else f"{name}={default:g}"
