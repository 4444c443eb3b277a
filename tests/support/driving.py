"""Functions to evaluate, and searches that note the order of asks and tells."""

from __future__ import annotations

import asyncio

from topalpha import Search, design
from topalpha.execution import Calls, arun, run

SMALL = ("cc-lucb", 0.3, 0.3, 0.2)


def draw(rng):
    return rng.random()


def coin(mean, rng):
    return float(rng.random() < mean)


class Books:
    """A search whose tells and asks are noted in the order in which they come."""

    def __init__(self, target=SMALL, seed=0):
        self.events, self.asked, self.rewards = [], {}, {}
        self.search = Search(design(*target), seed, journal=self)
        self.candidates, self.failures, self.counts = [], [], {}

    def ask(self, order, arm, told):
        number = self.counts.get(arm, 0)
        self.counts[arm] = number + 1
        self.asked[order] = (arm, number)
        self.events.append("ask")

    def wait(self, asked, told):
        self.events.append("wait")

    def tell_many(self, rewards):
        for order, reward in rewards:
            assert order not in self.rewards, "told twice"
            self.rewards[order] = reward
        self.events.append("tell")

    def failed(self, pull, reason, action):
        self.failures.append((pull, reason, action))

    def told(self):
        """What was told: reward by arm and number of the pull."""
        return {self.asked[order]: reward for order, reward in self.rewards.items()}

    def run(self, calls, **options):
        options = {"candidates": self.candidates, "new_candidate": calls.candidate, "failed": self.failed} | options
        return run(self.search, calls, **options)

    def arun(self, calls, **options):
        options = {"candidates": self.candidates, "new_candidate": calls.candidate, "failed": self.failed} | options
        return asyncio.run(arun(self.search, calls, **options))

    def check(self):
        """Every pull told once, the others outstanding."""
        search = self.search
        assert search.told == len(self.rewards)
        assert {pull.order for pull in search.outstanding} == set(self.asked) - set(self.rewards)


def by_hand(target=SMALL, seed=0):
    books, calls = Books(target, seed), Calls(draw, coin, seed=seed)
    while (pull := books.search.ask()) is not None:
        if pull.arm == len(books.candidates):
            books.candidates.append(calls.candidate(pull.arm))
        books.search.tell(pull, calls.evaluation(pull, books.candidates[pull.arm])())
    return books


async def acoin(mean, rng):
    await asyncio.sleep(0.002 * mean)
    return coin(mean, rng)


def evaluate(books, calls, kind, way, width=3, **options):
    options["timeout"] = 0.1 if way == "hangs" else None
    if kind == "asyncio":
        return books.arun(calls, width=width, **options)
    return books.run(calls, executor=kind, width=width if kind else 1, **options)
