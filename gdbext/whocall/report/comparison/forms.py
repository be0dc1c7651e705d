"""Comparisons of one or more threads as text and as JSON, schema whocall.compare/1."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING

from whocall.base.model import Backtrace, Frame
from whocall.base.module_warnings import warnings_on
from whocall.report.backtrace.words import describe_function, thread_title, trust_words
from whocall.report.comparison.divergence import explain, last_common
from whocall.report.comparison.verdicts import (
    FALSE,
    RENAMED,
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
from whocall.report.form.sentences import broken
from whocall.report.form.short_names import ShortNames
from whocall.report.form.style import Style

if TYPE_CHECKING:
    from whocall.base.process_image import ProcessImage

NARROW = 110  # columns: with fewer no two frames stand side by side
_VERDICT = 16
_AROUND = 24  # columns of a frame besides name and address: its number, offset and trust


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
    from whocall.base.native_module import native

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


class _Names:
    """Names of functions, in lines of so many columns."""

    def __init__(self, rows: Sequence[Row], room: int | None) -> None:
        self._room = room
        ours = {describe_function(row.ours)[0] for row in rows if row.ours}
        theirs = {row.gdbs.name for row in rows if row.gdbs and row.gdbs.name}
        self._short = ShortNames(ours | theirs)

    def fit(self, name: str) -> str:
        """The longest form that has room, or the shortest."""
        return name if self._room is None else self._short.fit(name, self._room)


def _ours_text(frame: Frame | None, digits: int, style: Style, names: _Names) -> tuple[str, int]:
    if frame is None:
        return "-", 1
    if frame.signal_trampoline:
        name, behind = "<signal handler called>", ""
    else:
        name, behind = describe_function(frame)
        name = names.fit(name)
    head, tail = f"#{frame.level:<2} ", f"{behind} {trust_words(frame)}"
    address = f"{frame.pc:#0{digits + 2}x}"
    painted = f"{head}{style.paint('address', address)} {style.paint('function', name)}{tail}"
    return painted, len(head) + len(address) + 1 + len(name) + len(tail)


def _gdbs_text(frame: GdbFrame | None, digits: int, style: Style, names: _Names) -> str:
    if frame is None:
        return "-"
    own = names.fit(frame.name) if frame.name else "??"
    name = "<signal handler called>" if frame.signal_trampoline else own
    address = style.paint("address", f"{frame.pc:#0{digits + 2}x}")
    return f"#{frame.level:<2} {address} {style.paint('function', name)}"


def _side_by_side(
    rows: Sequence[Row], digits: int, style: Style, columns: int | None
) -> Iterator[str]:
    names = _Names(rows, (columns - _VERDICT) // 2 - digits - _AROUND if columns else None)
    ours = [_ours_text(row.ours, digits, style, names) for row in rows]
    column = min(max((width for _, width in ours), default=0), 72)
    yield style.paint("title", f"{'verdict':<15} {'whocall':<{column}} gdb")
    for row, (text, width) in zip(rows, ours):
        gap = " " * max(column - width, 0)
        yield f"{_verdict(row, style)} {text}{gap} {_gdbs_text(row.gdbs, digits, style, names)}"


def _stacked(rows: Sequence[Row], digits: int, style: Style, columns: int | None) -> Iterator[str]:
    """gdb's frame stands below whocall's where it is told by another name."""
    names = _Names(rows, columns - _VERDICT - digits - _AROUND if columns else None)
    yield style.paint("title", f"{'verdict':<15} frame")
    for row in rows:
        gdbs = _gdbs_text(row.gdbs, digits, style, names)
        if row.ours is None:
            yield f"{_verdict(row, style)} {gdbs}"
            continue
        yield f"{_verdict(row, style)} {_ours_text(row.ours, digits, style, names)[0]}"
        if row.verdict == RENAMED:
            yield f"{'  in gdb':<15} {gdbs}"


def _verdict(row: Row, style: Style) -> str:
    role = "metadata" if row.verdict == SAME else "highlight"
    return style.paint(role, f"{row.verdict:<15}")


def comparison_lines(
    found: Comparison, pointer_size: int, style: Style, columns: int | None = None
) -> Iterator[str]:
    """The rows under a heading, the first divergence, the counts. Where the screen has few columns,
    the frames of both stand below each other.
    """
    narrow = 0 < (columns or 0) < NARROW  # 0 as in gdb: without end
    table = _stacked if narrow else _side_by_side
    yield from table(found.rows, pointer_size * 2, style, columns)
    if found.explanation:
        yield from broken(found.explanation, columns or 0)
    yield style.paint("title", summary(found.rows, found.counts))


def _told(found: Comparison, of_false: bool) -> Hashable:
    """What of a thread is shown; without `of_false` where gdb's false frames lead, which a word of
    the stack tells that is another in each thread.
    """
    rows = tuple(
        (row.verdict, _of_ours(row.ours), _of_gdbs(row.gdbs, of_false or row.verdict != FALSE))
        for row in found.rows
    )
    return rows, found.counts, found.explanation if of_false else found.explanation is None


def _of_ours(frame: Frame | None) -> Hashable:
    return None if frame is None else (frame.level, frame.pc, frame.trust, frame.function)


def _of_gdbs(frame: GdbFrame | None, exact: bool) -> Hashable:
    return (frame.pc, frame.name) if frame is not None and exact else None


def comparisons_lines(
    found: Sequence[Comparison],
    pointer_size: int,
    style: Style,
    inferior: str = "",
    columns: int | None = None,
) -> Iterator[str]:
    """Of several threads: each under a title, those under one that have the same frames.

    `inferior` stands before the number, such as "2." where gdb has several.
    """
    groups: dict[Hashable, list[Comparison]] = {}
    for each in found:
        alone = each.trace.number if each.trace.crashed else None  # its title has the signal
        groups.setdefault((alone, _told(each, of_false=False)), []).append(each)
    for at, group in enumerate(groups.values()):
        if at:
            yield ""
        yield thread_title([each.trace for each in group], style, inferior)
        if len({_told(each, of_false=True) for each in group}) > 1:
            number = f"{inferior}{group[0].trace.number}"
            yield style.paint("metadata", f"(gdb's false frames are those of thread {number})")
        yield from comparison_lines(group[0], pointer_size, style, columns)


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
