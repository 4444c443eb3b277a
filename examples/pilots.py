"""How far plans from different pilots lie apart, for the task of compression.py. See docs/tutorial.md.

Run it as ``python examples/pilots.py``.
"""

import argparse

import numpy as np
from compression import draw, pull

import topalpha


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=40, help="simulated searches for each plan")
    chosen = parser.parse_args()
    print("candidates  pulls each  seed  expected pulls")
    for candidates, pulls in ((30, 10), (60, 10), (96, 5)):
        for seed in (0, 1):
            rng = np.random.default_rng(seed)
            pilot = []
            for _ in range(candidates):
                candidate = draw(rng)
                pilot.append([pull(candidate, rng) for _ in range(pulls)])
            found = topalpha.plan(0.1, 0.02, 0.05, topalpha.LowVariance(), pilot=pilot, runs=chosen.runs)
            print(f"{candidates:10d} {pulls:11d} {seed:5d} {found.costs[0].mean:15,.0f}")


if __name__ == "__main__":
    main()
