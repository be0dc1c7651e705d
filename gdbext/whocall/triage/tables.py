"""The tables of a store, and whether a file holds these and nothing else.

A store may come from somebody else. A view that is called as a table is, and counts for ever, a
table whose values are of other kinds, text that is none: what whocall never writes is refused in
words before anything is made of it, and no statement runs without a bound.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from whocall.base.long_work import still_working

FORM = 1
TABLES = """
CREATE TABLE IF NOT EXISTS cores (
  path TEXT PRIMARY KEY, size INTEGER, mtime INTEGER, engine TEXT, reason TEXT, signature TEXT,
  program TEXT, build_id TEXT, module TEXT, signal TEXT, kind TEXT, address TEXT, host TEXT,
  time REAL, cost INTEGER
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS signatures (signature TEXT PRIMARY KEY, crash TEXT) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS cores_by_signature ON cores (signature);
"""
COLUMNS = (
    "path", "size", "mtime", "engine", "reason", "signature", "program", "build_id", "module",
    "signal", "kind", "address", "host", "time", "cost",
)  # fmt: skip
_LONGEST = 1 << 22  # bytes of a value
_STEP = 10_000  # instructions of SQLite's machine between two looks
_LEAST, _A_BYTE = 20_000_000, 200  # instructions that a statement may take, and more a byte
_FUNCTIONS = {"count", "min", "max", "strftime", "typeof", "length", "abs"}
_ALLOWED = {sqlite3.SQLITE_READ, sqlite3.SQLITE_SELECT, sqlite3.SQLITE_INSERT,
            sqlite3.SQLITE_DELETE, sqlite3.SQLITE_TRANSACTION}  # fmt: skip


class StrangeStoreError(sqlite3.DatabaseError):
    """The file holds what whocall never writes."""


class Guarded:
    """A connection to a store: statements have bounds and obey Ctrl-C, and do what ours do."""

    def __init__(self, path: str) -> None:
        self.inner = sqlite3.connect(path, isolation_level=None, timeout=10)
        self.inner.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        limit = getattr(self.inner, "setlimit", None)  # of Python 3.11
        if limit is not None:
            limit(0, _LONGEST)  # SQLITE_LIMIT_LENGTH
        self._path = path
        self._left = _LEAST
        self._interrupted: BaseException | None = None
        self.inner.set_progress_handler(self._look, _STEP)
        for setting in ("trusted_schema = OFF", "cell_size_check = ON"):
            self.inner.execute(f"PRAGMA {setting}")

    def _size(self) -> int:
        """Bytes that are to be read, at the most. What is in memory we wrote ourselves."""
        names = (self._path, f"{self._path}-wal")
        return 1 << 40 if self._path == ":memory:" else sum(map(_size_of, names))

    def _look(self) -> int:
        """Not 0 ends the statement."""
        try:
            self._left -= _STEP
            still_working()
        except BaseException as error:
            self._interrupted = error
        return int(self._left < 0 or self._interrupted is not None)

    def rows(self, statement: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """What it answers. Raises sqlite3.Error, and KeyboardInterrupt."""
        self._left = _LEAST + self._size() * _A_BYTE
        try:
            yield from self.inner.execute(statement, values)
        except sqlite3.Error as error:
            if self._interrupted is not None:
                raised, self._interrupted = self._interrupted, None
                raise raised from None
            if self._left < 0:
                raise StrangeStoreError("a question takes for ever: it is no store") from error
            raise

    def run(self, statement: str, values: Sequence[Any] = ()) -> None:
        """For statements that answer nothing."""
        for _ in self.rows(statement, values):
            pass

    def only_ours(self) -> None:
        """From now on only what our own statements do is done."""
        self.inner.set_authorizer(_judged)


def _size_of(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:
        return 0


def _judged(action: int, first: str | None, second: str | None, *more: str | None) -> int:
    if action == sqlite3.SQLITE_FUNCTION:
        return sqlite3.SQLITE_OK if second in _FUNCTIONS else sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in _ALLOWED else sqlite3.SQLITE_DENY


def _schema(database: sqlite3.Connection) -> list[tuple[Any, ...]]:
    return sorted(
        database.execute("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master")
    )


def require_tables(database: Guarded) -> None:
    """Raises StrangeStoreError where the file has others than ours."""
    with sqlite3.connect(":memory:") as ours:
        ours.executescript(TABLES)
        wanted = _schema(ours)
    ours.close()
    found = sorted(
        database.rows("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master")
    )
    if found != wanted:
        raise StrangeStoreError("it has tables that whocall does not make")
    for (said,) in database.rows("PRAGMA integrity_check(1)"):
        if said != "ok":
            raise StrangeStoreError(f"it is damaged: {' '.join(str(said).split())}")


def _kinds(names: str, *kinds: str) -> list[str]:
    allowed = ", ".join(f"'{kind}'" for kind in kinds)
    return [f"typeof({name}) IN ({allowed})" for name in names.split()]


def require_values(database: Guarded, classes: Sequence[str]) -> None:
    """Raises StrangeStoreError where a value is of no kind that we write; `classes` are those of
    crashes.
    """
    name = ("text", "blob", "null")
    known = ", ".join(f"'{each}'" for each in classes)
    wanted = [
        *_kinds("path", "text", "blob"),
        *_kinds("engine", "text"),
        *_kinds("size mtime", "integer", "text"),
        *_kinds("reason program build_id module host", *name),
        *_kinds("signature signal kind", "text", "null"),
        *_kinds("address", "text", "integer", "null"),
        *_kinds("time", "real", "integer", "null"),
        *_kinds("cost", "integer", "null"),
        "(time IS NULL OR abs(time) < 1e15)",
        "(signature IS NULL OR (length(signature) = 16 AND NOT signature GLOB '*[^0-9a-f]*'))",
        f"(kind IS NULL OR kind IN ({known}))",
        "(reason IS NOT NULL OR (kind IS NOT NULL AND signature IS NOT NULL AND time IS NOT NULL"
        " AND signature IN (SELECT signature FROM signatures)))",
    ]
    # GLOB is a function, and the planner's like(): asked before only_ours().
    for row in database.rows(f"SELECT path FROM cores WHERE NOT ({' AND '.join(wanted)}) LIMIT 1"):
        raise StrangeStoreError(f"the row of {row[0]!r} is none that whocall writes")
