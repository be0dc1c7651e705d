"""Backtraces as text, in the form of gdb's own `bt` so that they read at once.

Every line is gdb's `#LEVEL ADDRESS in FUNCTION (+OFFSET) from MODULE`, or `at FILE:LINE` where the
line is known, with the trust in brackets at the end. Lines are never cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from whocall.fold import Group, fold, numbers
from whocall.model import Backtrace, Frame, Report
from whocall.stackwords import stack_lines
from whocall.style import Style

WIDEST_ALIGNED = 92  # longer lines do not push the trust words of the others to the right

Reader = Callable[[int, int], bytes]


@dataclass(frozen=True)
class TextForm:
    """What a backtrace in text shows beside its frames."""

    full: bool = False
    explain: bool = False
    every_thread: bool = False
    pointer_size: int = 8
    byte_order: str = "little"
    read: Reader | None = None  # memory, for the stack words of -full
    inferior: str = ""  # stands before numbers of threads, such as "2." where gdb has several


class _Line:
    """A line under construction: its painted text, and its width without the paint."""

    def __init__(self, style: Style) -> None:
        self._style = style
        self.text = ""
        self.width = 0

    def put(self, text: str, role: str = "") -> None:
        self.text += self._style.paint(role, text) if role else text
        self.width += len(text)


def describe_function(frame: Frame) -> tuple[str, str]:
    """The frame's function and what stands behind it: ("main", " (+14)"), ("??", " ()")."""
    if frame.function is None:
        return "??", " ()"
    return frame.shown, " ()" if frame.offset is None else f" (+{frame.offset})"


def trust_words(frame: Frame) -> str:
    """`[cfi]`, `[cfi, inlined]`."""
    return f"[{frame.trust}, inlined]" if frame.inlined else f"[{frame.trust}]"


def sentence(text: str) -> str:
    """`text` with a capital letter at its start and one full stop at its end."""
    text = text.strip().rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def frame_line(frame: Frame, form: TextForm, style: Style) -> _Line:
    """The frame's line without its trust word."""
    line = _Line(style)
    line.put(f"#{frame.level:<2} ")
    if frame.signal_trampoline:
        line.put("<signal handler called>")
        return line
    if not frame.inlined:
        line.put(f"{frame.pc:#0{form.pointer_size * 2 + 2}x}", "address")
        line.put(" in ")
    name, behind = describe_function(frame)
    line.put(name, "function")
    line.put(" ()" if frame.inlined else behind)
    if frame.file is not None:
        line.put(" at ")
        line.put(frame.file, "filename")
        if frame.line is not None:
            line.put(f":{frame.line}")
    elif frame.module is not None:
        line.put(" from ")
        line.put(frame.module, "filename")
    return line


def frame_lines(trace: Backtrace, form: TextForm, style: Style) -> Iterator[str]:
    """The lines of one thread's frames, with what belongs under each."""
    lines = [frame_line(frame, form, style) for frame in trace.frames]
    column = max((line.width for line in lines if line.width <= WIDEST_ALIGNED), default=0)
    sp = trace.sp
    for index, (frame, line) in enumerate(zip(trace.frames, lines)):
        if index and frame.level != trace.frames[index - 1].level + 1:
            yield "..."
        searched = trace.searched(index)
        if searched is not None:
            below = trace.frames[index - 1].level
            gap = f"(no rule leads on from #{below}: whocall searched {searched} bytes of stack)"
            yield style.paint("metadata", gap)
        gap = " " * (max(column - line.width, 0) + 2)
        yield line.text + gap + style.paint("metadata", trust_words(frame))
        if form.explain and frame.explanation:
            yield f"    {sentence(frame.explanation)}"
        if form.full and not frame.inlined:
            yield from stack_lines(frame, sp, form.pointer_size, form.byte_order, form.read, style)
        if frame.cfa is not None and not frame.inlined:
            sp = frame.cfa


def stop_line(trace: Backtrace) -> str | None:
    """Why the walk ended, when that is worth a line: a clean end says nothing, as in gdb."""
    reason, detail = trace.stop.reason, trace.stop.detail
    if reason in ("end-of-stack", "main"):
        return None
    if reason == "count":
        return "(More stack frames follow...)"
    meaning = {
        "no-caller": "no caller found",
        "unreadable": "the stack cannot be read further",
        "no-progress": "the next frame would be the same again",
        "frame-limit": "the limit on frames is reached",
    }.get(reason, reason)
    return f"(whocall stopped: {detail or meaning})"


def end_sentence(trace: Backtrace) -> str | None:
    """Why the chain ends where it ends cleanly; None where stop_line() says why."""
    if trace.stop.reason == "main":
        return "The frames that called main are left out."
    if trace.stop.reason == "end-of-stack":
        detail = f": {trace.stop.detail}" if trace.stop.detail else ""
        return sentence(f"the stack ends here{detail}")
    return None


def thread_title(group: Group, style: Style, inferior: str = "") -> str:
    """`Thread 1 (LWP 4242 "prog", SIGSEGV):`, or for several with one stack
    `Threads 2..4, 7 (LWP 4243..4245, 4248) [4 threads, same stack]:`.
    """
    first = group.traces[0]
    lwps = numbers([trace.lwp for trace in group.traces])
    if len(group.traces) == 1:
        name = f' "{first.name}"' if first.name else ""
        signal = f", {first.signal}" if first.signal and first.crashed else ""
        return style.paint("title", f"Thread {inferior}{first.number} (LWP {lwps}{name}{signal}):")
    which = re.sub(r"\d+", rf"{inferior}\g<0>", numbers([trace.number for trace in group.traces]))
    count = f"[{len(group.traces)} threads, same stack]"
    return style.paint("title", f"Threads {which} (LWP {lwps}) {count}:")


def thread_lines(trace: Backtrace, form: TextForm, style: Style) -> Iterator[str]:
    """The frames of one thread and why they end."""
    yield from frame_lines(trace, form, style)
    last = stop_line(trace)
    if last is not None:
        yield style.paint("metadata", last)
    end = end_sentence(trace) if form.explain else None
    if end is not None:
        yield f"    {end}"


def report_lines(report: Report, form: TextForm, style: Style) -> Iterator[str]:
    """The whole report; with `every_thread` each thread under a title, equal stacks folded."""
    if not form.every_thread:
        for trace in report.threads:
            yield from thread_lines(trace, form, style)
        return
    groups: Sequence[Group] = fold(report.threads, exact=form.full)
    for index, group in enumerate(groups):
        if index:
            yield ""
        yield thread_title(group, style, form.inferior)
        yield from thread_lines(group.traces[0], form, style)
