"""The rule "60 random trials give the top 5%", with exact scores and with noisy ones. See docs/choosing.md.

A run draws 60 candidates, scores each on so many pass/fail examples, and takes the best score. It is a failure if that
candidate is not in the top 5%, or not even within 0.05 of it. joint-lucb is asked for the latter with delta = 0.05.

    python examples/folk_rule.py
"""

import argparse

import numpy as np

from topalpha import design, parse_reservoir, simulate

POOLS = ("uniform(0,1)", "beta(5,5)", "beta(20,5)")
ALPHA, EPSILON, DELTA, TRIALS = 0.05, 0.05, 0.05, 60


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--searches", type=int, default=400, help="of joint-lucb; 0 for none")
    chosen = parser.parse_args()
    rng = np.random.default_rng(0)
    print("pool          examples  evaluations  not in top 5%  not within 0.05")
    for text in POOLS:
        pool = parse_reservoir(text)
        for examples in (None, 50, 200, 1000):
            means = pool.sample(chosen.runs * TRIALS, rng).reshape(chosen.runs, TRIALS)
            scores = means
            if examples is not None:  # of equal scores any may be taken
                scores = rng.binomial(examples, means) + 0.5 * rng.random(means.shape)
            taken = means[np.arange(chosen.runs), scores.argmax(axis=1)]
            outside, far = (taken < pool.top(ALPHA)).mean(), (taken < pool.threshold(ALPHA, EPSILON)).mean()
            words = "exact score" if examples is None else f"{examples:11,}"
            spent = "" if examples is None else f"{examples * TRIALS:,}"
            print(f"{text:12s} {words:>10s} {spent:>11s} {outside:>13.1%} {far:>15.1%}")
        if chosen.searches == 0:
            continue
        study = simulate(design("joint-lucb", ALPHA, EPSILON, DELTA), pool, runs=chosen.searches, seed=0)
        outside, far = study.errors_alpha.rate, study.errors.rate
        print(f"{text:12s} {'joint-lucb':>10s} {study.pulls.mean():>11,.0f} {outside:>13.1%} {far:>15.1%}")


if __name__ == "__main__":
    main()
