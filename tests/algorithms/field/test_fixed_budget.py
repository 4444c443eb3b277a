"""Algorithms with a budget: what they spend, how they spend it, and what is proved about it."""

from __future__ import annotations

import hashlib
import math
import random

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from marks import quick
from topalpha import Search
from topalpha.algorithms import FIELD, design, entry
from topalpha.algorithms.field import bucb, d_ttts, fixed_budget, hyperband, isha, siri
from topalpha.algorithms.field.bucb import arms_drawn, bracket_alpha
from topalpha.families import Bernoulli, Gaussian
from topalpha.randomness import run_seed, streams
from topalpha.reservoirs import Beta, Conditioned, Dirac, TwoPoint, Uniform
from topalpha.rules.protocol import Certifier, History
from topalpha.simulation import interpret, simulate
from topalpha.testing import check_algorithm, check_design, interpreted

NAMES = ("isha", "hyperband", "siri", "bucb", "d-ttts")
#: Those whose proof or whose rule is for rewards in [0, 1].
UNIT = ("isha", "hyperband", "siri", "d-ttts")
RESERVOIR = Conditioned(Beta(1.0, 1.0), 0.95)
TINY = (*range(1, 41), 63, 64, 65, 80, 81, 100, 243, 500)


def made(name, budget, epsilon=0.2, **options):
    return design(name, 0.1, epsilon, 0.1, budget=budget, **options)


def reward_of(arm, number):
    """What pull ``number`` of the arm gives, whoever asks and whenever."""
    mean = random.Random(f"arm {arm}").random()
    return float(random.Random(f"pull {number} of arm {arm}").random() < mean)


def told(algorithm, rewards=reward_of):
    """The search after its end, one pull at a time; the order of its arms."""
    search, order = Search(algorithm), []
    while (pull := search.ask()) is not None:
        order.append(pull.arm)
        search.tell(pull, rewards(pull.arm, pull.number))
    return search, order


# ---- the entries


def test_what_the_entries_say():
    entries = {name: entry(name) for name in NAMES}
    assert {entries[name].name for name in NAMES} <= {one.name for one in FIELD}
    assert [entries[name].guarantee for name in NAMES] == [
        "fixed-budget",
        "fixed-budget",
        "fixed-budget",
        "none",
        "none",
    ]
    for name, one in entries.items():
        assert one.budgeted
        assert one.rewards == ("unit" if name in UNIT else "any")
        assert not made(name, 10).traits.covered
        assert made(name, 10).traits.name == name


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_called_proved(name):
    search, _ = told(made(name, 30))
    assert search.stopped
    assert search.result.statement.startswith("Nothing is proved")


@pytest.mark.parametrize("name", NAMES)
def test_designs_refuse_with_one_sentence(name):
    check_design(entry(name).design, budget=50)
    for wrong in (None, 0, -1, 2.5, 50.0, 0.0, math.inf, math.nan, True, "many"):
        with pytest.raises(ValueError, match=r"^budget must be .*, got "):
            made(name, wrong)
    if name in UNIT:
        with pytest.raises(ValueError, match=r"^family must be bernoulli"):
            design(name, 0.1, 0.1, 0.1, Gaussian(0.5), budget=50)
    wrong_options = {
        "isha": ({"arms": -1}, {"arms": 2.5}, {"number": "many"}, {"arms": 17}),
        "hyperband": ({"eta": 1}, {"eta": 2.5}),
        "siri": ({"beta": 0.0}, {"share": 0.0}, {"scale": -1.0}, {"beta": math.nan}),
        "bucb": ({"draw_share": 0.0}, {"draw_share": 1.0}),
        "d-ttts": ({"arms": -1}, {"first": 0.0}, {"first": 1.0}, {"repeats": 0}),
    }
    for options in wrong_options[name]:
        with pytest.raises(ValueError, match=f"^{next(iter(options))} must "):
            made(name, 50, **options)


