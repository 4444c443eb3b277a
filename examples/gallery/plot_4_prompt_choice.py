"""
A prompt on a table of scores
=============================

Recorded scores, 40 prompts on 100 questions, tell what ``topalpha.select`` would have chosen, what it would have
cost, and how often such choices are wrong.
"""

from pathlib import Path

import matplotlib.pyplot as plt

import topalpha

folder = next(one for one in (Path.cwd(), *Path.cwd().parents) if (one / "prompt_scores.csv").exists())
table = topalpha.ScoreTable.read(folder / "prompt_scores.csv")
chosen = table.select(epsilon=0.05, delta=0.05, seed=7)
print(chosen.statement)
print(chosen.evaluations, "evaluations instead of", chosen.full_evaluations)

# %%
# Who was evaluated how often. The score on all questions is known here, so the choice can be judged: the dashed line is
# as far below the best score as epsilon allows.

axes = plt.figure(figsize=(8, 4.5), layout="constrained").subplots()
counts = [score.evaluations for score in chosen.scores]
axes.scatter([table.means[score.index] for score in chosen.scores], counts, color="black", marker="o")
axes.axvline(table.means.max() - 0.05, color="black", linestyle="--", label="best score less epsilon")
axes.scatter(
    [table.means[chosen.index]],
    [next(score.evaluations for score in chosen.scores if score.index == chosen.index)],
    s=160,
    facecolor="none",
    edgecolor="black",
    label=f"chosen: {chosen.candidate}",
)
axes.set(title="Evaluations of each prompt", xlabel="score on all 100 questions", ylabel="evaluations")
axes.legend()

# %%
# How often such choices are wrong, over 100 replays in other random orders, beside two rules of thumb:

audit = table.audit(epsilon=0.05, delta=0.05, runs=100)
for rule in (audit.select, *audit.thumbs):
    print(f"{rule.rule:>16}: {rule.errors.count} of {rule.errors.runs} wrong, {rule.costs.mean():,.0f} evaluations")
