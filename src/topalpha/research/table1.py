"""The 36 rows of the paper's table (label ``tbl-results``): laws, targets and the paper's results.

Every law is Beta(1, b) conditioned on means of at most 0.95. The paper's column "effective alpha" is
alpha^(1/b) + epsilon, the distance of the threshold from 1 for the law *without* the truncation; it is not a measure.
The measure of the correct arms is ``row.law.acceptable(row.alpha, row.epsilon)``. Errors in the paper's table follow
the (alpha, epsilon) criterion, despite its caption.
"""

from __future__ import annotations

import csv
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from topalpha.validate import require

if TYPE_CHECKING:
    from topalpha.reservoirs import Reservoir

#: Where the paper truncates its Beta laws, by conditioning.
AT_MOST = 0.95


class Paper(NamedTuple):
    """The paper's results for a row: rates over 100 runs, and mean pulls in samples."""

    effective_alpha: float
    errors: float
    regret: float
    pulls: float


class PaperRow(NamedTuple):
    """One row: its number from 1, the law's parameter b, the target, and the paper's figures."""

    number: int
    shape: float
    alpha: float
    epsilon: float
    delta: float
    paper: Paper

    @property
    def label(self) -> str:
        """The law as the paper writes it.

        Examples
        --------
        >>> table1()[35].label
        'Beta(1,3)'
        """
        return f"Beta(1,{self.shape:g})"

    @property
    def law(self) -> Reservoir:
        """The law of the arms' means.

        Examples
        --------
        >>> row = table1()[0]
        >>> row.law.expression, round(row.law.acceptable(row.alpha, row.epsilon), 4)
        ('conditioned(beta(1,1),0.95)', 0.0503)
        """
        from topalpha.reservoirs import Beta, Conditioned

        return Conditioned(Beta(1.0, self.shape), AT_MOST)


@lru_cache(maxsize=1)
def table1() -> tuple[PaperRow, ...]:
    """All rows, in the paper's order.

    Examples
    --------
    >>> rows = table1()
    >>> len(rows), rows[0].label, rows[0].paper.pulls
    (36, 'Beta(1,1)', 51000.0)
    """
    lines = files("topalpha.research").joinpath("data/table1.csv").read_text(encoding="utf-8").splitlines()
    return tuple(_row(number, record) for number, record in enumerate(csv.DictReader(lines), start=1))


def _row(number: int, record: dict[str, str]) -> PaperRow:
    return PaperRow(
        number=number,
        shape=float(record["reservoir"].removeprefix("Beta(1,").removesuffix(")")),
        alpha=float(record["alpha"]),
        epsilon=float(record["epsilon"]),
        delta=float(record["delta"]),
        paper=Paper(
            effective_alpha=float(record["effective_alpha"]),
            errors=float(record["errors"]),
            regret=float(record["simple_regret"]),
            pulls=1000.0 * float(record["pulls_thousands"]),
        ),
    )


def select(text: str) -> tuple[PaperRow, ...]:
    """The rows named by text such as ``1-4,7``, in the paper's order.

    Examples
    --------
    >>> [row.number for row in select("7, 1-3")]
    [1, 2, 3, 7]
    >>> select("0-2")
    Traceback (most recent call last):
    ValueError: rows must be numbers and ranges within 1 to 36, such as 1-4,7, got '0-2'
    """
    rows = table1()
    chosen: set[int] = set()
    for part in text.split(","):
        first, dash, last = (piece.strip() for piece in part.partition("-"))
        ends = [first, last] if dash else [first, first]
        sound = all(end.isdecimal() and len(end) < 9 and 1 <= int(end) <= len(rows) for end in ends)
        sound = sound and int(ends[0]) <= int(ends[1])
        require(sound, "rows", f"be numbers and ranges within 1 to {len(rows)}, such as 1-4,7", text)
        chosen.update(range(int(ends[0]), int(ends[1]) + 1))
    return tuple(row for row in rows if row.number in chosen)
