"""The reproduction study: ``make study``. Resumable; what is on disk is not computed again."""

from __future__ import annotations

import argparse

from studies import DOCS
from studies.reproduction import figures, report
from studies.reproduction.delta import delta_cells
from studies.reproduction.fit import fit_cells
from studies.reproduction.table import table_cells
from studies.reproduction.tuning import tuning_cells
from studies.resumable import complete
from topalpha.research.table1 import table1

FOLDER = DOCS / "reproduction"


def main() -> None:
    """Compute what is missing, cheapest first, then write the page and its pictures."""
    argparse.ArgumentParser(description="The reproduction study; what is on disk is not computed again.").parse_args()
    cells = [*fit_cells(), *delta_cells(), *tuning_cells(), *table_cells()]
    results = complete(cells, FOLDER / "cells")
    figures.pulls_against_delta(results, FOLDER / "delta.png")
    ratios = {variant: report.ratios(results, variant, table1()) for variant in report.NEW}
    figures.table_ratios(ratios, table1(), FOLDER / "ratios.png")
    (DOCS / "reproduction.md").write_text(report.page(results))
    print(f"wrote {DOCS.name}/reproduction.md")


if __name__ == "__main__":
    main()
