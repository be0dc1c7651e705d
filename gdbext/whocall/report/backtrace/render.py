"""Backtraces as text, in the form of gdb's own `bt` so that they read at once.

Every line is gdb's `#LEVEL ADDRESS in FUNCTION (+OFFSET) from MODULE`, or `at FILE:LINE` where the
line is known, with the trust in brackets at the end. Lines are never cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from whocall.core.model import Backtrace, Frame, Report, WrittenThreads, column
from whocall.core.printable import printable
from whocall.core.records import dataclass
from whocall.report.backtrace.cycles import Gap, gap_line, shown
from whocall.report.backtrace.fold import Group, fold, numbers
from whocall.report.backtrace.stackwords import stack_lines
from whocall.report.form.style import Style, shown_line

WIDEST_ALIGNED = 92  # longer lines do not push the trust words of the others to the right
BLOCK = 1024  # lines of a chain that are laid out together
MOST_SEARCHES = 3  # that are named

Reader = Callable[[int, int], bytes]


@dataclass(frozen=True)
class TextForm:
    """What a backtrace in text shows beside its frames."""

    fold: bool = True  # runs of repeating frames are told in a line
    full: bool = False
    explain: bool = False
    every_thread: bool = False
    pointer_size: int = 8  # bytes
    word_size: int = 8  # of the stack's words and registers, bytes
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
        told = printable(text)
        self.text += self._style.paint(role, told) if role else told
        self.width += len(told)


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


def _stack_begin(trace: Backtrace, index: int) -> int:
    """Where the stack of frames[index] begins: at the CFA of what it called."""
    for below in range(index - 1, -1, -1):
        frame = trace.frames[below]
        if frame.cfa is not None and not frame.inlined:
            return frame.cfa
    return trace.sp


def _search_words(below: Frame, frame: Frame, searched: int) -> str:
    """Why `frame` was searched for, and over how many bytes."""
    if "damaged-return" in frame.evidence:
        return (
            f"the return address of #{below.level} was overwritten in part: one call near it may"
            " have led there"
        )
    replaced = "return-replaced" in below.evidence
    why = "a return address was replaced by that of" if replaced else "no rule leads on from"
    return f"{why} #{below.level}: whocall searched {searched} bytes of stack"


class _Chain:
    """Writes the lines of a chain, frame after frame: what stands at a frame hangs on the one
    before it.
    """

    def __init__(self, trace: Backtrace, form: TextForm, style: Style) -> None:
        self._trace = trace
        self._form = form
        self._style = style
        self._below: Frame | None = None
        self._sp = trace.sp

    def skip(self, gap: Gap) -> str:
        """The line for frames that are left out."""
        self._below = self._trace.frames[gap.end - 1]
        self._sp = _stack_begin(self._trace, gap.end)
        return self._style.paint("metadata", gap_line(gap))

    def lines(self, index: int, frame: Frame, line: _Line, column: int) -> Iterator[str]:
        """One frame: its line, what stands before that and what under it."""
        below, form = self._below, self._form
        if below is not None and frame.level != below.level + 1:
            yield "..."
        searched = self._trace.searched(index) if frame.trust == "scan" else None
        if searched is not None and below is not None:
            yield self._style.paint("metadata", f"({_search_words(below, frame, searched)})")
        space = " " * (max(column - line.width, 0) + 2)
        yield line.text + space + self._style.paint("metadata", trust_words(frame))
        if form.explain and frame.explanation:
            yield printable(f"    {sentence(frame.explanation)}")
        if form.full and not frame.inlined:
            yield from stack_lines(
                frame, self._sp, form.word_size, form.byte_order, form.read, self._style
            )
        if frame.cfa is not None and not frame.inlined:
            self._sp = frame.cfa
        self._below = frame


def frame_lines(trace: Backtrace, form: TextForm, style: Style) -> Iterator[str]:
    """The lines of one thread's frames, with what belongs under each.

    So many at a time have their trust words in one column that a long chain is not laid out whole
    before its first line.
    """
    parts = shown(trace.frames, form.fold)
    chain = _Chain(trace, form, style)
    column = 0
    while block := list(islice(parts, BLOCK)):
        frames = {at: trace.frames[at] for at in block if isinstance(at, int)}
        lines = {at: frame_line(frame, form, style) for at, frame in frames.items()}
        widths = [line.width for line in lines.values() if line.width <= WIDEST_ALIGNED]
        column = max([column, *widths])
        for part in block:
            if isinstance(part, Gap):
                yield chain.skip(part)
            else:
                yield from chain.lines(part, frames[part], lines[part], column)


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
        "frame-limit": "the limit on frames is reached",
    }.get(reason, reason)
    return f"(whocall stopped: {detail or meaning})"


def resting_line(trace: Backtrace) -> str | None:
    """How many of the frames are no surer than a search of the stack on which they rest."""
    found = list(column(trace.frames, "rests_on"))
    resting = len(found) - found.count(None)
    if not resting:
        return None
    levels = [f"#{level}" for level in sorted({level for level in found if level is not None})]
    more = len(levels) - MOST_SEARCHES
    if more > 0:
        levels = [*levels[:MOST_SEARCHES], f"{more:,} more"]
    where = " and ".join([", ".join(levels[:-1]), levels[-1]] if levels[1:] else levels)
    searches = "searches" if levels[1:] else "search"
    verb = "rests" if resting == 1 else "rest"
    of = f"{len(found):,} frame{'s' * (len(found) != 1)}"
    return f"{resting:,} of {of} {verb} on the {searches} at {where}."


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
    import re  # only here: few stacks are folded, and this module is imported for every one

    which = re.sub(r"\d+", rf"{inferior}\g<0>", numbers([trace.number for trace in group.traces]))
    count = f"[{len(group.traces)} threads, same stack]"
    return style.paint("title", f"Threads {which} (LWP {lwps}) {count}:")


def thread_text(trace: Backtrace, form: TextForm, style: Style) -> Iterator[str]:
    """The frames of one thread and why they end."""
    yield from (shown_line(line) + "\n" for line in frame_lines(trace, form, style))
    for last in (stop_line(trace), resting_line(trace)):
        if last is not None:
            yield style.paint("metadata", last) + "\n"
    end = end_sentence(trace) if form.explain else None
    if end is not None:
        yield f"    {printable(end)}\n"


def report_text(report: Report, form: TextForm, style: Style) -> Iterator[str]:
    """The whole report in pieces of a line or many; with `every_thread` each thread under a title,
    equal stacks folded. Native backtraces write themselves, but for what only Python has: memory
    for the stack words, sentences.
    """
    if isinstance(report.threads, WrittenThreads) and not (form.full or form.explain):
        yield from report.threads.text(form.every_thread, form.fold, form.inferior, style.codes)
        return
    if not form.every_thread:
        for trace in report.threads:
            yield from thread_text(trace, form, style)
        return
    groups: Sequence[Group] = fold(report.threads, exact=form.full)
    for index, group in enumerate(groups):
        title = thread_title(group, style, form.inferior)
        yield f"\n{title}\n" if index else f"{title}\n"
        yield from thread_text(group.traces[0], form, style)


def backtrace_text(report: Report) -> str:
    """What `whocall bt` prints of it, in no colours; several threads each under a title."""
    form = TextForm(every_thread=len(report.threads) > 1)
    return "".join(report_text(report, form, Style()))
