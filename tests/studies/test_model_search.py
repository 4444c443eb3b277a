"""The study of model search: the replay is what fits and searches give, and the page is what was measured."""

import math

import numpy as np
import pytest
from scipy.stats import randint
from sklearn.base import BaseEstimator
from sklearn.model_selection import RandomizedSearchCV

from studies.model_search import __main__ as main
from studies.model_search import proposals, replay, searches, tasks, truth
from topalpha.sklearn import TopAlphaSearchCV
from topalpha.sklearn.split_score import SplitScore


class Recorded(BaseEstimator):
    """Looks its score up; the one row that it is fitted on is the number of the split."""

    tables: dict[str, np.ndarray] = {}  # noqa: RUF012 (shared on purpose: estimators are cloned)

    def __init__(self, task="cancer", candidate=0):
        self.task = task
        self.candidate = candidate

    def fit(self, X, y=None):
        self.split_ = int(X[0, 0])
        return self

    def score(self, X, y=None):
        assert int(X[0, 0]) == self.split_
        return float(self.tables[self.task][self.candidate, self.split_])


def splits_of():
    count = tasks.PARTITIONS * tasks.FOLDS
    return np.arange(count, dtype=float)[:, None]


def test_true_quantile_by_hand():
    table = truth.Table(np.array([[0.1, 0.3], [0.9, 0.7], [0.5, 0.5], [0.8, 0.8], [0.6, 0.4]]))
    assert np.allclose(table.means, [0.2, 0.8, 0.5, 0.8, 0.5])
    # A fifth of five is one: the best. Two and three fifths: the tie of the two best, then the tie of the next two.
    quantiles = [table.quantile(alpha) for alpha in (0.1, 0.2, 0.4, 0.41, 0.6, 0.8, 0.81, 0.99)]
    assert np.allclose(quantiles, [0.8, 0.8, 0.8, 0.5, 0.5, 0.5, 0.2, 0.2])
    three_tenths = truth.Table(np.arange(10.0)[:, None])  # 0.3 * 10 is a little more than 3 in floating point
    assert three_tenths.quantile(0.1 + 0.2) == 7.0


def test_errors_are_counted_by_hand():
    table = truth.Table(np.arange(100.0)[:, None])
    means = [99.0, 95.0, 94.0, 93.5, 93.4, 88.5, 0.0]
    runs = [(replay.Outcome(0, fits), mean) for fits, mean in zip(range(10, 17), means, strict=True)]
    row = searches.summed_up(runs, table, epsilons=(1.5, 0.5))
    counts = [{gap: count["count"] for gap, count in row["below"][alpha].items()} for alpha in ("0.05", "0.1")]
    assert counts == [{"0": 5, "1.5": 3, "0.5": 5}, {"0": 2, "1.5": 1, "0.5": 2}]
    assert row["fits"] == {"mean": 13.0, "stderr": pytest.approx(math.sqrt(28.0 / 6.0 / 7.0)), "least": 10, "most": 16}
    assert row["regret"]["mean"] == pytest.approx(np.mean([0.0, 4.0, 5.0, 5.5, 5.6, 10.5, 99.0]))


@pytest.mark.parametrize("name", ["cancer", "digits", "diabetes"])
def test_recorded_scores_are_what_fits_give(name):
    task, table, rng = tasks.TASKS[name], truth.read(name), np.random.default_rng(5)
    assert table.scores.shape == (len(task.pool), tasks.PARTITIONS * tasks.FOLDS)
    best = int(table.means.argmax())
    for candidate in [best, *rng.integers(len(task.pool), size=11)]:
        split = int(rng.integers(table.scores.shape[1]))
        score = task.fit_and_score(task.pool[candidate], split)
        assert table.scores[candidate, split] == pytest.approx(score, abs=0.51 * truth.UNIT)


def test_recorded_splits_are_partitions():
    task = tasks.TASKS["diabetes"]
    for partition in (0, tasks.PARTITIONS - 1):
        held_out = np.concatenate([test for _, test in task.splits(partition)])
        assert sorted(held_out) == list(range(len(task.data[0])))


