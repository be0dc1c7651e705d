"""Backtraces as GitHub-flavoured Markdown, for issues: a heading and a table for each different
stack, long ones folded. What comes from the program is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from whocall.base.model import Backtrace, Frame, Report
from whocall.base.native_backtraces import written
from whocall.base.native_module import native
from whocall.base.printable import printable
from whocall.report.backtrace.cycles import Gap, shown
from whocall.report.backtrace.words import stop_line

MOST_OPEN = 40  # rows that are not folded away
MOST_ROWS = 500  # of a stack; GitHub takes 65,536 characters

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~@&$-])")


def escaped(text: str) -> str:
    """Text that reads as it is: no markup, no mention, no link, one line."""
    told = _SPECIAL.sub(r"\\\1", printable(text))
    return told.replace("://", ":&#8203;//").replace("www.", "www&#8203;.")


def code(text: str) -> str:
    """Text as code in a table's cell; what it cannot hold is escaped text."""
    flat = printable(text)
    if not flat.strip() or flat != flat.strip() or "`" in flat or "|" in flat or "\\" in flat:
        return escaped(flat)
    return f"`{flat}`"


def _where(frame: Frame) -> str:
    if frame.file is not None:
        line = "" if frame.line is None else f":{frame.line}"
        return code(f"{frame.file}{line}")
    return code(frame.module.rpartition("/")[2]) if frame.module else ""


def _row(frame: Frame) -> str:
    if frame.signal_trampoline:
        return f"| {frame.level} | | *signal handler called* | | {frame.trust} |"
    address = "*inlined*" if frame.inlined else f"`{frame.pc:#x}`"
    offset = f" +{frame.offset}" if frame.offset and not frame.inlined else ""
    name = f"{code(frame.shown)}{offset}"
    return f"| {frame.level} | {address} | {name} | {_where(frame)} | {frame.trust} |"


def _rows(trace: Backtrace) -> Iterator[str]:
    for part in shown(trace.frames):
        if isinstance(part, Gap):
            count = part.end - part.begin
            yield f"| … | | *{count:,} frames: the {part.period} above repeated* | | |"
        else:
            yield _row(trace.frames[part])


def _title(traces: Sequence[Backtrace]) -> str:
    first = traces[0]
    if len(traces) == 1:
        name = f" “{escaped(first.name)}”" if first.name else ""
        signal = f": {first.signal}" if first.crashed and first.signal else ""
        return f"### Thread {first.number} (LWP {first.lwp}{name}){signal}"
    which = native.number_runs([trace.number for trace in traces])
    return f"### Threads {which}: {len(traces)} with the same stack"


def _section(traces: Sequence[Backtrace]) -> Iterator[str]:
    trace = traces[0]
    yield _title(traces)
    yield ""
    rows = list(_rows(trace))
    left_out = len(rows) - MOST_ROWS
    rows = rows[:MOST_ROWS]
    folded = len(rows) > MOST_OPEN or not trace.crashed
    if folded:
        yield f"<details><summary>{len(trace.frames):,} frames</summary>"
        yield ""
    yield "| # | address | function | where | trust |"
    yield "| ---: | --- | --- | --- | --- |"
    yield from rows
    yield ""
    if left_out > 0:
        yield f"{left_out:,} rows are left out."
        yield ""
    stop = stop_line(trace)
    if stop:
        yield escaped(stop.strip("()"))
        yield ""
    if folded:
        yield "</details>"
        yield ""


def text(report: Report) -> Iterator[str]:
    """The lines."""
    program = (report.exe or report.core or "a process").rpartition("/")[2]
    yield f"## Backtrace of {code(program)} ({report.arch})\n\n"
    for warning in report.warnings:
        yield f"> {escaped(warning)}\n\n"
    threads = written(report.threads)
    for group in threads.groups():
        yield from (line + "\n" for line in _section([threads[at] for at in group]))
