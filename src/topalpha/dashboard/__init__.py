"""A page that shows searches while they run elsewhere, from the file that they write.

It only reads that file, and never holds up the search: if either side is killed, the other goes on.

Examples
--------
>>> from topalpha.dashboard.access import Access
>>> from topalpha.dashboard.watching import Hub
>>> [route.path for route in application(Hub("searches.db"), Access("correct-horse", "127.0.0.1", 8765)).routes][:2]
['/', '/static/{name:path}']
"""

from topalpha.dashboard.routes import application
from topalpha.dashboard.serving import serve

__all__ = [
    "access",
    "application",
    "serve",
    "serving",
]