def test_bucb_refuses_a_delta_beyond_the_redundancy():
    with pytest.raises(ValueError, match=r"^delta must not be so small for this family"):
        design("bucb", 0.1, 0.1, 1e-300, Gaussian(0.5), budget=100)


# ---- every driver

RUNS = {
    "isha": ("isha", {}),
    "isha five arms": ("isha", {"arms": 5}),
    "isha one arm": ("isha", {"arms": 1}),
    "isha bound": ("isha", {"number": "bound"}),
    "hyperband": ("hyperband", {}),
    "hyperband eta 2": ("hyperband", {"eta": 2}),
    "siri": ("siri", {}),
    "siri beta 2": ("siri", {"beta": 2.0, "share": 2.0}),
    "siri beta 3": ("siri", {"beta": 3.0, "scale": 0.25}),
    "bucb": ("bucb", {}),
    "d-ttts": ("d-ttts", {}),
    "d-ttts one arm": ("d-ttts", {"arms": 1}),
    "d-ttts no limit": ("d-ttts", {"arms": 400, "first": 0.3, "repeats": 2}),
}


@pytest.mark.parametrize("case", quick(RUNS, ["siri", "siri beta 2", "siri beta 3"]))
def test_every_way_to_run_agrees(case):
    name, options = RUNS[case]
    last = check_algorithm(made(name, 400, **options), RESERVOIR, seed=3)
    assert 200 < last.t <= 400


@pytest.mark.slow
def test_bucb_agrees_for_other_rewards():
    algorithm = design("bucb", 0.1, 0.2, 0.1, Gaussian(0.5), budget=300)
    assert check_algorithm(algorithm, Uniform(-1.0, 1.0)).t == 300


#: t, the arm and a digest of the order of pulls.
PINNED = {
    "isha": (386, 48, "82af448ff5348a1e"),
    "isha bound": (400, 1, "ce19db65e046e36a"),
    "hyperband": (384, 10, "9abdab2965f0885d"),
    "hyperband eta 2": (394, 38, "9957dae311264da8"),
    "siri": (400, 3, "428cc96de09bc5ee"),
    "siri beta 3": (400, 3, "a19ac483598e8d1a"),
    "bucb": (400, 3, "f4cf633152001e71"),
    "d-ttts": (400, 38, "61787ebd753cdcb5"),
    "d-ttts no limit": (400, 49, "22c7fbaff572b058"),
}


def trajectory(case):
    name, options = RUNS[case]
    last, record = interpreted(made(name, 400, **options), RESERVOIR, seed=2018)
    return last.t, last.arm, hashlib.sha256(",".join(str(step.arm) for step in record).encode()).hexdigest()[:16]


@pytest.mark.parametrize("case", PINNED)
def test_trajectories_stay_as_pinned(case):
    assert trajectory(case) == PINNED[case]


# ---- budgets


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("reservoir", [RESERVOIR, Dirac(0.0), Dirac(1.0)], ids=["beta", "all 0", "all 1"])
def test_no_budget_is_exceeded_and_the_pulls_are_those_of_the_design(name, reservoir):
    for budget in TINY:
        algorithm = made(name, budget)
        last, _ = interpreted(algorithm, reservoir, seed=budget)
        planned = {
            "isha": lambda a: sum(size * pulls for size, _, pulls in isha.schedule(a.arms, a.budget)),
            "hyperband": lambda a: sum(size * pulls for rounds in hyperband.schedule(a) for size, _, pulls in rounds),
        }.get(name, lambda a: a.budget)(algorithm)
        assert last.t == planned <= budget
        assert last.arms == algorithm.arms or (name == "d-ttts" and last.arms <= algorithm.arms)
        assert 2 * last.t > budget, "no design may leave half of its budget"


