"""What is known of functions, by the build id of their file: in this process and on disk.

The second core of a program costs its own stacks alone: the code of its functions was read for the
first one, by this process or by an earlier one. Nothing hangs on the file: where it cannot be read
or written, or is not ours, code is read anew.
"""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from whocall.base.cache_folder import cache_folder, is_ours
from whocall.base.errors import Error
from whocall.base.version import __version__
from whocall.triage.code import NOTHING, Code, read_code

if TYPE_CHECKING:
    from whocall.base.process_image import ProcessImage

FORM = f"{__version__}/4"  # counts up whenever what is noted changes
_MOST = 20000  # functions that one process remembers


class Facts:
    """Codes of functions by build id and link address."""

    def __init__(self, folder: Path | None) -> None:
        self._known: dict[tuple[str, int], Code] = {}
        self._database = _opened(folder) if folder is not None else None
        self.read = 0  # functions whose code was read because nobody knew it

    def code(
        self, image: ProcessImage, build_id: str | None, start: int, size: int, bias: int
    ) -> Code:
        """Of the function at the runtime address `start`."""
        if not build_id:
            return self._read(image, start, size, bias)
        key = (build_id, start - bias)
        code = self._known.get(key) or self._from_disk(key)
        if code is None:
            code = self._read(image, start, size, bias)
            self._to_disk(key, code)
        if len(self._known) >= _MOST:
            self._known.clear()
        self._known[key] = code
        return code

    def _read(self, image: ProcessImage, start: int, size: int, bias: int) -> Code:
        self.read += 1
        return read_code(image, start, size, bias)

    def _from_disk(self, key: tuple[str, int]) -> Code | None:
        if self._database is None:
            return None
        try:
            row = self._database.execute(
                "SELECT code FROM functions WHERE build_id = ? AND start = ?", key
            ).fetchone()
            if row is None:
                return None
            shape, anchors, places, writes = json.loads(row[0])
            return Code(shape, [(place, text) for place, text in anchors], places, writes)
        except (sqlite3.Error, ValueError, TypeError):
            return None

    def _to_disk(self, key: tuple[str, int], code: Code) -> None:
        if self._database is None or code == NOTHING:
            return
        try:
            with self._database:
                self._database.execute(
                    "INSERT OR REPLACE INTO functions VALUES (?, ?, ?)", (*key, json.dumps(code))
                )
        except sqlite3.Error:  # full, locked for long, damaged: this process remembers
            self._database = None


def own_folder() -> Path | None:
    """The user's cache; None where there is none."""
    try:
        return Path(cache_folder())
    except Error:
        return None


def _opened(folder: Path) -> sqlite3.Connection | None:
    path = folder / "functions.sqlite"
    try:
        if path.is_symlink() or (path.exists() and not is_ours(path.stat())):
            return None
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        database = sqlite3.connect(path, timeout=2, check_same_thread=False)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = OFF")  # a cache: what is lost is read anew
        with database:
            if database.execute("PRAGMA user_version").fetchone()[0] != _number():
                database.execute("DROP TABLE IF EXISTS functions")
                database.execute(f"PRAGMA user_version = {_number()}")
            database.execute(
                "CREATE TABLE IF NOT EXISTS functions"
                " (build_id TEXT, start INTEGER, code TEXT, PRIMARY KEY (build_id, start))"
                " WITHOUT ROWID"
            )
    except (sqlite3.Error, OSError):
        return None
    return database


def _number() -> int:
    import zlib

    return zlib.crc32(FORM.encode()) & 0x7FFFFFFF
