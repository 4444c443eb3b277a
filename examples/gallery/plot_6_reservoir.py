"""
A reservoir and its alpha-partition
===================================

The pool as theory sees it, Figure 1 of the paper: the law of the means, cut into blocks of probability alpha from the
top. A search has to tell the first block from the others, up to epsilon; the lower bound adds up what each block
costs.
"""

from topalpha import Bernoulli, figures, parse_reservoir
from topalpha.theory import partition, relaxed_lower_bound

alpha, epsilon, delta = 0.2, 0.1, 0.05
reservoir = parse_reservoir("beta(2,3)", at_most=0.85)
print("edges of the blocks:", ", ".join(f"{edge:.3f}" for edge in partition(reservoir, alpha)))
figures.reservoir(reservoir, alpha, epsilon)

# %%
# What any correct algorithm needs at least, on this pool:

bound = relaxed_lower_bound(reservoir, alpha, epsilon, delta, Bernoulli())
print(f"at least {bound.value:.1f} pulls")