@pytest.mark.parametrize("name", NAMES)
def test_workers_change_nothing_but_the_order(name):
    """Rounds and brackets wait for what they need; the budget holds with any number of pulls in flight."""
    for seed in range(3):
        algorithm = made(name, 150)
        draw, search, out = random.Random(seed), Search(algorithm), []
        while not search.stopped:
            out += search.ask_many(draw.randrange(0, 12))
            draw.shuffle(out)
            for _ in range(draw.randrange(0, len(out) + 1)):
                pull = out.pop()
                search.tell(pull, reward_of(pull.arm, pull.number))
        assert search.asked <= 150
        assert not search.outstanding
        if name != "d-ttts":  # whose draws are made when a pull is asked for
            alone, _ = told(algorithm)
            assert list(search.history.pulls) == list(alone.history.pulls)
            assert search.best == alone.best


@pytest.mark.parametrize("name", NAMES)
def test_the_recommendation_can_be_read_at_any_time(name):
    search = Search(made(name, 120))
    while (pull := search.ask()) is not None:
        search.tell(pull, reward_of(pull.arm, pull.number))
        assert search.history.pulls[search.best] > 0


# ---- isha


def test_eight_arms_and_twenty_four_pulls():
    """Rounds of 8, 4 and 2 arms with 1, 2 and 4 pulls; only the round's own pulls count."""
    assert isha.schedule(8, 24) == [(8, 4, 1), (4, 2, 2), (2, 1, 4)]
    rewards = {
        0: [0],
        1: [1, 0, 1],  # loses round 2 to arms with more in that round, though its mean over all pulls is larger
        2: [0],
        3: [1, 1, 1, 0, 0, 1, 0],
        4: [0],
        5: [1, 1, 1, 0, 1, 1, 0],
        6: [0],
        7: [1, 0, 0],
    }
    search, order = told(made("isha", 24, arms=8), lambda arm, number: float(rewards[arm][number]))
    assert order == [*range(8), 1, 1, 3, 3, 5, 5, 7, 7, 3, 3, 3, 3, 5, 5, 5, 5]
    assert list(search.history.pulls)[:8] == [1, 3, 1, 7, 1, 7, 1, 3]
    assert search.best == 5
    assert search.history.stats[0][5] / 7 > search.history.stats[0][3] / 7


def test_ties_of_a_round_go_to_the_arm_drawn_first():
    search, order = told(made("isha", 8), lambda arm, number: 1.0)
    assert order == [0, 1, 2, 3, 0, 0, 1, 1]
    assert search.best == 0


def test_odd_numbers_keep_the_larger_half():
    assert isha.schedule(5, 100) == [(5, 3, 6), (3, 2, 11), (2, 1, 16)]
    assert isha.schedule(1, 7) == [(1, 1, 7)]
    assert isha.schedule(3, 6) == [(3, 2, 1), (2, 1, 1)]


def test_as_many_arms_as_the_first_round_can_pull_once():
    for budget in range(1, 600):
        arms = fixed_budget.most_arms(budget)
        assert arms * max(1, math.ceil(math.log2(arms))) <= budget
        assert (arms + 1) * max(1, math.ceil(math.log2(arms + 1))) > budget
        assert min(pulls for _, _, pulls in isha.schedule(arms, budget)) >= 1


# ---- hyperband


def test_two_brackets_and_twelve_pulls():
    """Six pulls a bracket: 3 arms once, the best of them three times; then 2 fresh arms three times."""
    algorithm = made("hyperband", 12)
    assert hyperband.schedule(algorithm) == [[(3, 1, 1), (1, 1, 3)], [(2, 2, 3)]]
    rewards = {0: [0], 1: [1, 1, 0, 0], 2: [0], 3: [1, 0, 0], 4: [0, 1, 1]}
    search, order = told(algorithm, lambda arm, number: float(rewards[arm][number]))
    assert order == [0, 1, 2, 1, 1, 1, 3, 3, 3, 4, 4, 4]
    assert search.best == 4
    rewards[4] = [0, 0, 0]
    search, _ = told(algorithm, lambda arm, number: float(rewards[arm][number]))
    assert search.best == 1, "its mean in its last round ties with arm 3's, which came later"


