"""
Reading a certificate and its curve
===================================

A search that ends early, because a budget is spent or by Ctrl-C, still says what is proved by then: a curve of
claims, one epsilon for each alpha. All of them hold at once with probability at least 1 - delta, so one may pick
afterwards.
"""

import topalpha
from topalpha import figures


def draw(rng):
    """Most candidates are poor, a few are good."""
    return {"rate": float(rng.beta(2, 3))}


def pull(candidate, rng):
    """Evaluate it once: success or failure."""
    return float(rng.random() < candidate["rate"])


target = {"alpha": 0.05, "epsilon": 0.05, "delta": 0.05, "algorithm": "cc-lucb", "progress": "none"}
early = topalpha.search(draw, pull, pulls=1500, **target)
certificate = early.certificate
print(certificate.statement)

# %%
# Some of the claims, and what they rest on:

for claim in certificate.claims[::5]:
    print(f"within {claim.epsilon:.4f} of the top {claim.alpha:.0%}")
for assumption in certificate.assumptions:
    print("-", assumption)

# %%
# The curve shows the same. Everything above it is proved; the star is the target, which the search
# was on its way to.

figures.claims_curve(early)
