"""
Pulls against delta, with lower bounds
======================================

How the number of pulls grows as an error becomes less acceptable, in small simulations: each point is the mean of 60
runs. Below them is what every algorithm needs at least.
"""

from topalpha import design, figures, parse_reservoir, simulate

reservoir = parse_reservoir("beta(1,1)", at_most=0.85)
studies = [
    simulate(design(name, 0.1, 0.1, delta), reservoir, runs=60, seed=0)
    for name in ("joint-lucb", "cc-lucb")
    for delta in (0.1, 0.01, 0.001, 1e-4)
]
for study in studies:
    print(f"{study.algorithm:>10}, delta {study.delta:g}: {study.pulls.mean():,.0f} pulls, {study.errors.count} errors")

# %%
# Bars are two standard errors. The dashed curve is what every algorithm with this target needs at least, the dotted one
# what it would need with epsilon = 0 (Theorem 1 of the paper).

figures.sweep(studies, "delta")