@pytest.mark.parametrize("eta", [2, 3, 4])
def test_brackets_by_their_definition(eta):
    for budget in (1, 7, 8, 11, 12, 50, 1000, 20_000):
        algorithm = made("hyperband", budget, eta=eta)
        top = algorithm.largest
        assert (top + 1) ** 2 * eta**top <= budget < (top + 2) ** 2 * eta ** (top + 1)
        share = budget // (top + 1)
        for bracket, rounds in zip(range(top, -1, -1), hyperband.schedule(algorithm), strict=True):
            assert len(rounds) == bracket + 1
            assert rounds[0][0] == math.floor((top + 1) * eta**bracket / (bracket + 1) + 1e-9)
            assert sum(size * pulls for size, _, pulls in rounds) <= share
            assert all(pulls == share // (len(rounds) * size) >= 1 for size, _, pulls in rounds)
            assert all(kept == size // eta for size, kept, _ in rounds[:-1])


# ---- what halving is proved to do


@pytest.mark.parametrize("pulls", [1, 2, 5, 20, 60])
@pytest.mark.parametrize("gap", [0.1, 0.3, 0.6])
def test_the_bound_of_one_round_covers_the_exact_error(pulls, gap):
    """Two arms, the worse one first, so that ties count against the better one."""
    for low in np.linspace(0.0, 1.0 - gap, 15):
        worse, better = binom(pulls, low), binom(pulls, low + gap)
        error = sum(better.pmf(count) * worse.sf(count - 1) for count in range(pulls + 1))
        assert error <= fixed_budget.drop_bound([(2, 1, pulls)], gap - 1e-12) + 1e-12


def test_the_bound_by_its_formula():
    rounds = [(8, 4, 100), (4, 2, 200), (2, 1, 400)]
    width = 100**-0.5 + 200**-0.5 + 400**-0.5
    parts = (1 + 7 / 4) + (1 + 3 / 2) + (1 + 1)
    assert fixed_budget.drop_bound(rounds, 0.5) == pytest.approx(parts * math.exp(-(0.5**2) / (2 * width**2)))
    # the epsilons of the rounds add up to epsilon, and each round's exponent is the same
    shares = [0.5 * pulls**-0.5 / width for _, _, pulls in rounds]
    assert sum(shares) == pytest.approx(0.5)
    assert [pulls * share**2 for (_, _, pulls), share in zip(rounds, shares, strict=True)] == pytest.approx(
        [0.25 / width**2] * 3
    )
    assert fixed_budget.drop_bound([(3, 3, 5)], 0.1) == 0.0, "a round that keeps all loses nothing"
    assert isha.error_bound(8, 2400, 0.1, 0.5) == pytest.approx(0.9**8 + fixed_budget.drop_bound(rounds, 0.5))


def test_the_number_of_arms_of_the_smallest_bound():
    for budget in (1, 10, 1000, 100_000):
        best = isha.bounded_arms(budget, 0.2, 0.3)
        bounds = {
            arms: isha.error_bound(arms, budget, 0.2, 0.3) for arms in range(1, fixed_budget.most_arms(budget) + 1)
        }
        assert bounds[best] == min(bounds.values())
    assert made("isha", 100_000, number="bound").arms == isha.bounded_arms(100_000, 0.1, 0.2)
    assert made("isha", 100_000, number="bound", arms=3).arms == 3


def rejects(errors, runs, level):
    """Whether so many errors refute that they happen with probability ``level`` at most."""
    return binomtest(errors, runs, level, alternative="greater").pvalue < 1e-3


@pytest.mark.slow
@pytest.mark.statistical
def test_errors_stay_below_the_proved_bound():
    """Mass alpha on top, the rest just too low: the chance to draw no top arm is a part of the bound that is needed."""
    algorithm = made("isha", 40_000, 0.4, number="bound")
    bound = isha.error_bound(algorithm.arms, algorithm.budget, 0.1, 0.4)
    missed = 0.9**algorithm.arms
    assert missed < bound < 0.2
    errors = simulate(algorithm, TwoPoint(0.29, 0.7, 0.1), runs=2000, seed=7, workers=1).errors.count
    assert not rejects(errors, 2000, bound)
    assert rejects(errors, 2000, bound - missed), "without that part the bound would be wrong, and this shows it"


@pytest.mark.slow
def test_the_bound_of_hyperband_by_its_formula():
    """The better of two brackets: its draw, its halvings, and the choice among the last arms of both."""
    algorithm = made("hyperband", 12_000, 0.5)._replace(largest=1)
    assert hyperband.schedule(algorithm) == [[(3, 1, 1000), (1, 1, 3000)], [(2, 2, 3000)]]
    narrow = 0.9**3 + fixed_budget.drop_bound([(3, 1, 1000), (3, 1, 3000)], 0.5)
    broad = 0.9**2 + 3.0 * math.exp(-3000 * 0.5**2 / 2)
    assert narrow < broad
    assert hyperband.error_bound(algorithm) == pytest.approx(narrow)
    errors = simulate(algorithm, TwoPoint(0.19, 0.7, 0.1), runs=500, seed=8, workers=1).errors.count
    assert not rejects(errors, 500, narrow)
    # Last rounds of unequal length: the choice among their arms is as sure as the shorter one makes it.
    uneven = made("hyperband", 1003, 0.5)
    lasts = [rounds[-1] for rounds in hyperband.schedule(uneven)]
    assert min(lasts, key=lambda one: one[2])[2] < max(lasts, key=lambda one: one[2])[2]
    choice = (sum(kept for _, kept, _ in lasts), 1, min(pulls for _, _, pulls in lasts))
    by_hand = [
        0.9 ** rounds[0][0] + fixed_budget.drop_bound([*rounds[:-1], choice], 0.5)
        for rounds in hyperband.schedule(uneven)
    ]
    assert hyperband.error_bound(uneven) == pytest.approx(min(by_hand))
    assert rejects(errors, 500, 0.9**10), "five arms, and not ten, can hold a top one"


@pytest.mark.statistical
@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_errors_fall_as_the_budget_grows(name):
    """The same seeds, four times the pulls each time; the last error is small."""
    reservoir, runs = TwoPoint(0.3, 0.7, 0.1), 150
    budgets = (75, 300, 1200) if name != "siri" else (1000, 10_000, 100_000)
    counts = [simulate(made(name, budget, 0.3), reservoir, runs, seed=5, workers=1).errors.count for budget in budgets]
    assert counts[0] > counts[1] > counts[2] or counts[1] == counts[2] == 0, counts
    assert counts[0] > 0.3 * runs, "the first budget must leave room"
    assert counts[2] < 0.1 * runs


# ---- siri


def plain_siri(budget, delta, beta, share, scale, reservoir, seed):
    """SiRI as printed, every bound computed anew; the last doubling is cut."""
    source = streams(run_seed(seed, 0))
    b = min(beta, 2.0)
    a = {True: share, False: share / math.log(budget) ** (2 if beta == 2.0 else 1)}[beta < 2.0]
    arms = math.ceil(a * budget ** (b / 2))
    means = reservoir.sample(arms, source.arms)
    order, pulls, totals = [], [0] * arms, [0.0] * arms

    def pull(arm):
        totals[arm] += float(source.rewards.random() < means[arm])
        pulls[arm] += 1
        order.append(arm)

    def bound(arm):
        x = max(0.0, math.log(2.0 ** (2.0 * math.floor(math.log2(arms)) / b) / (pulls[arm] * delta)))
        return totals[arm] / pulls[arm] + 2 * math.sqrt(scale * x / pulls[arm]) + 2 * scale * x / pulls[arm]

    for arm in range(arms):
        pull(arm)
    while len(order) < budget:
        bounds = [bound(arm) for arm in range(arms)]
        top = max(bounds)
        arm = min((a for a in range(arms) if bounds[a] > top - 1e-12), key=lambda a: (pulls[a], a))
        for _ in range(min(pulls[arm], budget - len(order))):
            pull(arm)
    return order, max(range(arms), key=lambda arm: (pulls[arm], totals[arm], -arm))


@pytest.mark.parametrize(
    ("beta", "share", "scale"), [(1.0, 0.3, 1.0), (0.5, 1.0, 0.1), (2.0, 2.0, 0.5), (3.0, 0.3, 0.05)]
)
def test_siri_is_the_printed_algorithm(beta, share, scale):
    for seed in range(5):
        order, arm = plain_siri(700, 0.1, beta, share, scale, RESERVOIR, seed)
        last, record = interpreted(made("siri", 700, beta=beta, share=share, scale=scale), RESERVOIR, seed)
        assert [step.arm for step in record] == order
        assert last.arm == arm


def test_the_bound_of_siri_by_hand():
    algorithm = made("siri", 10_000)  # 30 arms, t = 4, b = 1
    assert algorithm.arms == 30
    assert algorithm.log_scope == pytest.approx(math.log(2**8 / 0.1))
    rate = math.log(2**8 / (0.1 * 4)) / 4
    assert algorithm.simple_regret_index(3.0, 4) == pytest.approx(0.75 + 2 * math.sqrt(rate) + 2 * rate)
    assert algorithm.simple_regret_index(3000.0, 4000) == 0.75, "a negative logarithm counts as 0"


def test_the_number_of_arms_of_siri():
    assert siri.number_of_arms(10_000, 1.0, 0.3) == 30
    assert siri.number_of_arms(10_000, 2.0, 1.0) == math.ceil(10_000 / math.log(10_000) ** 2)
    assert siri.number_of_arms(10_000, 5.0, 1.0) == math.ceil(10_000 / math.log(10_000))
    assert [siri.number_of_arms(1, beta, 0.3) for beta in (1.0, 2.0, 3.0)] == [1, 1, 1]
    assert siri.number_of_arms(50, 3.0, 1000.0) == 50


# ---- bucb


def plain_bucb(algorithm, reservoir, seed):
    """The pseudo-code with brackets as lists, every bound computed anew."""
    source = streams(run_seed(seed, 0))
    means = reservoir.sample(algorithm.arms, source.arms)
    family, delta = algorithm.family, algorithm.delta
    brackets, order, totals, pulls = {}, [], [], []
    opened = turn = 0

    def bound(arm, side, level):
        threshold = math.log(1.0 / level) + family.redundancy(totals[arm], pulls[arm])
        return getattr(family, side)(totals[arm] / pulls[arm], threshold / pulls[arm])

    for t in range(1, algorithm.budget + 1):
        if t >= opened * 2**opened:
            opened += 1
            brackets[opened] = []
        turn = 1 + turn * (turn < opened)
        if len(brackets[turn]) < 2**turn:
            arm = len(totals)
            brackets[turn].append(arm)
            totals.append(0.0)
            pulls.append(0)
        else:
            uppers = {one: bound(one, "upper", delta) for one in brackets[turn]}
            top = max(uppers.values())
            arm = min((one for one in uppers if uppers[one] > top - 1e-12), key=lambda one: (pulls[one], one))
        totals[arm] += family.sample(means[arm], source.rewards)
        pulls[arm] += 1
        order.append(arm)
    lowers = {
        arm: bound(arm, "lower", delta / (2**bracket * bracket**2)) for bracket in brackets for arm in brackets[bracket]
    }
    top = max(lowers.values())
    return order, min((arm for arm in lowers if lowers[arm] > top - 1e-12), key=lambda arm: (pulls[arm], arm)), brackets


def test_bucb_is_the_printed_algorithm():
    for seed, family, reservoir in (
        (0, Bernoulli(), RESERVOIR),
        (1, Bernoulli(), Dirac(0.5)),
        (2, Gaussian(0.5), RESERVOIR),
    ):
        algorithm = design("bucb", 0.1, 0.2, 0.1, family, budget=600)
        order, arm, brackets = plain_bucb(algorithm, reservoir, seed)
        last, record = interpreted(algorithm, reservoir, seed)
        assert [step.arm for step in record] == order
        assert last.arm == arm
        found = bucb.arm_brackets(algorithm)
        assert {one: [arm for arm in range(last.arms) if found[arm] == one] for one in brackets} == brackets


def test_the_schedule_by_hand():
    """Brackets 1 to 4 open at pulls 1, 2, 8 and 24 and take turns; bracket 4 draws its first arm with pull 25."""
    assert bucb.arm_brackets(made("bucb", 25)) == (1, 2, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4)
    for budget in range(1, 400):
        assert arms_drawn(budget) == len(bucb.arm_brackets(made("bucb", budget)))


def test_what_bucb_proves_by_its_formulas():
    algorithm = made("bucb", 600)
    search, _ = told(algorithm)
    assert isinstance(algorithm, Certifier)
    history, arm = search.history, search.best
    brackets = bucb.arm_brackets(algorithm)
    bracket = brackets[arm]
    level = 0.01 / (bracket * (bracket + 1) * 2**bracket)
    total, pulls = history.stats[0][arm], history.pulls[arm]
    redundancy = algorithm.family.redundancy(total, pulls)
    lower = algorithm.family.lower(total / pulls, (math.log(1.0 / level) + redundancy) / pulls)
    assert search.lower(arm) == pytest.approx(lower)
    claims = search.claims(arm)
    assert claims
    for claim in claims:
        [one] = [r for r in range(1, 8) if bracket_alpha(r, 0.09, 0.1) == claim.alpha]
        missed = (1.0 - claim.alpha * 0.9) ** (2**one)
        assert missed == pytest.approx(0.09 / (one * (one + 1)))
        members = [other for other in range(history.arms) if brackets[other] == one]
        assert len(members) == 2**one
        highest = max(search.upper(other) for other in members if other != arm)
        assert claim.epsilon == pytest.approx(max(0.0, highest - lower))
    assert sorted(claims) == claims


def wrong_claims(algorithm, reservoir, runs, seed):
    """In how many runs some claim about the recommended arm is false at the end."""
    wrong = 0
    for run in range(runs):
        done = interpret(algorithm, reservoir, run_seed(seed, run))
        arm = done.search.best
        wrong += any(
            done.means[arm] < reservoir.threshold(claim.alpha, claim.epsilon) - 1e-12
            for claim in done.search.claims(arm)
            if claim.alpha > 0.0
        )
    return wrong


@pytest.mark.statistical
@pytest.mark.slow
def test_what_bucb_proves_is_true():
    """Two arms in a hundred are good, so that most brackets hold none: nothing may be claimed about such a fraction."""
    algorithm, reservoir = made("bucb", 600), TwoPoint(0.2, 0.9, 0.02)
    assert not rejects(wrong_claims(algorithm, reservoir, 150, 1), 150, 0.1)
    loose = algorithm._replace(draw_level=19.9)
    assert bracket_alpha(5, loose.draw_level, 0.1) < 0.02
    assert rejects(wrong_claims(loose, reservoir, 150, 1), 150, 0.1), "a fraction that a bracket cannot prove must show"


# ---- d-ttts


def plain_d_ttts(algorithm, reservoir, seed):
    """The same draws in the same order, as vectors."""
    source = streams(run_seed(seed, 0))
    means = list(reservoir.sample(algorithm.arms, source.arms))
    totals, pulls, order = [], [], []

    def draws():
        fresh = min(len(order) + 1, algorithm.arms) - len(totals)
        first = [source.rules.beta(fresh, 1)] if fresh else [-1.0]
        known = [source.rules.beta(1 + s, 1 + n - s) for s, n in zip(totals, pulls, strict=True)]
        return known + first  # the last entry stands for a fresh arm

    while len(order) < algorithm.budget:
        theta = draws()
        arm = int(np.argmax(theta))
        candidates = sum(one >= 0.0 for one in theta)
        if candidates > 1 and source.rules.random() >= algorithm.first:
            first = arm
            for _ in range(algorithm.repeats):
                theta = draws()
                arm = int(np.argmax(theta))
                if arm != first:
                    break
            else:
                arm = int(np.argsort(theta)[-2])
        if arm == len(totals):
            totals.append(0.0)
            pulls.append(0)
        totals[arm] += float(source.rewards.random() < means[arm])
        pulls[arm] += 1
        order.append(arm)
    return order, min(range(len(pulls)), key=lambda a: (-(1 + totals[a]) / (2 + pulls[a]), pulls[a], a))


@pytest.mark.parametrize("options", [{}, {"arms": 300}, {"arms": 2}, {"arms": 10, "repeats": 1, "first": 0.2}])
def test_d_ttts_is_its_description(options):
    for seed in range(4):
        algorithm = made("d-ttts", 300, **options)
        order, arm = plain_d_ttts(algorithm, RESERVOIR, seed)
        last, record = interpreted(algorithm, RESERVOIR, seed)
        assert [step.arm for step in record] == order
        assert last.arm == arm


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("limit", "pulls", "totals", "chance"),
    [
        (2, [1, 1], [1.0, 0.0], 0.8 * 5 / 6 + 0.2 / 6),  # P(Beta(2,1) > Beta(1,2)) = 5/6
        (10, [3], [3.0], 0.8 * 4 / 7 + 0.2 * 3 / 7),  # Beta(4,1) against three arms never pulled: Beta(3,1)
        (2, [3], [3.0], 0.8 * 4 / 5 + 0.2 * 1 / 5),  # against the one that the limit leaves: Beta(1,1)
        (2, [1, 1], [0.5, 0.5], 0.5),  # fractions count as such
    ],
)
def test_the_law_of_the_next_arm(limit, pulls, totals, chance):
    """Without the limit on repeats an arm that wins with probability p is pulled with .8 p + .2 (1 - p), if of two."""
    algorithm = made("d-ttts", 100, arms=limit, first=0.8, repeats=1000)
    history = History(sum(pulls), len(pulls), list(pulls), [list(totals)], [])
    rng, batch, memory, runs = np.random.default_rng(3), [0], algorithm.scratch(2), 20_000
    count = 0
    for _ in range(runs):
        assert algorithm.plan(history, memory, rng, batch) == 1
        count += batch[0] == 0
    assert binomtest(count, runs, chance).pvalue > 1e-3


def test_d_ttts_returns_the_largest_posterior_mean():
    algorithm = made("d-ttts", 100)
    history = History(12, 3, [1, 10, 1], [[1.0, 9.0, 0.5]], [])
    assert algorithm.recommend(history, algorithm.scratch(3)) == 1  # 10/12, and not 2/3
    tied = History(5, 2, [4, 1], [[3.0, 1.0]], [])
    assert algorithm.recommend(tied, algorithm.scratch(2)) == 1  # both 2/3: fewer pulls


def test_the_limit_of_d_ttts():
    assert made("d-ttts", 1000).arms == 100
    assert made("d-ttts", 20).arms == 20
    assert d_ttts.design(0.03, 0.1, 0.1, budget=10**6).arms == 334
    last, _ = interpreted(made("d-ttts", 300, arms=7), RESERVOIR)
    assert last.arms == 7
