"""`set whocall auto-repair on`: object files are repaired when gdb loads them, stacks whenever the
program stops.

Where gdb asks extensions for missing debug info (from 15 on) it is told there; elsewhere right
after it has loaded a file.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import gdb

from whocall.base import loader
from whocall.base.errors import Error, NativeMissingError
from whocall.gdb.host import frame_cache
from whocall.gdb.host.subprocess_backend import announce
from whocall.gdb.repair import attached, events
from whocall.gdb.repair.attach import note_delivery
from whocall.gdb.repair.planning import file_deliveries
from whocall.gdb.target.executable import executable

# Larger files are left until a frame lies in them: looking through all code takes its time, bytes.
LARGEST_AT_LOAD = 32 << 20

_INSTEAD = "repairs the program's file and core files instead, not the stacks of running programs"

_on = False


def _is_wanted(objfile: gdb.Objfile) -> bool:
    """A file on disk of a size that nobody has to wait for, and none of ours."""
    if objfile.owner is not None or not objfile.filename:
        return False
    try:
        path = Path(objfile.filename)
        if path.stat().st_size > LARGEST_AT_LOAD or attached.is_ours(path):
            return False
    except (OSError, Error):
        return False  # not on disk: the vDSO, a file of the target
    # Another Python would have to be started for each of a hundred libraries.
    if _can_work_here():
        return True
    program = executable(gdb.selected_inferior())
    return bool(program) and os.path.realpath(program) == os.path.realpath(objfile.filename)


def _can_work_here() -> bool:
    try:
        loader.load()
    except NativeMissingError:
        return False
    return True


def _made_for(objfile: gdb.Objfile) -> Path | None:
    """The symbol file for an object file, recorded as given. Never raises."""
    if not _on or not _is_wanted(objfile):
        return None
    try:
        deliveries = file_deliveries(str(objfile.filename))
    except (Error, gdb.error):
        return None  # "whocall repair" tells why
    for delivery in deliveries:
        note_delivery(delivery, objfile)
        return next(iter(delivery.files), None)
    return None


def _loaded(event: Any) -> None:
    path = _made_for(event.new_objfile)
    if path is not None:
        event.new_objfile.add_separate_debug_file(str(path))
    events.note_change()


class _MissingDebug:
    """gdb asks it for the debug info of files that have none."""

    name = "whocall"
    enabled = True

    def __call__(self, objfile: gdb.Objfile) -> str | None:
        """The path of a file that gdb takes for the debug info; None leaves it to others."""
        path = _made_for(objfile)
        events.note_change()
        return None if path is None else str(path)


_handler = _MissingDebug()


def _hook() -> None:
    try:
        from gdb.missing_debug import register_handler
    except ImportError:  # before gdb 15
        gdb.events.new_objfile.connect(_loaded)
    else:
        register_handler(None, _handler, replace=True)


def _unhook() -> None:
    # In gdb 15 handlers of missing debug info alone, from 16 on pairs of kinds and handlers.
    both = (
        getattr(gdb, "missing_debug_handlers", None),
        getattr(gdb, "missing_file_handlers", None),
    )
    registries = [handlers for handlers in both if handlers is not None]
    for handlers in registries:
        handlers[:] = [
            each
            for each in handlers
            if (each[1] if isinstance(each, tuple) else each) is not _handler
        ]
    if not registries:
        gdb.events.new_objfile.disconnect(_loaded)


def switch(wanted: bool) -> None:
    """On: also for what is loaded already. Off: what gdb was told stays until `whocall revert`.

    Raises NativeMissingError when no Python can load the native module.
    """
    global _on
    if wanted == _on:
        return
    if wanted:
        announce(_INSTEAD)
    _on = wanted
    if not wanted:
        _unhook()
        events.unwatch()
        return
    _hook()
    for objfile in gdb.objfiles():
        path = _made_for(objfile)
        if path is not None:
            objfile.add_separate_debug_file(str(path))
    frame_cache.invalidate()
    events.watch()
    events.note_change()
    events.refresh()
