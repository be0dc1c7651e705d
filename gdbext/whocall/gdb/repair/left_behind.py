"""Files of an earlier process that gdb has kept, where they lay then."""

from __future__ import annotations

from pathlib import Path

import gdb

from whocall.base.gdb_lines import named
from whocall.gdb.host import console
from whocall.gdb.repair import attached
from whocall.gdb.repair.attached import Attached, process_now


def _is_alone(known: Attached) -> bool:
    """Whether it was added by us, so that gdb keeps it whatever becomes of its libraries."""
    return bool(known.loaded) or (known.objfile is None and bool(known.files))


def _is_orphan(known: Attached) -> bool:
    """Whether it is a library's file that belongs to none of gdb's shared libraries any more."""
    objfile = known.objfile
    told_of = known.state.ruled | known.state.asked
    if objfile is None or not known.files or known.kept or not told_of:
        return False
    if objfile.filename == known.progspace.filename or not Path(objfile.filename or "").is_file():
        return False  # the program, or the vDSO
    return gdb.solib_name(known.bias + min(told_of)) is None


def drop_left_behind() -> None:
    """Makes gdb forget the files of libraries of an earlier process, with what is attached to them.

    Situation: another program is loaded into a gdb that has a core, `file` and then `core-file`.
    What was added for libraries that gdb did not know of stays where it is, and is found by its
    path for the new process. Example: two cores of qemu-user, of programs that gdb does not
    relocate by itself, with the C library a page apart: each name and rule of it is a page off.
    Remedy: what was added for another process is removed; and where gdb has files of libraries that
    its list does not hold any more, it drops all, and reads those again that are there.
    """
    now = process_now()
    others = [known for known in attached.records() if known.process != now]
    for known in filter(_is_alone, others):
        for path in [known.loaded] if known.loaded else map(str, known.files):
            console.said("remove-symbol-file", named(path))
    orphans = [known for known in others if known.is_valid and _is_orphan(known)]
    if orphans:
        console.said("nosharedlibrary")
        console.said("sharedlibrary")
    for known in orphans:
        known.kept = known.is_valid  # what the user has added himself stays
