"""What examples/compression.py can only estimate: every candidate on every file, and what many searches make of it.

There are only 3,894 settings, so that here, unlike in most tasks, the truth can be computed. It takes minutes.

    python examples/compression_truth.py --table truth.npy
    python examples/compression_truth.py --table truth.npy --searches 200
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
from compression import NAMES, draw, saved

import topalpha
from topalpha.reservoirs import Discrete

CODECS = ("zlib", "bz2", "lzma")


def law():
    """All candidates, and the probability with which ``draw`` gives each."""
    found = [({"codec": "bz2", "level": level}, 1 / 9) for level in range(1, 10)]
    for level, wbits, memory, strategy in product(range(1, 10), range(9, 16), range(1, 10), range(5)):
        settings = {"level": level, "wbits": wbits, "memLevel": memory, "strategy": strategy}
        found.append(({"codec": "zlib", **settings}, 1 / (9 * 7 * 9 * 5)))
    for preset, extreme, lc, lp, pb in product(range(7), (False, True), range(5), range(5), range(5)):
        if lc + lp <= 4:
            settings = {"preset": preset, "extreme": extreme, "lc": lc, "lp": lp, "pb": pb}
            found.append(({"codec": "lzma", **settings}, 1 / (7 * 2 * 5 * (5 - lc) * 5)))
    return [candidate for candidate, _ in found], np.array([weight / 3 for _, weight in found])


def everywhere(candidate):
    """What the candidate saves on each file."""
    return [saved(candidate, name) for name in NAMES]


def truth(path):
    """The rewards of all candidates on all files, computed once and kept."""
    if not path.exists():
        with ProcessPoolExecutor() as pool:
            np.save(path, list(pool.map(everywhere, law()[0], chunksize=20)))
    return np.load(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", type=Path, default=Path("truth.npy"), help="where the truth is kept")
    for name, value in (("alpha", 0.1), ("epsilon", 0.02), ("delta", 0.05)):
        parser.add_argument(f"--{name}", type=float, default=value)
    parser.add_argument("--family", default="low-variance")
    parser.add_argument("--algorithm")
    parser.add_argument("--searches", type=int, default=0, help="how many to run on the table")
    chosen = parser.parse_args()

    candidates, weights = law()
    table = truth(chosen.table)
    means = table.mean(axis=1)
    pool = Discrete(means, weights)
    top = pool.top(chosen.alpha)
    noise = table.std(axis=1).mean()
    print(f"{len(candidates):,} candidates, {len(NAMES)} files; a candidate's rewards deviate by {noise:.3f}")
    print(f"the best mean is {means.max():.4f}, the top {chosen.alpha:.0%} begin at {top:.4f}")
    print(f"within epsilon = {chosen.epsilon} of it: {pool.acceptable(chosen.alpha, chosen.epsilon):.1%} of the draws")
    for place in np.argsort(-means)[:3]:
        print(f"  {means[place]:.4f} {candidates[place]}")
    for codec in CODECS:
        own = [mean for mean, candidate in zip(means, candidates, strict=True) if candidate["codec"] == codec]
        print(f"  {codec}: from {min(own):.3f} to {max(own):.3f}")

    index = {repr(candidate): place for place, candidate in enumerate(candidates)}

    def pull(candidate, rng):
        return table[index[repr(candidate)], rng.integers(len(NAMES))]

    pulls, found = [], []
    for seed in range(chosen.searches):
        result = topalpha.search(
            draw,
            pull,
            alpha=chosen.alpha,
            epsilon=chosen.epsilon,
            delta=chosen.delta,
            family=chosen.family,
            algorithm=chosen.algorithm,
            seed=seed,
            progress="none",
        )
        pulls.append(result.pulls)
        found.append(means[index[repr(result.candidate)]])
    if pulls:
        errors = sum(mean < top - chosen.epsilon for mean in found)
        print(
            f"{len(pulls)} searches: {errors} errors, {np.mean(pulls):,.0f} pulls on average, {max(pulls):,} at most;"
        )
        print(f"the true means of their candidates are {np.mean(found):.4f} on average, {min(found):.4f} at least")


if __name__ == "__main__":
    main()
