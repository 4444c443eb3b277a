"""A file with as many arms as the dashboard is to hold; how many pulls it has matters to nothing that is shown."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing

import numpy as np

from topalpha.storage import Storage

ARMS = 10_000
PULLS = 20_000
TASK = {
    **{"alpha": 0.01, "epsilon": 0.05, "delta": 0.05, "algorithm": "joint-lucb", "family": "bernoulli"},
    **{"minimise": False, "seed": 1},
}

# The logs: every arm in turn. One statement each, for as many calls would take longer than all else.
COUNT = "WITH RECURSIVE counting(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counting WHERE n + 1 < ?)"
ASKS = f'{COUNT} INSERT INTO asks (search, "order", arm, after) SELECT 1, n, n % ?, n FROM counting'
TELLS = f'{COUNT} INSERT INTO tells (search, "order", sequence, reward) SELECT 1, n, n, (n * 7919) % 2 FROM counting'


class Large:
    """Writes the file, and then figures of some arms anew, as a running search does."""

    def __init__(self, path, arms=ARMS, pulls=PULLS):
        self._rng = np.random.default_rng(1)
        self._means = 0.9 * np.sqrt(self._rng.random(arms))
        self._pulls = np.full(arms, pulls // arms)
        self.arms = arms
        with Storage(path) as storage:
            record = storage.create("large", {"task": TASK})
            for arm in range(arms):
                record.add_arm(arm, {"prompt": f"candidate number {arm}", "temperature": round(arm / arms, 4)})
            record.commit()
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("BEGIN")
            connection.execute(ASKS, (pulls, arms))
            connection.execute(TELLS, (pulls,))
            connection.execute("COMMIT")
        self.storage = Storage(path)
        self.record = self.storage.open("large")
        self.write(range(arms))

    @property
    def pulls(self):
        return int(self._pulls.sum())

    def row(self, arm):
        mean, width = float(self._means[arm]), 1.5 / math.sqrt(self._pulls[arm])
        return arm, int(self._pulls[arm]), mean, max(0.0, mean - width), min(1.0, mean + width), 0

    def write(self, arms):
        """One snapshot with the figures of these arms."""
        leader = int(np.argmax(self._means))
        _, _, mean, low, high, _ = self.row(leader)
        self.record.snapshot(
            [self.row(arm) for arm in arms],
            {
                **{"pulls": self.pulls, "in_flight": 8, "arms": self.arms, "leader": leader, "mean": mean},
                **{"low": low, "high": high, "gap": 100.0 / math.sqrt(self.pulls), "unresolved": 321, "left": 123456},
                **{"paused": False, "claims": [[0.01, 0.2], [0.02, 0.15], [0.1, 0.07]]},
            },
        )

    def go_on(self, changed=500):
        """Some arms get pulls, and everything is written that this changes."""
        chosen = self._rng.choice(self.arms, changed, replace=False)
        self._pulls[chosen] += 3
        self.write(map(int, chosen))

    def close(self):
        self.storage.close()
