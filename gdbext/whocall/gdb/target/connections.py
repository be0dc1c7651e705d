"""How gdb reaches an inferior's program: by a core, by itself, or through a server.

gdb tells it by `Inferior.connection` too. Situation: from the moment when that is asked gdb keeps
an object for the connection, and one that is not closed in order when gdb ends (a SIGTERM while a
program is being debugged) ends gdb 13 with an internal error of that object. Remedy: what gdb
prints is read instead, and no such object ever comes into being.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import gdb

from whocall.base.gdb_lines import Number
from whocall.gdb.host import console

_CELL = re.compile(r"\s(\d+) \(([\w-]+)(?: .*)?\)\s*\Z", re.DOTALL)


class Connection(NamedTuple):
    """Of two programs, or of one after the other, each has a number of its own."""

    number: int
    kind: str  # "core", "native", "remote", "extended-remote", ...


def listed(inferior: gdb.Inferior) -> tuple[list[str], int]:
    """The lines of gdb's table with this inferior, and where its last column begins; -1 when it is
    not there.
    """
    said = console.said("info inferiors", Number(inferior.num)).splitlines()
    return said, said[0].find("Executable") if len(said) > 1 else -1


def connection_of(inferior: gdb.Inferior) -> Connection | None:
    """The inferior's connection; None without one, and in gdbs before 10, which do not tell."""
    said, column = listed(inferior)
    match = _CELL.search(said[1][:column]) if column >= 0 else None
    return None if match is None else Connection(int(match.group(1)), match.group(2))


def on_removed(note: Callable[[int], None]) -> None:
    """From now on `note` is told the number of each connection that ends. The object that gdb makes
    to tell that is closed in order.
    """
    gdb.events.connection_removed.connect(lambda event: note(event.connection.num))