@pytest.mark.parametrize("options", [{}, {"splits": "shared"}, {"bounds": "low-variance", "epsilon": 0.2}])
def test_replayed_search_is_the_search(monkeypatch, options):
    """TopAlphaSearchCV, all of it, on an estimator that looks scores up: the same choice after the same fits."""
    task, table = tasks.TASKS["cancer"], truth.read("cancer")
    Recorded.tables["cancer"] = table.scores
    options = {"alpha": 0.4, "delta": 0.3, "epsilon": 0.03, **options}
    replayed = replay.top_alpha(task, table, 7, **options)
    dither = {} if "bounds" in options else {"dither": 1.0 / 114.0}  # of 569 rows a fifth is held out

    def split(self, rng):
        place = replay.recorded_split(rng)
        return [place], [place]

    monkeypatch.setattr(SplitScore, "split", split)
    laws = {"candidate": randint(0, len(task.pool))}
    search = TopAlphaSearchCV(Recorded(), laws, **{"refit": False, "random_state": 7, **dither, **options})
    search.fit(splits_of())
    assert (search.best_params_["candidate"], search.n_fits_) == replayed[:2]
    assert search.certificate_.proved == replayed.stopped is True


@pytest.mark.parametrize("seed", range(3))
def test_replayed_random_search_is_the_search(seed):
    table = truth.read("digits")
    Recorded.tables["digits"] = table.scores
    splits = replay.partitions(np.random.default_rng(seed), 2)
    laws = {"candidate": randint(0, len(table.means))}
    folds = [([split], [split]) for split in splits]
    search = RandomizedSearchCV(Recorded("digits"), laws, n_iter=30, cv=folds, random_state=seed, refit=False)
    search.fit(splits_of())
    chosen = np.array([one["candidate"] for one in search.cv_results_["params"]])
    assert replay.best(table, chosen, splits) == search.best_index_


def test_the_nearest_candidate_of_a_candidate_is_itself():
    for task in tasks.TASKS.values():
        nearest = proposals.Nearest(task)
        assert [nearest(task.pool[place]) for place in (0, 17, 199)] == [0, 17, 199]


def test_the_page_is_what_was_measured():
    text = main.DOCUMENT.read_text(encoding="utf-8")
    assert main.document(text, main.results()) == text


def test_every_search_was_measured_as_often_as_it_says():
    found = main.results()
    rows = {(row["task"], row["how"], row["search"]): row for row in found["rows"]}
    expected = [
        (task, search)
        for task in tasks.TASKS
        for search in (*searches.SEARCHES, *searches.CHECKS)
        if tasks.TASKS[task].score in search.scores
    ]
    assert len(rows) == len(found["rows"]) == len(expected)
    for task, search in expected:
        assert rows[task, search.how, search.name]["runs"] == search.runs
    for name, one in found["tasks"].items():
        assert flat(one) == pytest.approx(flat(searches.about(name)))


def flat(values, before=""):
    """Without dictionaries and lists in dictionaries."""
    found = {}
    for name, value in values.items():
        if isinstance(value, list | tuple):
            value = dict(enumerate(value))
        found |= flat(value, f"{before}{name}/") if isinstance(value, dict) else {f"{before}{name}": value}
    return found


def test_random_search_is_measured_again_from_seeds_and_table():
    search = searches.randomized(60)
    rows = {(row["task"], row["search"]): row for row in main.results()["rows"] if row["how"] == "replayed"}
    again = searches.measure(search, "cancer", 1)
    assert again["first"] == rows["cancer", search.name]["first"]
    assert flat(again | {"first": 0}) == pytest.approx(flat(rows["cancer", search.name] | {"first": 0}))


@pytest.mark.slow
def test_the_first_runs_of_ours_come_out_the_same():
    """The figures are those of the present code: after a change of the search run ``make model-search``."""
    by_name = {search.name: search for search in searches.SEARCHES}
    rows = [row for row in main.results()["rows"] if row["how"] == "replayed" and "alpha=0.1" in row["search"]]
    assert len(rows) >= 5
    for row in rows:
        for seed, kept in enumerate(row["first"][:1]):
            outcome, _ = by_name[row["search"]].once(row["task"], seed)
            assert [outcome.candidate, outcome.fits] == kept
