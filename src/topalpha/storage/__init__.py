"""The record of a search on disk: one SQLite file that survives kill -9 and that others may read at any time.

A search is two logs that only grow. The asks: pull ``order`` of arm ``arm``, planned when ``after`` rewards had been
told. The tells: the reward of pull ``order``, in order of arrival. Decisions are replayed from the two.

Examples
--------
>>> import tempfile
>>> from pathlib import Path
>>> with tempfile.TemporaryDirectory() as folder:
...     path = Path(folder) / "searches.db"
...     with Storage(path) as storage:
...         record = storage.create("first", {"alpha": 0.05})
...         record.add_arm(0, {"rate": 0.1})
...         record.ask(0, arm=0, after=0)
...         record.tell(0, 0.75)
...     recording = read(path)
>>> recording.asks, recording.tells, recording.candidates()
([(0, 0)], [(0, 0.75)], [{'rate': 0.1}])
"""

from topalpha.storage.commands import ACTIONS, CONTINUE, PAUSE, STOP, control
from topalpha.storage.errors import RecordLost, StorageError
from topalpha.storage.overview import Overview, candidates, listing, stamp
from topalpha.storage.record import Record
from topalpha.storage.recording import Failure, Recording, Row, fingerprint, holds, names, read
from topalpha.storage.store import Storage, post

__all__ = [
    "ACTIONS",
    "CONTINUE",
    "PAUSE",
    "STOP",
    "Failure",
    "Overview",
    "Record",
    "RecordLost",
    "Recording",
    "Row",
    "Storage",
    "StorageError",
    "candidates",
    "control",
    "encoding",
    "files",
    "fingerprint",
    "holds",
    "listing",
    "names",
    "outputs",
    "parameters",
    "plain_text",
    "post",
    "read",
    "stamp",
    "store",
    "writer",
]
