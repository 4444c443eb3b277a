"""BanditAdaBoostClassifier: scikit-learn's checks, AdaBoost's formulas, and certificates against exact edges."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import binom

from folders import ROOT
from marks import quick

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_hastie_10_2
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from topalpha.algorithms.field import cc_threshold
from topalpha.boosting.lazy import LazyRows
from topalpha.boosting.rounds import Asking, next_stump, rounds
from topalpha.boosting.rows import ColumnRows, Found, Stump
from topalpha.sklearn import BanditAdaBoostClassifier

FALSE_ALARM = 1e-6

#: Checks of scikit-learn that cannot hold, and why.
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": (
        "a row of weight 2 and two rows of weight 1 are drawn with the same probability, but not by the same random "
        "numbers once the rows stand in another order: models agree in law and not bit for bit"
    ),
}


@parametrize_with_checks(
    [BanditAdaBoostClassifier(n_estimators=10, random_state=0)], expected_failed_checks=lambda estimator: EXPECTED
)
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [BanditAdaBoostClassifier(n_estimators=3, question="best", alpha=0.2, random_state=0)],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_scikit_learn_s_checks_of_the_other_question(estimator, check):
    check(estimator)


def test_the_number_of_scikit_learn_s_checks(request):
    """A list of checks that shrinks must be noticed; workers that share the tests all know the whole list."""
    checks = [one for one in request.session.items if getattr(one, "originalname", "") == "test_scikit_learn_s_checks"]
    if not checks:
        pytest.skip("the checks were not selected")
    assert len(checks) >= 62
    known = {one.callspec.params["check"].func.__name__ for one in checks}
    assert len(known) >= 45
    assert set(EXPECTED) <= known


def blobs(rows=600, seed=0, kinds=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    score = X[:, 0] + 0.5 * np.sin(3.0 * X[:, 1]) + 0.3 * rng.normal(size=rows)
    return X, np.digitize(score, np.quantile(score, np.arange(1, kinds) / kinds))


def fitted(rounds=15, seed=0, **options):
    X, y = blobs()
    return BanditAdaBoostClassifier(rounds, random_state=seed, **options).fit(X, y), X, y


# ---- what it returns


@pytest.mark.parametrize("question", quick(["edge", "best"], ["edge"]))
@pytest.mark.parametrize("kinds", [2, 3])
def test_it_learns(question, kinds):
    X, y = blobs(kinds=kinds)
    model = BanditAdaBoostClassifier(40, question=question, random_state=1).fit(X, y)
    assert model.score(X, y) > (0.88 if kinds == 2 else 0.75)
    assert all(one.proved for one in model.certificates_)
    assert all(one.question == question for one in model.certificates_)
    lengths = (model.estimators_, model.estimator_weights_, model.estimator_errors_, model.edges_, model.pulls_)
    assert {len(one) for one in (*lengths, model.certificates_)} == {40}
    assert (model.edges_ > 0.0).all()


def test_scores_are_samme_s():
    """Votes of the stumps added up the long way."""
    for kinds in (2, 3):
        X, y = blobs(kinds=kinds)
        labels = np.array(["low", "mid", "top"])[y]
        model = BanditAdaBoostClassifier(12, random_state=2).fit(X, labels)
        scores = np.zeros((len(X), kinds))
        for stump, weight in zip(model.estimators_, model.estimator_weights_, strict=True):
            for row in range(len(X)):
                said = stump.left if X[row, stump.feature] <= stump.cut else stump.right
                for kind in range(kinds):
                    scores[row, kind] += weight if kind == said else -weight / (kinds - 1)
        scores /= model.estimator_weights_.sum()
        decision = model.decision_function(X)
        assert decision == pytest.approx(scores[:, 1] - scores[:, 0] if kinds == 2 else scores)
        assert (model.predict(X) == model.classes_[np.argmax(scores, axis=1)]).all()
        odds = np.exp(scores / (kinds - 1.0))
        assert model.predict_proba(X) == pytest.approx(odds / odds.sum(axis=1, keepdims=True))
        assert np.exp(model.predict_log_proba(X)) == pytest.approx(model.predict_proba(X))


def test_probabilities_are_those_of_scikit_learn_s_adaboost():
    """The same votes give the same probabilities there."""
    from sklearn.ensemble import AdaBoostClassifier

    model, X, _ = fitted()
    other = AdaBoostClassifier(n_estimators=1).fit(X[:50], (X[:50, 0] > 0).astype(int))
    expected = other._compute_proba_from_decision(model.decision_function(X), 2)
    assert model.predict_proba(X) == pytest.approx(expected)


@pytest.mark.parametrize("kinds", [2, 3])
def test_stages_end_where_the_prediction_is(kinds):
    X, y = blobs(kinds=kinds)
    model = BanditAdaBoostClassifier(9, random_state=3).fit(X, y)
    stages = list(model.staged_decision_function(X))
    assert len(stages) == len(model.estimators_)
    assert (stages[-1] == model.decision_function(X)).all()
    assert (list(model.staged_predict(X))[-1] == model.predict(X)).all()
    assert (list(model.staged_predict_proba(X))[-1] == model.predict_proba(X)).all()
    first = clone(model).set_params(n_estimators=1).fit(X, y)
    assert (stages[0] == first.decision_function(X)).all()


def test_the_same_seed_gives_the_same_model():
    one, X, _ = fitted(seed=4)
    two, _, _ = fitted(seed=4)
    three, _, _ = fitted(seed=5)
    assert one.estimators_ == two.estimators_
    assert (one.estimator_weights_ == two.estimator_weights_).all()
    assert one.certificates_ == two.certificates_
    assert one.estimators_ != three.estimators_
    again = pickle.loads(pickle.dumps(one))
    assert (again.decision_function(X) == one.decision_function(X)).all()


def test_neither_layout_nor_width_of_the_numbers_matters():
    X, y = blobs()
    X = X.astype(np.float32)
    models = [
        BanditAdaBoostClassifier(5, random_state=6).fit(table, y)
        for table in (X, np.asfortranarray(X), X.astype(np.float64), X.tolist())
    ]
    assert all(model.estimators_ == models[0].estimators_ for model in models)


def test_whole_weights_are_repetitions_of_rows():
    """Draw for draw, while rows keep their order: sums of weights are exact where their total is a power of 2."""
    X, y = blobs(rows=300)
    weights = np.random.default_rng(0).integers(0, 4, size=300)
    weights[-1] += 512 - weights.sum()
    repeated = BanditAdaBoostClassifier(6, random_state=7).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    weighted = BanditAdaBoostClassifier(6, random_state=7).fit(X, y, sample_weight=weights)
    assert weighted.estimators_[0] == repeated.estimators_[0]
    assert weighted.decision_function(X) == pytest.approx(repeated.decision_function(X))
    plain = BanditAdaBoostClassifier(6, random_state=7).fit(X, y)
    assert plain.decision_function(X) != pytest.approx(weighted.decision_function(X))


def test_the_scale_of_the_weights_does_not_matter():
    X, y = blobs()
    weights = np.random.default_rng(1).random(len(y))
    one = BanditAdaBoostClassifier(5, random_state=8).fit(X, y, sample_weight=weights)
    two = BanditAdaBoostClassifier(5, random_state=8).fit(X, y, sample_weight=1024.0 * weights)
    assert one.estimators_ == two.estimators_


def test_a_stump_without_error_ends_the_fit():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    model = BanditAdaBoostClassifier(30, random_state=0).fit(X, [0, 0, 1, 1])
    assert len(model.estimators_) == 1
    assert model.estimators_[0] == (0, 1.5, 0, 1)
    assert model.estimator_weights_.tolist() == [1.0]
    assert model.score(X, [0, 0, 1, 1]) == 1.0


def test_real_data():
    X, y = load_breast_cancer(return_X_y=True)
    model = BanditAdaBoostClassifier(60, random_state=0).fit(X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.93
    X, y = load_iris(return_X_y=True, as_frame=False)
    assert BanditAdaBoostClassifier(20, random_state=0).fit(X, y).score(X, y) > 0.95


# ---- what it claims


@pytest.mark.parametrize("loose", [False, True])
def test_edges_are_at_least_what_certificates_claim(loose, monkeypatch):
    """Always, even where answers are so loose that many are wrong: a wrong yes is seen, and asked again."""
    design = cc_threshold.design
    if loose:
        monkeypatch.setattr(
            cc_threshold, "design", lambda *given, **more: design(*given, **more)._replace(accept_at=-3.0)
        )
    looks = []
    error = ColumnRows.error
    monkeypatch.setattr(ColumnRows, "error", lambda self, stump: looks.append(1) or error(self, stump))
    X, y = make_hastie_10_2(3000, random_state=0)
    model = BanditAdaBoostClassifier(60, epsilon=0.25, random_state=0).fit(X, y)
    claimed = np.array([one.edge_at_least for one in model.certificates_], dtype=float)
    assert all(one.proved for one in model.certificates_)
    assert (model.edges_ >= claimed).all()
    assert (model.edges_ < 2.0 * claimed).any()
    if loose:
        assert len(looks) > 63, "no answer was wrong: the test shows nothing"


def edges_of_fresh_stumps(data, count):
    """What the law of the round gives: edges of stumps that are drawn beside the search."""
    world = data.world(count)
    for arm in range(count):
        world.draw_stump(arm, data.rng)
    return np.array([1.0 - 1.0 / data.kinds - data.error(data.stump(world, arm)) for arm in range(count)])


@pytest.mark.statistical
@pytest.mark.slow
@pytest.mark.parametrize("question", ["edge", "best"])
def test_claims_about_the_law_of_stumps(question):
    """ "Within epsilon of the top alpha", and "fewer than alpha reach gamma", beside 60 fresh stumps in each round."""
    X, y = make_hastie_10_2(2000, random_state=1)
    delta = 0.2
    asking = Asking(question=question, alpha=0.3, epsilon=0.4, delta=delta)
    wrong = wild = total = 0
    for seed in range(3):
        data = ColumnRows(np.asfortranarray(X).T, (y > 0).astype(int), np.ones(2000), 2, np.random.default_rng(seed))
        for one in rounds(data, asking, 15):
            weights, edge = data.wrong.copy(), 0.5 - one.error
            fresh = edges_of_fresh_stumps(data, 60)
            data.wrong[:] = weights  # the round goes on from here
            if question == "best":
                # If 30% of stumps reach q, fewer than 6 of 60 do so with a probability of 1e-4.
                sixth = np.sort(fresh)[-6]
                wrong += edge < sixth - one.certificate.within
                wild += edge < sixth + one.certificate.within
                total += 1
            for gamma in one.certificate.refuted:
                wrong += np.sum(fresh >= gamma) > 33  # of 60; more than that has a probability of 1e-4 at 30%
                wild += np.sum(fresh >= 0.1 * gamma) > 33
                total += 1
    assert total >= 10
    assert binom.sf(wrong - 1, total, delta) >= FALSE_ALARM
    assert binom.sf(wild - 1, total, delta) < FALSE_ALARM, "claims that go too far must be found out"


def test_a_certificate_speaks():
    model, _, _ = fitted(question="edge", delta=0.1)
    certificate = model.certificates_[3]
    assert certificate.statement.startswith("The edge is at least ")
    assert certificate.edge_at_least == pytest.approx(0.5 * certificate.asked)
    assert certificate.pulls == model.pulls_[3]
    assert certificate.arms >= 1


@pytest.mark.slow
def test_a_certificate_of_the_best_speaks():
    model, _, _ = fitted(question="best", rounds=3)
    assert "of the top 5% of stumps" in model.certificates_[0].statement
    assert model.certificates_[2].within == pytest.approx(0.5 * model.certificates_[2].asked)


def test_an_edge_that_nothing_reaches_is_refuted():
    """Pure noise: the edge that is asked for first is far too large."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 3)), rng.integers(2, size=4000)
    model = BanditAdaBoostClassifier(1, random_state=0).fit(X, y)
    certificate = model.certificates_[0]
    assert certificate.refuted[0] == pytest.approx(0.45)
    assert list(certificate.refuted) == sorted(certificate.refuted, reverse=True)
    assert all(edge > certificate.asked for edge in certificate.refuted)
    assert "fewer than 5% of stumps, as drawn, reach an edge of" in certificate.statement


