"""The page of algorithms says what the benchmarks measured."""

import json

from benchmarks import algorithms_page


def test_the_page_of_algorithms_is_what_was_measured():
    results = json.loads(algorithms_page.RESULTS.read_text(encoding="utf-8"))
    text = algorithms_page.PAGE.read_text(encoding="utf-8")
    begin, end = algorithms_page.BEGIN, algorithms_page.END
    assert f"{begin}\n{algorithms_page.table(results)}\n{end}" in text, "run `python -m benchmarks.algorithms_page`"
