"""`whocall` alone: who called the selected frame, in one line."""

from __future__ import annotations

from dataclasses import replace

import gdb

from whocall.errors import Error
from whocall.gdb.frames import selected_level
from whocall.gdb.inferior import current
from whocall.gdb.output import current_style, warn, write
from whocall.gdb.walks import walk_of
from whocall.model import Backtrace, Frame
from whocall.module_warnings import warnings_on
from whocall.options import Parsed
from whocall.render import stop_line
from whocall.style import Style


def _selected_pc() -> int:
    """The selected frame's pc; of a tail call, which only debug info knows, that of what it left
    its place to.
    """
    frame = gdb.selected_frame()
    while frame.type() == gdb.TAILCALL_FRAME:
        frame = frame.newer()
    return int(frame.pc())


def _selected_in(trace: Backtrace, level: int) -> int | None:
    """Index in our chain of the frame selected in gdb: the one with its pc nearest to its level."""
    if level == 0:
        return 0
    pc = _selected_pc()
    fitting = [at for at, frame in enumerate(trace.frames) if frame.pc == pc]
    return min(fitting, key=lambda at: abs(at - level), default=None)


def _chain(level: int) -> tuple[Backtrace, int]:
    """The selected thread's chain as far as it is needed, and the index of the selected frame.

    Of a deep chain a part will do, unless gdb has left out many frames.
    """
    now = current()
    whole = walk_of(Parsed(), past_main=True)
    for walk in (replace(whole, count=2 * level + 16), whole):
        trace = now.image.backtrace(now.selected, walk)
        if not trace.frames:
            raise Error("The selected thread has no frames.")
        at = _selected_in(trace, level)
        if at is not None and at + 2 < len(trace.frames):
            break
    if at is None:
        pc = _selected_pc()
        raise Error(
            f"The selected frame, #{level} at {pc:#x}, is not in the call chain that whocall finds."
            '  "whocall compare" shows where the two part, "frame 0" selects the innermost frame.'
        )
    return trace, at


def _named(frame: Frame, style: Style) -> str:
    if frame.function is None:
        return f"a function without a name around {style.paint('address', f'{frame.pc:#x}')}"
    return style.paint("function", frame.shown)


def _place(frame: Frame, style: Style) -> str:
    """The function with offset and address."""
    if frame.function is None:
        return _named(frame, style)
    offset = "" if frame.offset is None else f" (+{frame.offset})"
    return f"{_named(frame, style)}{offset} at {style.paint('address', f'{frame.pc:#x}')}"


def _where(frame: Frame, style: Style) -> str:
    if frame.file is not None:
        line = "" if frame.line is None else f":{frame.line}"
        return f" at {style.paint('filename', frame.file)}{line}"
    return f" in {style.paint('filename', frame.module)}" if frame.module else ""


def _sentence(trace: Backtrace, at: int, style: Style) -> str:
    callee = _named(trace.frames[at], style)
    older = trace.frames[at + 1 :]
    if not older:
        why = stop_line(trace) or "it is the outermost frame"
        return f"{callee} has no caller: {why.strip('()')}"
    if older[0].signal_trampoline and len(older) > 1:
        caller = older[1]
        verb = "was called by the kernel to handle a signal that interrupted"
    else:
        caller = older[0]
        verb = "was inlined into" if trace.frames[at].inlined else "was called by"
    how = ": ".join(
        [caller.trust, "; ".join(caller.evidence)] if caller.evidence else [caller.trust]
    )
    return f"{callee} {verb} {_place(caller, style)}{_where(caller, style)} [{how}]"


def run(line: str) -> None:
    """Prints the line."""
    trace, at = _chain(selected_level() or 0)
    shown = [frame.pc for frame in trace.frames[at : at + 2]]
    warn(warnings_on(current().image, shown))
    write([_sentence(trace, at, current_style())])
