"""Choices on recorded score tables, measured: docs/recorded_tables.md and the figures of the README.

    python -m studies.recorded_tables            # measure, and write the figures (some minutes)
    python -m studies.recorded_tables --write    # write them again from what was measured

Wrong means: a mean score more than epsilon below the best of the table.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from studies.recorded_tables.measuring import CASES, DUELS, duels, measure
from studies.recorded_tables.page import RESULTS, write


def main() -> None:
    """Measure unless told not to, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the figures again from what was measured")
    if not parser.parse_args().write:
        results: dict[str, Any] = {"cases": {}}
        for name, case in CASES.items():
            results["cases"][name] = measure(case)
            print(f"{case.words}: done", flush=True)
        results["duels"] = {name: duels(pairs) for name, pairs in DUELS.items()}
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    write(json.loads(RESULTS.read_text(encoding="utf-8")))


if __name__ == "__main__":
    main()
