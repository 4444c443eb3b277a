"""The page: contents, sentences and pictures rendered with the template, and written to a file."""

from __future__ import annotations

import math
import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from topalpha import __version__
from topalpha.report import sentences
from topalpha.report.contents import as_text, gather
from topalpha.storage.outputs import draft_of
from topalpha.storage.plain_text import plain
from topalpha.validate import installing, require, whole

if TYPE_CHECKING:
    from jinja2 import Environment

#: How many arms the table lists by default.
ARMS = 200


def html(path: str | os.PathLike[str], name: str | None = None, *, arms: int = ARMS) -> str:
    """The report of a search as the text of an HTML page; the same file gives the same text.

    Parameters
    ----------
    path, name
        The file, and the name of the search if there are several. The search may be running.
    arms
        How many arms the table lists.

    Examples
    --------
    >>> html("/nowhere.db")
    Traceback (most recent call last):
    topalpha.storage.errors.StorageError: path must exist, got '/nowhere.db'
    """
    contents = gather(path, name, whole("arms", arms, 0))
    environment = _environment()
    from topalpha.report.pictures import pictures

    return environment.get_template("report.html").render(
        contents=contents,
        recording=contents.recording,
        task=contents.session.task,
        certificate=contents.certificate,
        now=contents.now,
        pictures=pictures(contents),
        words=sentences,
        version=__version__,
    )


def write(
    path: str | os.PathLike[str], output: str | os.PathLike[str], name: str | None = None, *, arms: int = ARMS
) -> None:
    """Write the report of a search to a file, in one step; an existing file is replaced.

    Examples
    --------
    >>> write("searches.db", "searches.db")
    Traceback (most recent call last):
    ValueError: output must be a separate file from 'searches.db', got 'searches.db'
    """
    named = not os.fspath(output).lower().endswith((".pdf", ".png", ".svg"))
    require(named, "output", "name an HTML page, which a browser saves as PDF", os.fspath(output))
    with draft_of(output, path) as draft:
        draft.write_text(html(path, name, arms=arms), encoding="utf-8")


@lru_cache(maxsize=1)
def _environment() -> Environment:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise ImportError(f"a report must be made with jinja2: {installing('report')}") from error
    # Everything is escaped unless it is marked as safe; only the SVG is.
    environment = Environment(
        loader=PackageLoader("topalpha.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(number=number, count=count, text=as_text, share=sentences.share, plain=plain)
    return environment


def number(value: float | None) -> str:
    """The number with four significant digits.

    Examples
    --------
    >>> number(0.123456), number(None), number(-math.inf), number(math.nan)
    ('0.1235', '', '−∞', '')
    """
    if value is None or math.isnan(value):
        return ""
    if math.isinf(value):
        return "∞" if value > 0.0 else "−∞"
    return f"{value:.4g}"


def count(value: Any) -> str:
    """A whole number with thousands separators.

    Examples
    --------
    >>> count(1234567)
    '1,234,567'
    """
    return f"{value:,}"
