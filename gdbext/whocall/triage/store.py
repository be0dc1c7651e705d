"""Where results are kept: an SQLite file that a run can be taken up from.

A result is committed when it comes, so that whatever happens later takes nothing from it. The
journal is a write-ahead log: a commit is then one write and no wait for the disk, and a process
that is killed loses nothing; where the file system has no such thing (network file systems), SQLite
keeps its rollback journal. When the disk is full, what was committed stays, and the run goes on
with the rest in memory.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whocall.base.errors import Error
from whocall.triage.said import alike
from whocall.triage.severity import CLASSES
from whocall.triage.tables import (
    COLUMNS,
    FORM,
    TABLES,
    Guarded,
    StrangeStoreError,
    require_tables,
    require_values,
)
from whocall.triage.told_crash import OF_SIGNATURE, told_crash

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Json = dict[str, Any]

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
            if path:
                _make_private(path)
            self._database = Guarded(path or ":memory:")
            self._prepare()
        # What sqlite3 complains of may be a name in the file, and that be no UTF-8.
        except (sqlite3.Error, UnicodeError) as error:
            raise _unusable(path, error) from error

    def _prepare(self) -> None:
        database = self._database
        ((form,),) = database.rows("PRAGMA user_version")
        ((tables,),) = database.rows("SELECT count(*) FROM sqlite_master")
        if form not in (0, FORM) or (form == 0 and tables):
            raise StrangeStoreError("it is a database of something else")
        if form == 0:
            database.run("PRAGMA journal_mode = WAL")
            # All or nothing: who is killed in between leaves no database of something else.
            database.inner.executescript(
                f"BEGIN IMMEDIATE; {TABLES} PRAGMA user_version = {FORM}; COMMIT;"
            )
        database.run("PRAGMA synchronous = NORMAL")
        require_tables(database)
        require_values(database, list(CLASSES))
        database.only_ours()

    def _rows(self, statement: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """What a statement answers. Raises Error."""
        try:
            yield from self._database.rows(statement, values)
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from error

    def close(self) -> None:
        """The log becomes part of the file."""
        self._database.inner.close()

    def done(self, path: str, size: int, mtime: int, engine: str, *, retry: bool = False) -> bool:
        """Whether the result of this very file is there."""
        found = self._rows(
            "SELECT reason FROM cores WHERE path = ? AND size = ? AND mtime = ? AND engine = ?",
            [_written(value) for value in (path, size, mtime, engine)],
        )
        return any(not retry or reason is None for (reason,) in found)

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
            if self._database.inner.in_transaction:
                self._database.inner.execute("ROLLBACK")
            self._overflow = Store("")
            self.add(result)

    def _add(self, result: Json) -> None:
        database = self._database
        database.run("BEGIN")
        if result["reason"] is None:
            self._add_signature(result)
        marks = ", ".join("?" * len(COLUMNS))
        database.run(
            f"INSERT OR REPLACE INTO cores VALUES ({marks})",
            [_written(result[column]) for column in COLUMNS],
        )
        database.run("COMMIT")

    def _add_signature(self, result: Json) -> None:
        """What tells the crash apart; what it said is kept as far as all others said it, too."""
        signature, crash = result["signature"], {key: result[key] for key in OF_SIGNATURE}
        rows = self._database.rows
        old = [
            text
            for (text,) in rows("SELECT crash FROM signatures WHERE signature = ?", (signature,))
        ]
        if old:
            try:
                crash = told_crash(old[0])
            except ValueError:
                return  # whoever asks for the crashes is told
            others = "SELECT 1 FROM cores WHERE signature = ? AND path <> ? LIMIT 1"
            has_others = list(rows(others, (signature, _written(result["path"]))))
            said = alike(crash["said"], result["said"]) if has_others else result["said"]
            if said == crash["said"]:
                return
            crash["said"] = said
        told = (signature, json.dumps(crash))
        self._database.run("INSERT OR REPLACE INTO signatures VALUES (?, ?)", told)

    def _stores(self) -> list[Store]:
        return [self] if self._overflow is None else [self, self._overflow]

    def crashes(self) -> dict[str, Json]:
        """What tells crashes apart, by signature: of those that a core has."""
        found: dict[str, Json] = {}
        for store in self._stores():
            for signature, crash in store._rows(
                "SELECT signature, crash FROM signatures"
                " WHERE signature IN (SELECT signature FROM cores)"
            ):
                try:
                    told = told_crash(crash)
                except ValueError as error:
                    raise _unusable(store.path, error) from error
                known = found.setdefault(signature, told)
                known["said"] = alike(known["said"], told["said"])
        return found

    def counts(self) -> Iterator[tuple[str, str, str | None, int, float, float]]:
        """(signature, what is counted, its value, number, first and last time)."""
        for store in self._stores():
            for column in COUNTED:
                value = _DAY if column == "day" else column
                for row in store._rows(
                    f"SELECT signature, {value}, count(*), min(time), max(time) FROM cores"
                    " WHERE reason IS NULL GROUP BY 1, 2"
                ):
                    yield (row[0], column, _read(row[1]), *row[2:])

    def rows(self) -> Iterator[Json]:
        """All results, but for what their signatures hold; by path."""
        for store in self._stores():
            for row in store._rows(f"SELECT {', '.join(COLUMNS)} FROM cores ORDER BY path"):
                yield _row(row)

    def failed(self) -> int:
        """How many cores could not be read."""
        return self._number("SELECT count(*) FROM cores WHERE reason IS NOT NULL")

    def total(self) -> int:
        """How many results there are."""
        return self._number("SELECT count(*) FROM cores")

    def _number(self, statement: str) -> int:
        return sum(number for store in self._stores() for (number,) in store._rows(statement))

    def first_of(self, signatures: list[str]) -> Json | None:
        """The core that was seen first of those with these signatures."""
        best: Json | None = None
        for store in self._stores():
            for signature in signatures:
                for row in store._rows(
                    f"SELECT {', '.join(COLUMNS)} FROM cores WHERE signature = ?"
                    " ORDER BY time, path LIMIT 1",
                    (signature,),
                ):
                    found = _row(row)
                    if best is None or _first(found) < _first(best):
                        best = found
        return best


def _first(row: Json) -> tuple[float, str]:
    return row["time"], row["path"]


def _make_private(path: str) -> None:
    """What is found on other people's stacks is for the user alone; an old file stays as it is."""
    with suppress(OSError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))


def _unusable(path: str, error: Exception) -> Error:
    return Error(
        f"{path}: cannot be used as a store of results: {error}; name another file", path=path
    )


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


def _read(value: Any) -> Any:
    """A value as it was written."""
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value


def _row(values: Sequence[Any]) -> Json:
    """A row of the table of cores as it was written."""
    return {column: _read(value) for column, value in zip(COLUMNS, values)}
