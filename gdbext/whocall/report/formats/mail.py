"""Backtraces as plain text for mails and trackers without markup: ASCII, no line beyond 78
characters, nothing that a terminal would take for a command.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from whocall.base.model import Backtrace, Frame, Report
from whocall.base.native_backtraces import written
from whocall.base.native_module import native
from whocall.base.printable import printable
from whocall.report.backtrace.cycles import Gap, gap_line, shown
from whocall.report.backtrace.words import stop_line

WIDTH = 78
INDENT = "     "


def plain(text: str) -> str:
    """One line of ASCII: what else is in it is written as its number."""
    return printable(text).encode("ascii", "backslashreplace").decode("ascii")


def _wrapped(text: str, indent: str = INDENT) -> list[str]:
    return textwrap.wrap(
        plain(text), WIDTH, subsequent_indent=indent, break_long_words=True, break_on_hyphens=False
    )


def _frame(frame: Frame) -> list[str]:
    head = f"#{frame.level:<3} "
    if frame.signal_trampoline:
        return [f"{head}<signal handler called>"]
    offset = f"+{frame.offset}" if frame.offset and not frame.inlined else ""
    where = ""
    if frame.file is not None:
        where = f" at {frame.file}" + ("" if frame.line is None else f":{frame.line}")
    elif frame.module is not None:
        where = f" in {frame.module.rpartition('/')[2]}"
        where += f" (link address {frame.rva:#x})" if frame.rva is not None else ""
    inlined = ", inlined" if frame.inlined else ""
    return _wrapped(f"{head}{frame.shown}{offset}{where} [{frame.trust}{inlined}]")


def _stack(trace: Backtrace, resting: str) -> Iterator[str]:
    for part in shown(trace.frames):
        if isinstance(part, Gap):
            yield gap_line(part)
        else:
            yield from _frame(trace.frames[part])
    for line in (stop_line(trace), resting):
        if line:
            yield from _wrapped(line)


def _title(traces: Sequence[Backtrace]) -> str:
    first = traces[0]
    if len(traces) == 1:
        name = f' "{first.name}"' if first.name else ""
        signal = f", {first.signal}" if first.crashed and first.signal else ""
        return f"Thread {first.number} (LWP {first.lwp}{name}{signal})"
    which = native.number_runs([trace.number for trace in traces])
    return f"Threads {which} ({len(traces)} with the same stack)"


def _modules(report: Report) -> Iterator[str]:
    """Build ids of the modules in which frames lie: what a reader needs to find the files."""
    seen: dict[str, str | None] = {}
    for trace in report.threads:
        for module, build_id in trace.rows("module", "build_id"):
            if module and module not in seen:
                seen[module] = build_id
    for module, build_id in seen.items():
        yield from _wrapped(f"  {module} {build_id or 'without a build id'}", "    ")


def text(report: Report) -> Iterator[str]:
    """The lines."""
    program = report.exe or report.core or "a process"
    yield from (line + "\n" for line in _wrapped(f"Backtrace of {program} ({report.arch})"))
    for warning in report.warnings:
        yield from (line + "\n" for line in _wrapped(f"Note: {warning}"))
    threads = written(report.threads)
    for group in threads.groups():
        traces = [threads[at] for at in group]
        yield "\n"
        yield from (line + "\n" for line in _wrapped(_title(traces)))
        yield from (line + "\n" for line in _stack(traces[0], threads.resting(group[0])))
    yield "\nBuild ids\n"
    yield from (line + "\n" for line in _modules(report))
