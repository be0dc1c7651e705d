"""`whocall revert` in gdb: takes back what it was told.

gdb cannot drop a single symbol file of a module; it reads the module's own file anew instead.
Breakpoints stay.
"""

from __future__ import annotations

import os
import re

import gdb

from whocall.errors import Error
from whocall.gdb import attached, frame_cache, repair_events
from whocall.gdb.attached import Attached, quoted
from whocall.gdb.output import write
from whocall.options import REVERT


def _is_program(known: Attached) -> bool:
    main = gdb.current_progspace().filename
    return (
        known.objfile is not None
        and main is not None
        and known.objfile.filename is not None
        and os.path.realpath(known.objfile.filename) == os.path.realpath(main)
    )


def _reread_libraries(given: list[Attached]) -> None:
    """`nosharedlibrary` drops all of them; those that were there are read again."""
    loaded = [
        objfile.filename
        for objfile in gdb.current_progspace().objfiles()
        if objfile.owner is None and objfile.filename
    ]
    gdb.execute("nosharedlibrary", False, True)
    kept = {objfile.filename for objfile in gdb.current_progspace().objfiles()}
    for path in loaded:
        if path not in kept:
            # A basic regular expression, in which "+" and brackets stand for themselves.
            escaped = re.sub(r"([\\.*^$\[\]])", r"\\\1", path)
            gdb.execute(f"sharedlibrary ^{escaped}$", False, True)


def take_back(given: list[Attached]) -> None:
    """Makes gdb forget the files that it was given for the modules of this program space."""
    alone = [known for known in given if known.objfile is None]
    for known in alone:
        for path in known.files:
            _remove(str(path))
    libraries = [known for known in given if known.objfile is not None and not _is_program(known)]
    if libraries:
        _reread_libraries(libraries)
    for known in given:
        if _is_program(known) and known.objfile is not None:
            gdb.execute(f"symbol-file {quoted(known.objfile.filename or '')}", False, True)
    attached.forget_here()
    frame_cache.invalidate()


def _remove(path: str) -> None:
    """Drops a symbol file that stands alone, by an address in it."""
    for objfile in gdb.current_progspace().objfiles():
        if objfile.filename == path:
            said = gdb.execute("maintenance info sections -all-objects", False, True)
            part = said.partition(path)[2].partition("\n\n")[0]
            match = re.search(r"(0x[0-9a-f]+)->0x[0-9a-f]+ at .*\bCODE\b", part)
            if match is not None:
                gdb.execute(f"remove-symbol-file -a {match.group(1)}", False, True)


def run(line: str) -> None:
    """Takes back what gdb was told, and tells it no more."""
    REVERT.parse(line)
    if gdb.parameter("whocall auto-repair"):
        gdb.execute("set whocall auto-repair off")
    was_watching = repair_events.unwatch()
    given = attached.here()
    if not given and not was_watching:
        raise Error('There is nothing to take back: "whocall repair" was not used here.')
    take_back(given)
    count = len(given)
    write([f"gdb has its own frames again; {count} file{'s' * (count != 1)} read anew."])
