"""A sign of life while a long pull blocks the thread that writes: the snapshot on disk is still the latest."""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from contextlib import closing
from types import TracebackType

from topalpha.storage import schema
from topalpha.storage.files import connect
from topalpha.storage.record import Record

LOGGER = logging.getLogger("topalpha")

#: Seconds after which a lost file is reported while a pull still runs.
LONG = 2.0


class Pulse:
    """Confirms the last snapshot of a search every ``period`` seconds, through its own connection.

    While a pull runs in the writer's thread nothing is told and the figures of the arms cannot change. Readers must be
    able to tell such a search from a dead one.

    Examples
    --------
    >>> import tempfile
    >>> from topalpha.storage import Storage, read
    >>> with tempfile.TemporaryDirectory() as folder, Storage(folder + "/searches.db") as storage:
    ...     record = storage.create("first", {})
    ...     record.snapshot([], {"pulls": 0})
    ...     before = read(storage.path).updated
    ...     with Pulse(record, 0.01):
    ...         time.sleep(0.2)
    ...     read(storage.path).updated > before
    True
    """

    def __init__(self, record: Record, period: float) -> None:
        self._record = record
        self._lost = 0.0
        self._said = False
        self._period = period
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="topalpha-pulse", daemon=True)

    def __enter__(self) -> Pulse:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(self._period):
            if (found := self._record.missing()) is not None:
                # Between two pulls the writer itself notices the loss and saves the search.
                self._lost = self._lost or time.monotonic()
                if not self._said and time.monotonic() - self._lost > LONG:
                    self._said = True
                    LOGGER.warning("topalpha: the record of the search is lost: %s; it ends after this pull", found)
                continue
            # A new connection each time: one that failed is of no use. The writer reports lasting trouble.
            try:
                path, search = self._record.place
                with closing(connect(path, "mode=rw")) as connection:
                    now = time.time()
                    connection.execute(schema.STANDS, (now, search, now - self._period))
            except sqlite3.Error as error:
                LOGGER.debug("topalpha: no sign of life could be written: %s", error)
