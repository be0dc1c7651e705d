"""`whocall revert` in gdb: takes back what it was told.

gdb cannot drop a single symbol file of a module; it reads the module's own file anew instead.
Breakpoints stay.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import gdb

from whocall.base.errors import Error
from whocall.base.gdb_lines import named, only
from whocall.gdb.host import console, frame_cache
from whocall.gdb.host.output import warn, write
from whocall.gdb.repair import attached, events, told_arguments
from whocall.gdb.repair.attached import Attached
from whocall.gdb.target.auxiliary_vector import AT_SYSINFO_EHDR, auxiliary_vector
from whocall.gdb.target.frames import selection_kept
from whocall.shared_front_end.options import syntax


def _is_program(known: Attached) -> bool:
    main = gdb.current_progspace().filename
    return (
        known.objfile is not None
        and main is not None
        and known.objfile.filename is not None
        and os.path.realpath(known.objfile.filename) == os.path.realpath(main)
    )


# gdb's names of the object that the kernel puts into every process.
_VDSO = ("system-supplied DSO", "shared object read from target memory")


def _loaded() -> list[str]:
    return [
        objfile.filename
        for objfile in gdb.current_progspace().objfiles()
        if objfile.owner is None and objfile.filename
    ]


def _jit_code() -> set[str]:
    """What gdb has of the code that JIT compilers register, by the names that it gives it."""
    return {path for path in _loaded() if path.startswith("<in-memory@")}


def _reread_libraries() -> None:
    """`nosharedlibrary` drops all of them; those that were there are read again."""
    before = _loaded()
    console.said("nosharedlibrary")
    kept = _loaded()
    for path in before:
        if path in kept:
            continue
        if path.startswith(_VDSO):
            _reread_vdso()
        else:
            console.said("sharedlibrary", only(path))


def _reread_vdso() -> None:
    """It is no library to gdb, and dropped with them all the same."""
    header = auxiliary_vector().get(AT_SYSINFO_EHDR)
    if header is not None:
        # From gdb 18 on that fails where there is no program.
        with contextlib.suppress(gdb.error):
            console.said("add-symbol-file-from-memory", header)


def _require_programs(given: list[Attached]) -> None:
    """gdb would stop in the middle, with half of its files as they were."""
    for known in given:
        if not _is_program(known):
            continue
        path = Path((known.objfile and known.objfile.filename) or "")
        named(str(path))
        if path.is_absolute() and not path.exists():
            raise Error(
                f"{path} is gone, and gdb would have to read it anew. "
                "Put it back, or start gdb again."
            )


def take_back(given: list[Attached]) -> None:
    """Makes gdb forget the files that it was given for the modules of this program space.

    gdb counts JIT code among the libraries, but finds it by itself at a start alone.
    """
    jit_code = _jit_code()
    alone = [known for known in given if known.loaded or known.objfile is None]
    for known in alone:
        for path in [known.loaded] if known.loaded else map(str, known.files):
            console.said("remove-symbol-file", named(path))
    others = [known for known in given if known not in alone]
    if not all(map(_is_program, others)):
        _reread_libraries()
    for known in others:
        if _is_program(known) and known.objfile is not None:
            console.said("symbol-file", named(known.objfile.filename))
    attached.forget_here()
    told_arguments.forget()
    frame_cache.invalidate()
    if jit_code - _jit_code():
        warn(
            [
                "gdb has dropped what it had of JIT code, with the libraries, and reads it again "
                'when it opens the core ("core-file") or attaches anew.'
            ]
        )


def run(line: str) -> None:
    """Takes back what gdb was told, and tells it no more."""
    syntax("revert").parse(line)
    given = attached.here()
    _require_programs(given)
    if gdb.parameter("whocall auto-repair"):
        console.run("set whocall auto-repair off")
    was_watching = events.unwatch()
    if not given and not was_watching:
        raise Error('There is nothing to take back: "whocall repair" was not used here.')
    with selection_kept():  # gdb forgets it with the tables
        take_back(given)
    count = len(given)
    write([f"gdb has its own frames again; {count} file{'s' * (count != 1)} read anew."])
