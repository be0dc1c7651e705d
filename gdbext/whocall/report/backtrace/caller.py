"""Who called one frame, in one line: the answer of `whocall` alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from whocall.core.errors import Error
from whocall.core.model import Backtrace, Frame
from whocall.report.backtrace.words import stop_line
from whocall.report.form.jsonform import Json, frame_json
from whocall.report.form.style import Style

if TYPE_CHECKING:
    from whocall.core.process_image import ProcessImage, Walk


def find(trace: Backtrace, level: int, pc: int | None) -> int | None:
    """Index of the frame that gdb calls #level at `pc`: the one with its pc nearest to its level.

    Without a pc the level is ours.
    """
    if level == 0:
        return 0
    frames = enumerate(trace.frames)
    if pc is None:
        return next((at for at, frame in frames if frame.level == level), None)
    fitting = [at for at, frame in frames if frame.pc == pc]
    return min(fitting, key=lambda at: abs(at - level), default=None)


def chain(
    image: ProcessImage, index: int, whole: Walk, level: int, pc: int | None
) -> tuple[Backtrace, int]:
    """The chain of threads[index] as far as it is needed, and the index of the frame in it.

    Of a deep chain a part will do, unless gdb has left out many frames.
    """
    for walk in (replace(whole, count=2 * level + 16), whole):
        trace = image.backtrace(index, walk)
        if not trace.frames:
            raise Error("The selected thread has no frames.")
        at = find(trace, level, pc)
        if at is not None and at + 2 < len(trace.frames):
            break
    if at is None and pc is None:
        raise Error(f"whocall finds {len(trace.frames)} frames: there is no frame {level}.")
    if at is None:
        raise Error(
            f"The selected frame, #{level} at {pc:#x}, is not in the call chain that whocall finds."
            '  "whocall compare" shows where the two part, "frame 0" selects the innermost frame.'
        )
    return trace, at


def shown_pcs(trace: Backtrace, at: int) -> Iterable[int]:
    """The pcs that the sentence speaks of."""
    return [frame.pc for frame in trace.frames[at : at + 2]]


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


def sentence(trace: Backtrace, at: int, style: Style) -> str:
    """Who called frames[at] of the chain, from where, and how sure that is."""
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
    if caller.rests_on is not None:
        how += f", but it rests on the search of the stack that found #{caller.rests_on}"
    return f"{callee} {verb} {_place(caller, style)}{_where(caller, style)} [{how}]"


def caller_json(trace: Backtrace, at: int) -> Json:
    """Schema whocall.caller/1: both frames, as in whocall.backtrace/1, and the sentence on them."""
    older = trace.frames[at + 1] if at + 1 < len(trace.frames) else None
    return {
        "schema": "whocall.caller/1",
        "callee": frame_json(trace.frames[at]),
        "caller": None if older is None else frame_json(older),
        "sentence": sentence(trace, at, Style()),
    }
