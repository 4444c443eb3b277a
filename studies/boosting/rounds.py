"""What a round of boosting asks for, gets and proves, beside the best stump there is: docs/boosting/rounds.png.

``python -m studies.boosting.rounds`` fits, writes docs/boosting/rounds.json and draws the picture from that file;
``--draw`` only draws.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from sklearn.datasets import make_hastie_10_2

from studies import DOCS
from topalpha.boosting.rounds import Asking, rounds
from topalpha.boosting.rows import ColumnRows
from topalpha.sklearn import BanditAdaBoostClassifier

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FOLDER = DOCS / "boosting"
ROWS, TEST_ROWS, ROUNDS, SEED = 40_000, 12_000, 300, 0


def best_edge(order: Any, columns: Any, labels: Any, weights: Any) -> float:
    """The largest edge of all stumps: for each feature, the largest difference of classes on one side of a cut."""
    signed = np.where(labels == 1, weights, -weights)
    best = 0.5 * abs(signed.sum())
    for column, places in zip(columns, order, strict=True):
        left = np.cumsum(signed[places])[:-1]
        distinct = np.diff(column[places]) > 0.0
        edges = 0.5 * np.abs(signed.sum() - 2.0 * left[distinct])
        best = max(best, float(edges.max(initial=0.0)))
    return best


def measure() -> dict[str, Any]:
    """One fit, round by round; the weights of each round are what the best stump is computed from."""
    X, y = make_hastie_10_2(ROWS + TEST_ROWS, random_state=SEED)
    labels = (y > 0.0).astype(int)
    columns = np.ascontiguousarray(X[:ROWS].T)
    order = np.argsort(columns, axis=1, kind="stable")
    data = ColumnRows(columns, labels[:ROWS], np.ones(ROWS), 2, np.random.default_rng(SEED))
    found: dict[str, Any] = {"rows": ROWS, "test_rows": TEST_ROWS, "seed": SEED, "rounds": []}
    for one in rounds(data, Asking(), ROUNDS):
        certificate = one.certificate
        found["rounds"].append(
            {
                "best": best_edge(order, columns, labels[:ROWS], data.weights),
                "edge": 0.5 - one.error,
                "asked": certificate.asked,
                "proved": certificate.edge_at_least,
                "pulls": certificate.pulls,
                "arms": certificate.arms,
                "refuted": list(certificate.refuted),
            }
        )
    model = BanditAdaBoostClassifier(ROUNDS, random_state=SEED).fit(X[:ROWS], labels[:ROWS])
    found["test_errors"] = [float(np.mean(guess != labels[ROWS:])) for guess in model.staged_predict(X[ROWS:])]
    return found


def summary(found: dict[str, Any]) -> str:
    """The figures that the page quotes."""
    rows = found["rounds"]
    ratios = [row["edge"] / row["best"] for row in rows]
    claims = [row for row in rows if row["proved"] is not None]
    true = sum(row["edge"] >= row["proved"] for row in claims)
    pulls = np.array([row["pulls"] for row in rows])
    lines = [
        f"rounds {len(rows)}, answered {len(claims)}, claims that are true {true}",
        f"edge / best edge: mean {np.mean(ratios):.2f}, least {min(ratios):.2f}",
        f"pulls a round: median {np.median(pulls):.0f}, mean {pulls.mean():.0f}, most {pulls.max()}",
        f"stumps a round: median {np.median([row['arms'] for row in rows]):.0f}",
        f"answers no: {sum(len(row['refuted']) for row in rows)}",
        f"test error after {len(found['test_errors'])} rounds: {found['test_errors'][-1]:.4f}",
    ]
    return "\n".join(lines)


def draw(found: dict[str, Any], file: Path) -> None:
    """Edges above, pulls below."""
    rows = found["rounds"]
    numbers = np.arange(1, len(rows) + 1)
    figure, (edges, pulls) = plt.subplots(
        2, 1, figsize=(9, 6), sharex=True, height_ratios=(2.2, 1), layout="constrained"
    )
    edges.plot(numbers, [row["best"] for row in rows], color="0.35", linewidth=1.2, label="best of all stumps")
    taken = [row["edge"] for row in rows]
    edges.plot(numbers, taken, color="#0072B2", marker=".", linestyle="none", label="stump taken")
    claims = [np.nan if row["proved"] is None else row["proved"] for row in rows]
    edges.plot(numbers, claims, color="#D55E00", linewidth=1.0, label="proved: at least")
    edges.set(ylabel="edge on the weighted rows", ylim=(0.0, None), title=f"{found['rows']:,} rows, one fit")
    edges.legend(frameon=False, ncols=3)
    pulls.plot(numbers, [row["pulls"] for row in rows], color="#009E73", marker=".", linestyle="none")
    pulls.axhline(found["rows"], color="0.55", linestyle=":", linewidth=1.2)
    pulls.annotate("as many as rows", (1, found["rows"]), xytext=(0, 3), textcoords="offset points", fontsize=8)
    pulls.set(xlabel="round", ylabel="pulls", yscale="log")
    for axes in (edges, pulls):
        axes.grid(visible=True, which="major", color="0.93")
    figure.savefig(file, dpi=130)
    plt.close(figure)


def main() -> None:
    """Measure unless told not to, then draw and print."""
    parser = argparse.ArgumentParser(description="What a round of boosting asks for, gets and proves.")
    parser.add_argument("--draw", action="store_true", help="only draw, from docs/boosting/rounds.json")
    arguments = parser.parse_args()
    file = FOLDER / "rounds.json"
    if not arguments.draw:
        FOLDER.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(measure(), indent=1) + "\n")
    found = json.loads(file.read_text())
    draw(found, FOLDER / "rounds.png")
    print(summary(found))


if __name__ == "__main__":
    main()
