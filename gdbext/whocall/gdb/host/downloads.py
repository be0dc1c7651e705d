"""Tells a person at a terminal what debuginfod sends; programs that read our output are spared."""

from __future__ import annotations

import os

import gdb

from whocall.core.downloads import line
from whocall.gdb.host.invocation import is_machine_interface

_silent = False
_said: set[str] = set()


def begin_command() -> None:
    """Each command tells anew."""
    global _silent
    _silent = False
    _said.clear()


def silence() -> None:
    """For the rest of a command that prints JSON."""
    global _silent
    _silent = True


def is_watched() -> bool:
    """Whether there is a person to tell."""
    return not _silent and os.isatty(2) and not is_machine_interface()


def show(what: str, done: int, size: int) -> None:
    """Announces each file once; the native module calls this while it fetches."""
    if what in _said or not is_watched():
        return
    _said.add(what)
    gdb.write(line(what, size) + "\n", gdb.STDERR)
    gdb.flush(gdb.STDERR)
