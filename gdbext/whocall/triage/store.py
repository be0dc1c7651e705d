"""Where results are kept: an SQLite file that a run can be taken up from.

A result is committed when it comes, so that whatever happens later takes nothing from it. The
journal is a write-ahead log: a commit is then one write and no wait for the disk, and a process
that is killed loses nothing; where the file system has no such thing (network file systems), SQLite
keeps its rollback journal. When the disk is full, what was committed stays, and the run goes on
with the rest in memory.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whocall.core.errors import Error

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Json = dict[str, Any]

FORM = 1
_TABLES = """
CREATE TABLE IF NOT EXISTS cores (
  path TEXT PRIMARY KEY, size INTEGER, mtime INTEGER, engine TEXT, reason TEXT, signature TEXT,
  program TEXT, build_id TEXT, module TEXT, signal TEXT, kind TEXT, address TEXT, host TEXT,
  time REAL, cost INTEGER
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS signatures (signature TEXT PRIMARY KEY, crash TEXT) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS cores_by_signature ON cores (signature);
"""
_COLUMNS = (
    "path", "size", "mtime", "engine", "reason", "signature", "program", "build_id", "module",
    "signal", "kind", "address", "host", "time", "cost",
)  # fmt: skip
_OF_SIGNATURE = ("signal", "called", "near", "message", "kind", "frames", "through", "recursive")
COUNTED = ("build_id", "program", "module", "host", "day", "kind")
_DAY = "strftime('%Y-%m-%d', time, 'unixepoch')"


class Store:
    """Results by path. `path` "" is a store that goes away with the process."""

    def __init__(self, path: str, *, read_only: bool = False) -> None:
        """Raises Error where the file is no store of ours."""
        self.path = path
        self.unwritten = 0  # results that the disk had no room for
        self.trouble = ""
        self._overflow: Store | None = None
        if read_only and not Path(path).exists():
            raise Error(f"{path}: there is no such file; name a store that --store has made")
        if path and Path(path).exists() and not Path(path).is_file():
            raise Error(f"{path} is no file: a store of results lies in one; name another")
        try:
            self._database = sqlite3.connect(path or ":memory:", isolation_level=None, timeout=10)
            self._prepare()
        except sqlite3.Error as error:
            raise Error(
                f"{path}: cannot be used as a store of results: {error}; name another file"
            ) from error

    def _prepare(self) -> None:
        database = self._database
        form = database.execute("PRAGMA user_version").fetchone()[0]
        tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if form not in (0, FORM) or (form == 0 and tables):
            raise sqlite3.DatabaseError("it is a database of something else")
        if form == 0:
            database.execute("PRAGMA journal_mode = WAL")
            database.executescript(_TABLES)
            database.execute(f"PRAGMA user_version = {FORM}")
        database.execute("PRAGMA synchronous = NORMAL")

    def close(self) -> None:
        """The log becomes part of the file."""
        self._database.close()

    def done(self, path: str, size: int, mtime: int, engine: str, *, retry: bool = False) -> bool:
        """Whether the result of this very file is there."""
        row = self._database.execute(
            "SELECT reason FROM cores WHERE path = ? AND size = ? AND mtime = ? AND engine = ?",
            (_written(path), size, mtime, engine),
        ).fetchone()
        return row is not None and not (retry and row[0] is not None)

    def add(self, result: Json) -> None:
        """Keeps a result for good, as far as there is room."""
        if self._overflow is not None:
            self._overflow.add(result)
            self.unwritten += 1
            return
        try:
            self._add(result)
        except sqlite3.Error as error:
            self.trouble = str(error)
            if self._database.in_transaction:
                self._database.execute("ROLLBACK")
            self._overflow = Store("")
            self.add(result)

    def _add(self, result: Json) -> None:
        database = self._database
        database.execute("BEGIN")
        if result["reason"] is None:
            database.execute(
                "INSERT OR IGNORE INTO signatures VALUES (?, ?)",
                (
                    result["signature"],
                    json.dumps({key: result[key] for key in _OF_SIGNATURE}),
                ),
            )
        marks = ", ".join("?" * len(_COLUMNS))
        database.execute(
            f"INSERT OR REPLACE INTO cores VALUES ({marks})",
            [_written(result[column]) for column in _COLUMNS],
        )
        database.execute("COMMIT")

    def _stores(self) -> list[Store]:
        return [self] if self._overflow is None else [self, self._overflow]

    def crashes(self) -> dict[str, Json]:
        """What tells crashes apart, by signature: of those that a core has."""
        found: dict[str, Json] = {}
        for store in self._stores():
            for signature, crash in store._database.execute(
                "SELECT signature, crash FROM signatures"
                " WHERE signature IN (SELECT signature FROM cores)"
            ):
                found.setdefault(signature, json.loads(crash))
        return found

    def counts(self) -> Iterator[tuple[str, str, str | None, int, float, float]]:
        """(signature, what is counted, its value, number, first and last time)."""
        for store in self._stores():
            for column in COUNTED:
                value = _DAY if column == "day" else column
                for row in store._database.execute(
                    f"SELECT signature, {value}, count(*), min(time), max(time) FROM cores"
                    " WHERE reason IS NULL GROUP BY 1, 2"
                ):
                    yield (row[0], column, *row[1:])

    def rows(self) -> Iterator[Json]:
        """All results, but for what their signatures hold; by path."""
        for store in self._stores():
            for row in store._database.execute(
                f"SELECT {', '.join(_COLUMNS)} FROM cores ORDER BY path"
            ):
                yield _row(row)

    def failed(self) -> int:
        """How many cores could not be read."""
        return sum(
            store._database.execute(
                "SELECT count(*) FROM cores WHERE reason IS NOT NULL"
            ).fetchone()[0]
            for store in self._stores()
        )

    def total(self) -> int:
        """How many results there are."""
        return sum(
            store._database.execute("SELECT count(*) FROM cores").fetchone()[0]
            for store in self._stores()
        )

    def first_of(self, signatures: list[str]) -> Json | None:
        """The core that was seen first of those with these signatures."""
        best: Json | None = None
        for store in self._stores():
            for signature in signatures:
                row = store._database.execute(
                    f"SELECT {', '.join(_COLUMNS)} FROM cores WHERE signature = ?"
                    " ORDER BY time, path LIMIT 1",
                    (signature,),
                ).fetchone()
                if row is not None:
                    found = _row(row)
                    if best is None or (found["time"], found["path"]) < (
                        best["time"],
                        best["path"],
                    ):
                        best = found
        return best


def _written(value: Any) -> Any:
    """Names of files need not be UTF-8, and addresses may be too great for a database."""
    if isinstance(value, str) and not value.isascii():
        data = value.encode("utf-8", "surrogateescape")
        try:
            data.decode()
        except UnicodeDecodeError:
            return data
    if isinstance(value, int) and abs(value) >= 1 << 63:
        return f"{value:#x}"
    return value


def _row(values: Sequence[Any]) -> Json:
    """A row of the table of cores as it was written."""
    return {
        column: value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
        for column, value in zip(_COLUMNS, values)
    }
