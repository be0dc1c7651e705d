"""`whocall frame N`: gdb's frame that is the one of this number in whocall's backtrace."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import gdb

from whocall.base.errors import Error, UsageError
from whocall.gdb.host import console
from whocall.gdb.host.output import write
from whocall.gdb.repair import events
from whocall.gdb.repair.planning import RepairRequest
from whocall.gdb.repair.reconcile import repair
from whocall.gdb.target.answering import answer, require_process
from whocall.gdb.target.frames import past_main, selected_level
from whocall.gdb.target.walks import wanted_walk
from whocall.report.form.jsonform import Json
from whocall.shared_front_end.options import Parsed, syntax

_BEYOND = 256  # frames that gdb may have invented below the one that is looked for


def _level(parsed: Parsed) -> int:
    text = parsed.arguments[0] if parsed.arguments else ""
    if not text.isdecimal():
        raise UsageError("whocall frame takes the number of a frame in the backtrace of whocall")
    return int(text)


def _frames() -> Iterator[gdb.Frame]:
    """gdb's own, innermost first, as far as it can go."""
    try:
        frame = gdb.newest_frame()
        while frame is not None:
            yield frame
            frame = frame.older()
    except gdb.error:
        return


def _is_there(frame: gdb.Frame, wanted: Json, mask: int) -> bool:
    """Whether it is, or is inlined into, the frame that is looked for. Addresses are compared as
    the process holds them: gdb's may be negative.
    """
    if frame.type() == gdb.TAILCALL_FRAME or (frame.pc() ^ wanted["pc"]) & mask:
        return False
    if wanted["sp"] is None:
        return True
    try:
        return not (int(frame.read_register("sp")) ^ wanted["sp"]) & mask
    except (gdb.error, ValueError):
        return False


def _found(wanted: Json, level: int) -> gdb.Frame | None:
    """Of a frame and the calls that were inlined into it gdb may know fewer."""
    mask = (1 << 8 * gdb.lookup_type("char").pointer().sizeof) - 1
    together: list[gdb.Frame] = []
    for frame in islice(_frames(), 2 * level + _BEYOND):
        if _is_there(frame, wanted, mask):
            together.append(frame)
        elif together:
            break
    return together[max(len(together) - 1 - wanted["around"], 0)] if together else None


def _missing(wanted: Json, level: int) -> Error:
    """Why there is none."""
    with past_main():
        if _found(wanted, level) is not None:
            return Error('it called main; "set backtrace past-main on" lets gdb go there')
    return Error(
        f"gdb has no frame at {wanted['pc']:#x}, not even repaired;"
        ' "whocall compare" shows where the two part'
    )


def _repair_thread() -> None:
    repair(RepairRequest(every_thread=False))
    events.watch()
    number = gdb.selected_thread().num
    write([f"gdb had no such frame: thread {number} was repaired."
           '  "whocall revert" takes that back.'])  # fmt: skip


def run(line: str) -> None:
    """Selects the frame and prints it as `frame` does."""
    require_process()
    level = _level(syntax("frame").parse(line))
    walk = wanted_walk(Parsed(), past_main=True)
    wanted = answer("backtraces.frame", {"walk": walk, "level": level}).result
    found = _found(wanted, level)
    if found is None:
        _repair_thread()
        found = _found(wanted, level)
    if found is None:
        raise _missing(wanted, level)
    found.select()
    theirs = selected_level()
    if theirs != level:
        write([f"Frame #{level} of whocall's is #{theirs} of gdb's."])
    console.run("frame")
