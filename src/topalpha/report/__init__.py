"""A report of a search: one HTML file that needs no network and no script, for readers and for print.

Everything in it is computed again from the recorded pulls; a certificate that disagrees with them is refused.

>>> import tempfile
>>> from topalpha import search
>>> from topalpha.report import html
>>> with tempfile.TemporaryDirectory() as folder:
...     found = search(lambda rng: rng.random(), lambda p, rng: float(rng.random() < p), alpha=0.2, epsilon=0.3,
...                    storage=folder + "/searches.db", progress="none")
...     text = html(folder + "/searches.db")
>>> found.statement in text, "<script" in text
(True, False)
"""

from topalpha.report.page import html, write

__all__ = ["html", "write"]
