"""The tables, and every statement that is run more than once."""

from __future__ import annotations

#: ``PRAGMA application_id`` of our files: "TopA" in ASCII.
APPLICATION = 0x546F7041
#: ``PRAGMA user_version`` of the tables below.
VERSION = 1
#: The first version of SQLite with STRICT tables.
OLDEST_SQLITE = (3, 37, 0)

# Keys of the two logs start with the search and then count from 0, so rows are appended at the end of a B-tree. Tells
# are keyed by the pull: a pull cannot be told twice, and no second index is needed.
TABLES = f"""
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {VERSION};
CREATE TABLE searches (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, created TEXT NOT NULL, config TEXT NOT NULL,
    pickled INTEGER NOT NULL, status TEXT NOT NULL, certificate TEXT) STRICT;
CREATE TABLE arms (
    search INTEGER NOT NULL, arm INTEGER NOT NULL, candidate ANY NOT NULL,
    PRIMARY KEY (search, arm)) STRICT, WITHOUT ROWID;
CREATE TABLE asks (
    search INTEGER NOT NULL, "order" INTEGER NOT NULL, arm INTEGER NOT NULL, after INTEGER NOT NULL,
    PRIMARY KEY (search, "order")) STRICT, WITHOUT ROWID;
CREATE TABLE waits (
    search INTEGER NOT NULL, sequence INTEGER NOT NULL, asked INTEGER NOT NULL, after INTEGER NOT NULL,
    PRIMARY KEY (search, sequence)) STRICT, WITHOUT ROWID;
CREATE TABLE tells (
    search INTEGER NOT NULL, sequence INTEGER NOT NULL, "order" INTEGER NOT NULL, reward REAL NOT NULL,
    PRIMARY KEY (search, "order")) STRICT, WITHOUT ROWID;
CREATE TABLE failures (
    search INTEGER NOT NULL, sequence INTEGER NOT NULL, "order" INTEGER NOT NULL, after INTEGER NOT NULL,
    reason TEXT NOT NULL, action TEXT NOT NULL,
    PRIMARY KEY (search, sequence)) STRICT, WITHOUT ROWID;
CREATE TABLE snapshots (
    search INTEGER NOT NULL, arm INTEGER NOT NULL, pulls INTEGER NOT NULL, mean REAL, lower REAL NOT NULL,
    upper REAL NOT NULL, pending INTEGER NOT NULL,
    PRIMARY KEY (search, arm)) STRICT, WITHOUT ROWID;
CREATE TABLE progress (search INTEGER PRIMARY KEY, at REAL NOT NULL, data TEXT NOT NULL) STRICT;
CREATE TABLE messages (
    search INTEGER NOT NULL, id INTEGER NOT NULL, at REAL NOT NULL, text TEXT NOT NULL, handled INTEGER NOT NULL,
    PRIMARY KEY (search, id)) STRICT, WITHOUT ROWID;
"""

SEARCH = "SELECT id, name, created, config, pickled, status, certificate FROM searches WHERE name = ?"
NAMES = "SELECT name FROM searches ORDER BY id"
CREATE = "INSERT INTO searches (name, created, config, pickled, status) VALUES (?, ?, ?, ?, ?)"
FINISH = "UPDATE searches SET status = ?, certificate = ? WHERE id = ?"

ADD_ARM = "INSERT INTO arms (search, arm, candidate) VALUES (?, ?, ?)"
ASK = 'INSERT INTO asks (search, "order", arm, after) VALUES (?, ?, ?, ?)'
WAIT = "INSERT INTO waits (search, sequence, asked, after) VALUES (?, ?, ?, ?)"
TELL = 'INSERT INTO tells (search, "order", sequence, reward) VALUES (?, ?, ?, ?)'
FAIL = 'INSERT INTO failures (search, sequence, "order", after, reason, action) VALUES (?, ?, ?, ?, ?, ?)'
SNAPSHOT = "INSERT OR REPLACE INTO snapshots (search, arm, pulls, mean, lower, upper, pending) VALUES (?,?,?,?,?,?,?)"
PROGRESS = "INSERT OR REPLACE INTO progress (search, at, data) VALUES (?, ?, ?)"
STANDS = "UPDATE progress SET at = ? WHERE search = ? AND at <= ?"
POST = (
    "INSERT INTO messages (search, id, at, text, handled) "
    "SELECT :search, 1 + coalesce(max(id), -1), :at, :text, 0 FROM messages WHERE search = :search"
)

