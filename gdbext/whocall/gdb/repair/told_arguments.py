"""What functions on the stacks of a core were handed, as gdb's own frames show it.

The values belong to one process at one moment. So they stand in a symbol file that is none of a
module's, and gdb is made to forget it together with the core.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gdb

from whocall.base.gdb_lines import named
from whocall.gdb.host import console, frame_cache
from whocall.gdb.repair.attached import process_now
from whocall.gdb.repair.editor_arguments import list_arguments
from whocall.gdb.target.connections import on_removed


@dataclass(frozen=True)
class _Told:
    progspace: gdb.Progspace
    path: str
    core: int | None  # gdb's number of the connection to it
    of_all: bool  # threads


_told: list[_Told] = []
_gone: set[int] = set()  # gdb's numbers of connections, which it gives once
_watching = False


def tell(path: Path | None, of_all: bool) -> None:
    """From now on gdb's frames of the selected inferior show what the file says, of all threads or
    of one, and nothing that they were told before: what is told of all stays where one comes up.
    Raises Error for a file that gdb cannot be given.
    """
    here = gdb.current_progspace()
    if not of_all and any(each.progspace == here and each.of_all for each in _told):
        return
    forget()
    if path is None:
        return
    file = named(str(path))
    _watch()
    # Before gdb has it: an interrupt must not leave it with values that nobody takes back.
    _told.append(_Told(here, str(path), process_now()[1], of_all))
    console.said("add-symbol-file -o", 0, file)
    list_arguments()
    frame_cache.invalidate()


def forget() -> None:
    """In the current program space."""
    here = gdb.current_progspace()
    for each in [each for each in _told if each.progspace == here]:
        with contextlib.suppress(gdb.error):  # gdb has dropped it with all others
            console.said("remove-symbol-file", named(each.path))
            frame_cache.invalidate()
        _told.remove(each)


def _watch() -> None:
    global _watching
    if not _watching:
        _watching = True
        on_removed(_removed)
        gdb.events.before_prompt.connect(_forget_what_is_gone)


def _removed(connection: int) -> None:
    """A core was closed, whether by another one, by a program that runs in its place, or alone."""
    _gone.add(connection)
    with contextlib.suppress(KeyboardInterrupt):  # then before the next prompt
        _forget_what_is_gone()


def _forget_what_is_gone(event: Any = None) -> None:
    """Where another inferior is selected than the one that had the core, gdb removes no file of
    that; nor does it show a frame of it before it is selected.
    """
    _told[:] = [each for each in _told if each.progspace.is_valid()]
    here = gdb.current_progspace()
    if any(each.progspace == here and each.core in _gone for each in _told):
        forget()
