"""Tells a person at a terminal what a command waits for; programs are spared."""

from __future__ import annotations

import os

from whocall.base.downloads import line
from whocall.base.long_work import Lines, tell_long_work
from whocall.gdb.host.invocation import is_machine_interface
from whocall.gdb.host.output import say

_silent = False
_said: set[str] = set()


def begin_command() -> None:
    """Each command tells anew."""
    global _silent
    _silent = False
    _said.clear()
    tell_long_work(Lines(show_work))


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
    say(line(what, size))


def show_work(line: str) -> None:
    """As gdb has a line for each piece of its own work."""
    if is_watched():
        say(line)
