"""``topalpha bounds``: the theory's bounds for a reservoir and a target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from topalpha.cli import inputs
from topalpha.cli.output import console, delivery, facts
from topalpha.cli.program import Command, refusals, section

if TYPE_CHECKING:
    from topalpha.families.protocols import RewardFamily
    from topalpha.reservoirs import Reservoir
    from topalpha.theory import Bound

#: Descriptions of the calculators, in the order of the output.
TITLES = {
    "lower_bound": "Theorem 1: expected pulls of any (α, δ)-correct algorithm, at least",
    "relaxed_lower_bound": "the same for (α, ε, δ)-correct ones, corrected",
    "printed_relaxed_lower_bound": "the same as the paper prints it",
    "complexity": "H-bar, the complexity of the reservoir",
    "upper_bound": "T*: kl-lucb's pulls exceed it with probability at most 3.5 δ",
    "leading_term": "leading term of Theorem 2: 12 C₀ H-bar ln(1/δ)²",
    "epsilon_for_alpha_correctness": "ε for (α, δ)-correctness, in a run with α/2",
}


@click.command(cls=Command)
@inputs.law_options
@inputs.target_options
@section(
    "Algorithm",
    click.option(
        "--gamma", type=inputs.NUMBER, default=1.1, show_default=True, help="Exponent of the exploration rate."
    ),
)
@inputs.json_option
def bounds(
    family: str,
    reservoir: str,
    at_most: float | None,
    clip: float | None,
    alpha: float,
    epsilon: float,
    delta: float,
    gamma: float,
    json_target: str | None,
) -> None:
    """Compute the bounds of the theory for a pool and a target.

    Numbers of arms (candidates) to draw, lower bounds, the complexity and upper bounds. Where a theorem does not apply,
    the reason is given; the number beside it is arithmetic, not a bound.

    Example: topalpha bounds --reservoir "beta(1,1)" --at-most 0.95 --alpha 0.05 --epsilon 0.05 --delta 0.05
    """
    rewards = inputs.family_of(family)
    law = inputs.reservoir_of(reservoir, at_most, clip, rewards)
    with refusals():
        from topalpha.families import checked

        found = calculate(law, alpha, epsilon, delta, checked(rewards), gamma)
    with delivery(json_target) as deliver:
        deliver(found)
    if json_target != "-":
        show(found)


def calculate(
    law: Reservoir, alpha: float, epsilon: float, delta: float, family: RewardFamily, gamma: float = 1.1
) -> dict[str, Any]:
    """The results of all theory calculators.

    Examples
    --------
    >>> from topalpha.families import Bernoulli
    >>> from topalpha.reservoirs import parse
    >>> found = calculate(parse("beta(1,1)", at_most=0.95), 0.05, 0.05, 0.05, Bernoulli())
    >>> found["arms"]["paper"], round(found["bounds"]["lower_bound"]["value"], 3)
    (74, 141.628)
    """
    from topalpha import theory
    from topalpha.algorithms import PRINCIPAL, design
    from topalpha.families import describe

    drawn = {one.name: design(one.name, alpha, epsilon, delta, family).arms for one in PRINCIPAL}  # checks the target
    target = (law, alpha, epsilon, delta, family)
    k1 = 2.0 * (1.0 + 1.0 / (gamma - 1.0)) if gamma > 1.0 else 1.0  # errata E1; upper_bound refuses the others
    by_name: dict[str, Bound] = {
        "lower_bound": theory.lower_bound(law, alpha, delta, family, arithmetic=True),
        "relaxed_lower_bound": theory.relaxed_lower_bound(*target, arithmetic=True),
        "printed_relaxed_lower_bound": theory.printed_relaxed_lower_bound(*target),
        "complexity": theory.complexity(law, alpha, epsilon, family),
        "upper_bound": theory.upper_bound(*target, gamma, k1, arithmetic=True),
        "leading_term": theory.leading_term(*target, gamma, arithmetic=True),
        "epsilon_for_alpha_correctness": theory.epsilon_for_alpha_correctness(law, alpha),
    }
    return {
        "reservoir": law.expression,
        "family": describe(family),
        "alpha": alpha,
        "epsilon": epsilon,
        "delta": delta,
        "gamma": gamma,
        "k1": k1,
        "leading_constant": theory.leading_constant(gamma),
        "supremum": law.supremum,
        "top": law.top(alpha),
        "lower_quantile": law.lower_quantile(1.0 - alpha),
        "acceptable": law.acceptable(alpha, epsilon),
        "arms": {
            "paper": theory.arms_paper(alpha, delta),
            "tight": theory.arms_tight(alpha, delta),
            "table": theory.arms_table(alpha, delta),
            **drawn,
        },
        "partition": list(theory.partition(law, alpha)),
        "bounds": {
            name: {
                "value": bound.value,
                "void": bound.void,
                "reason": bound.reason or None,
                "hypotheses": list(bound.hypotheses),
            }
            for name, bound in by_name.items()
        },
    }


def show(found: dict[str, Any]) -> None:
    """Print a readable summary."""
    from rich.markup import escape

    from topalpha.reservoirs import in_words

    page = console()
    page.print(f"[bold]{escape(in_words(found['reservoir']))}[/bold], {found['family']} rewards")
    page.print(f"α = {found['alpha']:g}, ε = {found['epsilon']:g}, δ = {found['delta']:g}, γ = {found['gamma']:g}\n")
    page.print(
        f"Highest mean {found['supremum']:.6g}; the top α starts at {found['top']:.6g} (lower quantile "
        f"{found['lower_quantile']:.6g}); a fresh arm is acceptable with probability {found['acceptable']:.6g}."
    )
    page.print("\n[bold]Arms to draw[/bold]")
    facts(page, [(" ", ", ".join(f"{name} {count:,}" for name, count in found["arms"].items()))])
    edges = found["partition"]
    shown = [f"{edge:.4g}" for edge in (edges if len(edges) <= 24 else [*edges[:20], edges[-1]])]
    if len(edges) > 24:
        shown.insert(20, f"… ({len(edges) - 21} more) …")
    page.print(f"\n[bold]Blocks of measure α[/bold], from the top ({len(edges) - 1})")
    facts(page, [(" ", ", ".join(shown))])
    page.print("\n[bold]Bounds[/bold]")
    rows = []
    for name, bound in found["bounds"].items():
        value = "none" if bound["value"] is None else f"{bound['value']:,.6g}"
        void = f"\nvoid: {escape(bound['reason'])}" if bound["void"] else ""
        rows.append((f"({value})" if bound["void"] else value, TITLES[name] + void))
    longest = max(len(value) for value, _ in rows)
    facts(page, [(f"  {value:>{longest}}", text) for value, text in rows])