#: How far each search is, to compare two views of the file. Each value is found at an end of a B-tree.
FAR = (
    "SELECT id, name, status, (SELECT max(arm) FROM arms WHERE search = id), "
    '(SELECT max("order") FROM asks WHERE search = id), (SELECT max("order") FROM tells WHERE search = id) '
    "FROM searches ORDER BY id"
)
#: As CREATE, with a given number and certificate.
RESTORE = "INSERT INTO searches (id, name, created, config, pickled, status, certificate) VALUES (?, ?, ?, ?, ?, ?, ?)"

OVERVIEW = (
    "SELECT name, status, created, config, data, at FROM searches LEFT JOIN progress ON progress.search = searches.id "
    "ORDER BY id"
)
#: Bytes of the longest pickle that is looked into; frequent readers leave others in the file.
LONGEST_PICKLE = 65536
SOME_ARMS = (
    f"SELECT arm, iif(typeof(candidate) = 'text' OR length(candidate) <= {LONGEST_PICKLE}, candidate, NULL) FROM arms "
    "WHERE search = ? AND arm "
)
RANGE_OF_ARMS = SOME_ARMS + ">= ? AND arm < ? ORDER BY arm"
ONE_ARM = SOME_ARMS + "= ?"
ARMS = "SELECT candidate FROM arms WHERE search = ? ORDER BY arm"
ASKS = 'SELECT arm, after FROM asks WHERE search = ? ORDER BY "order"'
WAITS = "SELECT asked, after FROM waits WHERE search = ? ORDER BY sequence"
TELLS = 'SELECT "order", reward FROM tells WHERE search = ? ORDER BY sequence'
TOLD = 'SELECT "order" FROM tells WHERE search = ?'
FAILURES = 'SELECT "order", after, reason, action FROM failures WHERE search = ? ORDER BY sequence'
SNAPSHOTS = "SELECT arm, pulls, mean, lower, upper, pending FROM snapshots WHERE search = ? ORDER BY arm"
LATEST = "SELECT at, data FROM progress WHERE search = ?"
MESSAGES = "SELECT id, text FROM messages WHERE search = ? AND handled = 0 ORDER BY id"
HANDLED = "UPDATE messages SET handled = 1 WHERE search = ? AND id = ?"

#: Rows of a log, and its last number plus one: they differ if a row is missing.
COUNTS = tuple(
    f"SELECT count(*), coalesce(max({number}), -1) + 1 FROM {table} WHERE search = ?"
    for table, number in (
        ("arms", "arm"),
        ("asks", '"order"'),
        ("waits", "sequence"),
        ("tells", "sequence"),
        ("failures", "sequence"),
    )
)

#: By table, whether it has a row of an unlisted search; only gaps are looked up, as there may be millions of rows.
STRAYS = {
    table: (
        "WITH gaps (low, high) AS ("
        "SELECT id, coalesce(lead(id) OVER (ORDER BY id), 9223372036854775807) FROM searches "
        "UNION ALL SELECT -9223372036854775808, coalesce((SELECT min(id) FROM searches), 9223372036854775807)) "
        f"SELECT EXISTS (SELECT 1 FROM gaps WHERE EXISTS (SELECT 1 FROM {table} WHERE search > low AND search < high))"
    )
    for table in ("arms", "asks", "waits", "tells", "failures", "snapshots", "progress", "messages")
}
LAST_TOLD = 'SELECT coalesce(max("order"), -1) FROM tells WHERE search = ?'


#: Tables, indexes, views and triggers of a file.
CONTENTS = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"
