"""
A first search and its race
===========================

Two functions, one call: a candidate is drawn, evaluated noisily, and compared with others until one of them is proved
to be near the top of the pool.
"""

import topalpha
from topalpha import figures


def draw(rng):
    """A fresh candidate: a rate of success, which the search does not get to see."""
    return {"rate": float(rng.beta(6, 3))}


def pull(candidate, rng):
    """Evaluate it once: success or failure."""
    return float(rng.random() < candidate["rate"])


result = topalpha.search(draw, pull, alpha=0.1, epsilon=0.1, delta=0.05, progress="none")
print(result.statement)
print(f"Its rate is {result.candidate['rate']:.3f}.")
print(result.pulls, "pulls of", result.arms, "candidates")

# %%
# The race: the leader and its rivals over the course of the search. At the end the leader's mean is known so well that
# its lower bound plus epsilon (dashed) comes close to the best that any other candidate may be. The default algorithm
# joins the evidence about all candidates, so it may stop a little before the two lines meet.

figures.race(result)

# %%
# Where the pulls went: most candidates are dropped after a few, and the effort goes to those that are hard to tell
# apart.

figures.pulls(result)
