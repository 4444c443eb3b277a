"""The search of docs/model_search.md, drawn: where the fits went. And what other splits and bounds would have cost.

Writes docs/model_search/search.json and search.png, and a table of the page.

python -m studies.model_search.one_search           # search again, then draw
python -m studies.model_search.one_search --picture # draw search.json
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import loguniform
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from studies import DOCS
from topalpha.sklearn import TopAlphaSearchCV

FOLDER = DOCS / "model_search"
TARGET = {"alpha": 0.1, "epsilon": 0.02, "delta": 0.05}
LAW = {"svc__C": loguniform(1e-3, 1e3), "svc__gamma": loguniform(1e-5, 1e1)}
PAGE = FOLDER.parent / "model_search.md"
BEGIN, END = "<!-- variants: written by studies/model_search/one_search.py -->", "<!-- end of variants -->"
SEEDS = range(5)
#: Arguments of the search, and how the page calls them.
VARIANTS: dict[str, dict[str, str]] = {
    "the default": {},
    '`splits="shared"`': {"splits": "shared"},
    '`bounds="low-variance"`': {"bounds": "low-variance"},
    '`bounds="bernoulli"`': {"bounds": "bernoulli"},
}
#: Nobody waits longer.
MOST_FITS = 4_000


def searched(seed: int, **arguments: Any) -> TopAlphaSearchCV:
    """The search of the page, or a variant of it."""
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), SVC())
    return TopAlphaSearchCV(model, LAW, **TARGET, random_state=seed, **arguments).fit(X, y)


def costs() -> dict[str, list[int]]:
    """Fits of every variant, by seed; those of a search that did not end by itself are the most that it may take."""
    found: dict[str, list[int]] = {}
    for name, arguments in VARIANTS.items():
        seeds = SEEDS if "bounds" not in arguments else SEEDS[:1]
        found[name] = [int(searched(seed, **arguments, max_fits=MOST_FITS).n_fits_) for seed in seeds]
    return found


def table(search: dict[str, Any]) -> str:
    """Fits by variant, in Markdown."""
    lines = ["| | fits | searches |", "|---|---|---|"]
    for name, fits in search["variants"].items():
        mean = f"more than {MOST_FITS:,}" if max(fits) >= MOST_FITS else f"{np.mean(fits):,.0f}"
        lines.append(f"| {name} | {mean} | {len(fits)} |")
    return "\n".join(lines)


def found() -> dict[str, Any]:
    """The search of the page, as far as the picture needs it."""
    search = searched(0)
    results = search.cv_results_
    columns = {
        name: [float(value) if np.isfinite(value) else None for value in results[name]]
        for name in ("mean_test_score", "lower_bound", "upper_bound")
    }
    return {
        **TARGET,
        "statement": search.certificate_.statement,
        "best": int(search.best_index_),
        "fits": int(search.n_fits_),
        "n_splits": [int(count) for count in results["n_splits"]],
        **columns,
        "variants": costs(),
    }


def draw(search: dict[str, Any], file: Path) -> None:
    """Scores with their bounds above, fits below, settings in order of their scores; infinite bounds are left out."""
    means = np.array(search["mean_test_score"])
    order = np.argsort(-means, kind="stable")
    places = np.arange(len(means))
    best = int(np.flatnonzero(order == search["best"])[0])
    colours = ["#0072B2" if place != best else "#D55E00" for place in places]
    figure, (above, below) = plt.subplots(2, 1, figsize=(8.5, 6.2), sharex=True, layout="constrained")
    for place, arm in enumerate(order):
        low, high = search["lower_bound"][arm], search["upper_bound"][arm]
        above.plot([place] * 2, [means[arm] if low is None else low, high], color=colours[place], linewidth=1.6)
        above.plot(place, means[arm], marker="D" if place == best else "o", color=colours[place], markersize=4.5)
    floor = search["lower_bound"][search["best"]]
    above.axhline(floor, color="0.35", linestyle="--", linewidth=1.0, label="lower bound of the one returned")
    above.axhline(floor + search["epsilon"], color="0.35", linestyle=":", linewidth=1.2, label="the same plus epsilon")
    above.set(ylabel="accuracy: mean and bounds", ylim=(min(means) - 0.03, 1.02))
    above.legend(frameon=False, loc="center right")
    counts = np.array(search["n_splits"])[order]
    below.bar(places, counts, color=colours)
    below.set(xlabel="settings, best mean score first", ylabel="fits")
    for axes in (above, below):
        axes.grid(visible=True, axis="y", color="0.93")
        axes.set_axisbelow(True)
    above.set_title(f"{search['fits']} fits of {len(means)} settings; diamond: the one returned", fontsize=11)
    figure.savefig(file, dpi=130)
    plt.close(figure)


def main() -> None:
    """Search, unless only the picture is wanted, and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--picture", action="store_true")
    record = FOLDER / "search.json"
    if not parser.parse_args().picture:
        FOLDER.mkdir(exist_ok=True)
        record.write_text(json.dumps(found(), indent=1) + "\n", encoding="utf-8")
    search = json.loads(record.read_text(encoding="utf-8"))
    draw(search, FOLDER / "search.png")
    text, count = re.subn(
        f"{re.escape(BEGIN)}.*?{re.escape(END)}",
        lambda _: f"{BEGIN}\n{table(search)}\n{END}",
        PAGE.read_text(encoding="utf-8"),
        flags=re.DOTALL,
    )
    assert count == 1
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
