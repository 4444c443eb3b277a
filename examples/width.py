"""What it costs to have many pulls in flight: pulls and rounds of searches that ask for several at a time.

Run it as ``python examples/width.py``.
"""

import argparse

import numpy as np

from topalpha import Search, design, parse_reservoir

POOL = parse_reservoir("beta(5,5)")


def one(width, seed):
    """The pulls and the rounds of one search that sends out ``width`` pulls and waits for all of them."""
    rng = np.random.default_rng(seed)
    search, means, rounds = Search(design("joint-lucb", 0.1, 0.1, 0.05), seed=seed), [], 0
    while pulls := search.ask_many(width):
        means.extend(POOL.sample(sum(pull.number == 0 for pull in pulls), rng))
        search.tell_many([(pull, float(rng.random() < means[pull.arm])) for pull in pulls])
        rounds += 1
    return search.result.pulls, rounds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    chosen = parser.parse_args()
    print("width   pulls  rounds")
    for width in (1, 4, 16, 64, 256):
        pulls, rounds = np.mean([one(width, seed) for seed in range(chosen.runs)], axis=0)
        print(f"{width:5d} {pulls:7,.0f} {rounds:7,.0f}")


if __name__ == "__main__":
    main()
