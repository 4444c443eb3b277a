"""
Errors against delta
====================

Does an algorithm keep its word? On a pool that is made to be hard, a few arms just more than epsilon better than the
rest, errors are counted over many runs, with exact 95% intervals. A sound algorithm stays below the diagonal. So does
one that is far too careful: such a test finds gross faults only, and small ones are what proofs are for.
"""

from topalpha import design, figures, parse_reservoir, simulate

reservoir = parse_reservoir("two-point(0.35,0.56,0.12)")
studies = [
    simulate(design(name, 0.1, 0.2, delta), reservoir, runs=300, seed=1)
    for name in ("joint-lucb", "cc-lucb")
    for delta in (0.5, 0.2, 0.1, 0.05)
]
for study in studies:
    low, high = study.errors.interval
    print(f"{study.algorithm:>10}, delta {study.delta:g}: {study.errors.rate:.3f}, between {low:.3f} and {high:.3f}")

figures.errors(studies)