def test_a_round_without_pulls_left_claims_nothing():
    model, _, _ = fitted(max_pulls=10, rounds=4)
    assert not any(one.proved for one in model.certificates_)
    assert model.certificates_[0].edge_at_least is None
    assert model.certificates_[0].within is None
    assert (model.pulls_ < 10 + 4096).all()
    assert any(one.statement == "Nothing is proved: the pulls were spent." for one in model.certificates_)


class Told(ColumnRows):
    """Rows whose searches are written down beforehand."""

    def search(self, algorithm, most_pulls):
        self.left.append(most_pulls)
        return self.script.pop(0)


YES, NO = (0.0, 0.0, 1.0), (0.0, 0.0, -1.0)
#: On ten rows with features 0, ..., 9 and class 1 from 5 on: no error, 2 errors, 8 errors, and as good as guessing.
PERFECT, FAIR, BAD, EVEN = Stump(0, 4.5, 0, 1), Stump(0, 2.5, 0, 1), Stump(0, 2.5, 1, 0), Stump(0, 9.5, 0, 1)


def told(*script):
    data = Told(np.arange(10.0)[None, :], np.arange(10) // 5, np.ones(10), 2, np.random.default_rng(0))
    data.script, data.left = list(script), []
    return data


def answer(stump, stopped, state, pulls, *known):
    return Found(stump, stopped, state, 1 + len(known), pulls, lambda: (*known, (1.0, stump)))


@pytest.mark.parametrize(
    "script",
    [
        # a no takes nearly all pulls, and what is left finds nothing
        [answer(FAIR, True, NO, 990), answer(BAD, False, YES, 16)],
        [answer(FAIR, True, NO, 990), answer(EVEN, False, YES, 16)],
        # the last question knows the better one
        [answer(EVEN, True, NO, 500), answer(BAD, True, NO, 490), answer(FAIR, False, YES, 10)],
        # a yes was wrong, for 0.32 was to be reached, and yet it is the best one known
        [answer(FAIR, True, YES, 900), answer(EVEN, True, NO, 80), answer(BAD, False, YES, 20)],
        # one question alone, which thinks another one better
        [answer(BAD, False, YES, 1000, (0.5, FAIR), (0.2, EVEN))],
    ],
)
def test_a_round_whose_pulls_are_spent_takes_the_best_stump_of_all_its_questions(script):
    data = told(*script)
    found = next_stump(data, Asking(max_pulls=1000, epsilon=0.2), 0.4)
    assert found is not None
    stump, error, certificate = found
    assert stump == FAIR
    assert error == pytest.approx(0.2)
    assert data.wrong.sum() == pytest.approx(0.2), "the errors that weights are made from must be of this stump"
    assert not certificate.proved
    assert certificate.edge_at_least is None
    assert (certificate.pulls, certificate.arms) == (sum(one.pulls for one in script), sum(one.arms for one in script))
    assert not data.script
    assert data.left == [1000, *np.subtract(1000, np.cumsum([one.pulls for one in script])[:-1])]


def test_a_round_tries_a_few_stumps_on_all_rows_and_only_where_its_pulls_are_spent(monkeypatch):
    looks, error = [], ColumnRows.error
    monkeypatch.setattr(ColumnRows, "error", lambda self, stump: looks.append(stump) or error(self, stump))
    found = next_stump(told(answer(PERFECT, True, NO, 500), answer(FAIR, True, YES, 100)), Asking(max_pulls=1000), 0.4)
    assert found is not None
    assert found[0] == FAIR
    assert found[2].proved
    assert looks == [FAIR]
    looks.clear()
    many = [(score, BAD) for score in range(2, 30)]  # they look better than the one that is
    assert next_stump(told(answer(FAIR, False, YES, 1000, *many)), Asking(max_pulls=1000), 0.4) is None
    assert looks == [BAD] * 9


def test_a_round_in_which_nothing_is_better_than_guessing_has_no_stump():
    data = told(answer(EVEN, True, NO, 990), answer(BAD, False, YES, 16))
    assert next_stump(data, Asking(max_pulls=1000), 0.4) is None


@pytest.mark.parametrize("features", [None, "lazy"])
def test_a_search_remembers_the_stumps_that_look_best(features):
    """Scores by hand from the pulls of all arms."""
    X, y = blobs(rows=300)
    rng = np.random.default_rng(0)
    if features:
        data = LazyRows(Projections().draw, X, y, np.ones(300), 2, rng)
    else:
        data = ColumnRows(X.T.copy(), y, np.ones(300), 2, rng)
    runs = []

    class Kept(data.runner):
        def __init__(self, *given):
            super().__init__(*given)
            runs.append(self)

    data.runner = Kept
    found = data.search(cc_threshold.design(0.05, 0.2, 0.05, threshold=0.97), 3000)
    history = runs[0].history
    pulls = np.array(history.pulls[: history.arms], dtype=float)
    totals = np.array(history.stats[0][: history.arms], dtype=float)
    assert len(pulls) > 8
    scores = (totals / pulls - 0.5) / np.sqrt(0.25 / pulls)
    assert [score for score, _ in found.known()] == pytest.approx(sorted(scores, reverse=True)[:8])
    assert len({stump for _, stump in found.known()}) == 8
    edges = [0.5 - data.error(stump) for _, stump in found.known()]
    assert max(edges) > 0.2


def test_few_pulls_do_not_end_a_fit_while_stumps_are_known():
    """Most stumps are noise, and a no leaves next to nothing of so few pulls; but by then good stumps are known."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 60))
    y = (X[:, :6].sum(axis=1) > 0.0).astype(int)
    for seed in range(3):
        model = BanditAdaBoostClassifier(60, max_pulls=3000, random_state=seed).fit(X, y)
        assert len(model.estimators_) == 60
        assert model.reason_ == "all rounds"
        assert sum(not one.proved for one in model.certificates_) > 10, "no pulls were spent: the test shows nothing"
        assert model.score(X, y) > 0.8


def test_a_fit_says_why_it_ended():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    assert BanditAdaBoostClassifier(2, random_state=0).fit(X, [0, 0, 1, 1]).reason_ == "no error"
    model = BanditAdaBoostClassifier(5, random_state=0).fit(np.ones((60, 2)), np.arange(60) % 3 == 0)
    assert model.reason_ == "nothing better than guessing"


# ---- features of one's own


class Projections:
    """Random directions, as a user would write them."""

    def draw(self, rng):
        direction = rng.normal(size=4)
        return lambda block: block @ direction


@pytest.mark.parametrize("question", quick(["edge", "best"], ["edge"]))
def test_features_of_one_s_own(question):
    X, y = blobs(rows=300)
    options = {"question": question, "alpha": 0.2, "random_state": 0}
    model = BanditAdaBoostClassifier(4, features=Projections(), **options).fit(X, y)
    assert model.score(X, y) > 0.8
    assert all(one.proved for one in model.certificates_)
    assert (list(model.staged_predict(X))[-1] == model.predict(X)).all()
    same = BanditAdaBoostClassifier(4, features=Projections().draw, **options).fit(X, y)
    assert (same.decision_function(X) == model.decision_function(X)).all()
    assert clone(model).get_params()["features"] is not None


# ---- bad input


def test_bad_input_gets_scikit_learn_s_words():
    X, y = blobs(rows=40)
    model = BanditAdaBoostClassifier(3)
    with pytest.raises(NotFittedError):
        model.predict(X)
    for hole in (np.nan, np.inf):
        wrong = X.copy()
        wrong[3, 1] = hole
        with pytest.raises(ValueError, match="Input X contains"):
            model.fit(wrong, y)
    with pytest.raises(ValueError, match="only one class is present"):
        model.fit(X, np.zeros(40))
    with pytest.raises(ValueError, match="only one class is present"):
        model.fit(X, y, sample_weight=(y == 1).astype(float))
    with pytest.raises(ValueError, match="Unknown label type"):
        model.fit(X, X[:, 0])
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        model.fit(X, y, sample_weight=-np.ones(40))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y[:-1])
    fitted_model = model.fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features, but BanditAdaBoostClassifier is expecting 4"):
        fitted_model.predict(X[:, :3])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_estimators", 0),
        ("question", "why"),
        ("alpha", 1.0),
        ("epsilon", 0.0),
        ("delta", 2.0),
        ("learning_rate", -1.0),
        ("features", 3),
        ("max_pulls", 0),
    ],
)
def test_bad_parameters_get_scikit_learn_s_words(name, value):
    X, y = blobs(rows=40)
    with pytest.raises(ValueError, match=f"The '{name}' parameter of BanditAdaBoostClassifier must be"):
        BanditAdaBoostClassifier(**{name: value}).fit(X, y)


def test_constant_features():
    """Nothing can be told apart: where classes are balanced nothing is better than guessing, else one class is."""
    X = np.ones((60, 2))
    with pytest.raises(ValueError, match="no stump better than guessing was found"):
        BanditAdaBoostClassifier(5, random_state=0).fit(X, np.arange(60) % 2)
    model = BanditAdaBoostClassifier(5, random_state=0).fit(X, np.arange(60) % 3 == 0)
    assert len(model.estimators_) == 1
    assert not model.predict(X).any()


# ---- what the page says


def test_the_page_quotes_the_results():
    docs = ROOT / "docs"
    rows = json.loads((docs / "boosting" / "rounds.json").read_text())["rounds"]
    page = " ".join((docs / "boosting.md").read_text().split())
    ratios = [row["edge"] / row["best"] for row in rows]
    pulls = np.array([row["pulls"] for row in rows])
    assert f"has {np.mean(ratios):.2f} of the largest edge there is, at the worst {min(ratios):.2f} of it" in page
    assert f"at most {np.median(pulls):,.0f} pulls, the mean is {pulls.mean():,.0f}" in page
    assert f"the largest number {pulls.max():,}" in page
    assert all(row["proved"] <= row["edge"] <= row["best"] + 1e-9 for row in rows)


# ---- what is imported


def test_importing_topalpha_does_not_import_scikit_learn():
    check = "import sys, topalpha; topalpha.search; topalpha.simulate; print('sklearn' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_without_scikit_learn_one_sentence_names_the_extra():
    check = (
        "import importlib.util as u; find = u.find_spec; "
        "u.find_spec = lambda name, *rest: None if name == 'sklearn' else find(name, *rest); import topalpha.sklearn"
    )
    run = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    last = run.stderr.strip().splitlines()[-1]
    assert last == "ImportError: topalpha.sklearn needs scikit-learn: pip install 'topalpha[sklearn]'"


def test_huge_weights_are_weights():
    X, y = blobs(300)
    plain, huge = (
        BanditAdaBoostClassifier(5, random_state=0).fit(X, y, np.full(300, weight)) for weight in (1.0, 1e307)
    )
    assert np.array_equal(plain.predict(X), huge.predict(X))
    assert np.array_equal(plain.estimator_errors_, huge.estimator_errors_)


def test_a_small_error_is_an_error():
    """One row outweighs all others, and a stump that has it right leaves an error of 1e-13: the fit goes on."""
    X, y = blobs(300)
    weights = np.ones(300)
    weights[7] = 1e15
    model = BanditAdaBoostClassifier(50, random_state=0).fit(X, y, weights)
    assert 0.0 < model.estimator_errors_[0] < 1e-12
    assert len(model.estimators_) == 50


def test_neighbouring_numbers_are_told_apart():
    step = np.finfo(float).eps
    X, y = [[1.0 + step], [1.0 + 2.0 * step]] * 20, [0, 1] * 20
    assert BanditAdaBoostClassifier(1, random_state=0).fit(X, y).score(X, y) == 1.0


def test_features_do_not_change_the_data():
    def draw(rng):
        def feature(rows):
            rows -= 1.0
            return rows[:, 0]

        return feature

    X, y = blobs(100)
    with pytest.raises(ValueError, match="read-only"):
        BanditAdaBoostClassifier(2, features=draw, random_state=0).fit(X, y)


@pytest.mark.parametrize("order", ["C", "F"])
def test_data_that_may_not_be_written_to(order):
    X = np.array(np.random.default_rng(0).normal(size=(300, 3)), order=order)
    y = (X[:, 0] > 0.0).astype(int)
    weights = np.ones(300)
    expected = BanditAdaBoostClassifier(3, random_state=0).fit(X, y, weights)
    for one in (X, y, weights):
        one.flags.writeable = False
    model = BanditAdaBoostClassifier(3, random_state=0).fit(X, y, weights)
    assert model.estimators_ == expected.estimators_
    assert (model.predict(X) == expected.predict(X)).all()
