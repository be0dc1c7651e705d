"""Comparisons of one or more threads as text and as JSON, schema whocall.compare/1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING

from whocall.core.model import Backtrace, Frame
from whocall.core.module_warnings import warnings_on
from whocall.core.printable import printable
from whocall.report.backtrace.render import describe_function, trust_words
from whocall.report.comparison.divergence import explain, last_common
from whocall.report.comparison.verdicts import (
    SAME,
    Counts,
    GdbFrame,
    GdbStack,
    Row,
    compare,
    count,
    first_divergence,
    has_given_up,
    names_agree,
    plain_name,
    summary,
)
from whocall.report.form.jsonform import Json, frame_json, hexes
from whocall.report.form.style import Style

if TYPE_CHECKING:
    from whocall.core.image import ProcessImage


@dataclass(frozen=True)
class Comparison:
    """One thread compared."""

    trace: Backtrace
    stack: GdbStack
    rows: Sequence[Row]
    counts: Counts
    explanation: str | None  # of the first divergence; None when there is none


def compare_thread(image: ProcessImage, trace: Backtrace, stack: GdbStack) -> Comparison:
    """Aligns one thread's chains and finds out why they part."""
    rows = compare(trace, stack, partial(knows_name, image), image.may_be_code)
    common = last_common(rows)
    word = None
    if common is not None and common.ours is not None:
        word = image.word_at(_stack_pointer(trace, common.ours))
    explanation = explain(rows, stack.stop, image.module_states(), word, has_given_up(trace))
    return Comparison(trace, stack, rows, count(rows), explanation)


def knows_name(image: ProcessImage, frame: Frame, gdbs: GdbFrame) -> bool:
    """Whether gdb's name is one of the names of the frame's function, aliases included."""
    if names_agree(frame, gdbs):
        return True
    if frame.inlined or frame.function is None or gdbs.name is None:
        return False
    from whocall.core.engine import native

    at = frame.pc if frame.interrupted else frame.pc - 1
    place = image.native.describe(at, lines=False)
    wanted = plain_name(gdbs.name)
    return any(plain_name(native.demangle(alias)) == wanted for alias in place.aliases)


def _stack_pointer(trace: Backtrace, frame: Frame) -> int | None:
    """A frame's sp is the CFA of the frame that it called."""
    sp: int | None = trace.sp
    for other in trace.frames:
        if other.level == frame.level:
            return sp
        if not other.inlined:
            sp = other.cfa
    return None


def _ours_text(frame: Frame | None, digits: int, style: Style) -> tuple[str, int]:
    if frame is None:
        return "-", 1
    if frame.signal_trampoline:
        name, behind = "<signal handler called>", ""
    else:
        name, behind = describe_function(frame)
    head, tail = f"#{frame.level:<2} ", f"{behind} {trust_words(frame)}"
    address = f"{frame.pc:#0{digits + 2}x}"
    painted = f"{head}{style.paint('address', address)} {style.paint('function', name)}{tail}"
    return painted, len(head) + len(address) + 1 + len(name) + len(tail)


def _gdbs_text(frame: GdbFrame | None, digits: int, style: Style) -> str:
    if frame is None:
        return "-"
    name = "<signal handler called>" if frame.signal_trampoline else frame.name or "??"
    address = style.paint("address", f"{frame.pc:#0{digits + 2}x}")
    return f"#{frame.level:<2} {address} {style.paint('function', name)}"


def comparison_lines(found: Comparison, pointer_size: int, style: Style) -> Iterator[str]:
    """The rows under a heading, the first divergence, the counts."""
    digits = pointer_size * 2
    ours = [_ours_text(row.ours, digits, style) for row in found.rows]
    column = min(max((width for _, width in ours), default=0), 72)
    yield style.paint("title", f"{'verdict':<15} {'whocall':<{column}} gdb")
    for row, (text, width) in zip(found.rows, ours):
        role = "metadata" if row.verdict == SAME else "highlight"
        verdict = style.paint(role, f"{row.verdict:<15}")
        gap = " " * max(column - width, 0)
        yield f"{verdict} {text}{gap} {_gdbs_text(row.gdbs, digits, style)}"
    if found.explanation:
        yield printable(found.explanation)
    yield style.paint("title", summary(found.counts))


def thread_title(found: Comparison, inferior: str = "") -> str:
    """Stands over the lines of each where several threads are shown.

    `inferior` stands before the number, such as "2." where gdb has several.
    """
    return f"Thread {inferior}{found.trace.number} (LWP {found.trace.lwp}):"


def _gdb_json(frame: GdbFrame | None) -> Json | None:
    if frame is None:
        return None
    return {
        "level": frame.level,
        "pc": hexes(frame.pc),
        "function": frame.name,
        "start": hexes(frame.start),
        "inlined": frame.inlined,
        "signal_trampoline": frame.signal_trampoline,
    }


def _thread_json(found: Comparison) -> Json:
    at = first_divergence(found.rows)
    divergence = None
    if at is not None:
        divergence = {"row": at, "explanation": found.explanation}
    return {
        "number": found.trace.number,
        "lwp": found.trace.lwp,
        "name": found.trace.name or None,
        "rows": [
            {
                "verdict": row.verdict,
                "whocall": None if row.ours is None else frame_json(row.ours),
                "gdb": _gdb_json(row.gdbs),
            }
            for row in found.rows
        ],
        "first_divergence": divergence,
        "counts": asdict(found.counts),
        "stop": {
            "reason": found.trace.stop.reason,
            "detail": found.trace.stop.detail or None,
        },
        "gdb_stop": found.stack.stop or None,
    }


def comparison_warnings(image: ProcessImage, threads: Sequence[Comparison]) -> list[str]:
    """What is wrong with the image, and with the modules of the frames of both."""
    rows = [row for found in threads for row in found.rows]
    pcs = [row.ours.pc for row in rows if row.ours is not None and not row.ours.inlined]
    return warnings_on(
        image, pcs + [row.gdbs.pc for row in rows if row.ours is None and row.gdbs is not None]
    )


def comparison_json(image: ProcessImage, threads: Sequence[Comparison]) -> Json:
    """All compared threads."""
    return {
        "schema": "whocall.compare/1",
        "arch": image.arch,
        "source": {"core": image.core_path, "exe": image.exe_path},
        "warnings": comparison_warnings(image, threads),
        "threads": [_thread_json(found) for found in threads],
    }
