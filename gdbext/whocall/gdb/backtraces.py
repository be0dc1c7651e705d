"""`whocall bt` in gdb."""

from __future__ import annotations

from dataclasses import replace

from whocall import jsonform
from whocall.gdb import parameters
from whocall.gdb.downloads import silence
from whocall.gdb.inferior import Current, current, inferior_prefix
from whocall.gdb.output import current_style, warn, write, write_pieces
from whocall.gdb.walks import walk_of
from whocall.model import Report
from whocall.options import BACKTRACE, Parsed
from whocall.render import TextForm, report_lines


def report_of(now: Current, parsed: Parsed, every_thread: bool) -> Report:
    """The backtrace of the selected thread, or of all, under gdb's thread numbers."""
    indices = now.every_thread() if every_thread else [now.selected]
    found = now.image.report(indices, walk_of(parsed))
    traces = [now.renumbered(at, trace) for at, trace in zip(indices, found.threads)]
    return replace(found, threads=traces)


def run(line: str) -> None:
    """Prints the backtrace of the selected thread, or of all."""
    parsed = BACKTRACE.parse(line)
    if parsed.has("json"):
        silence()
    every_thread = parsed.has("all")
    now = current(every_thread)
    report = report_of(now, parsed, every_thread)
    if parsed.has("json"):
        write_pieces(jsonform.backtrace_text(report))
        return
    warn(report.warnings)
    form = TextForm(
        fold=parameters.folds() and not parsed.has("no-fold"),
        full=parsed.has("full"),
        explain=parsed.has("explain"),
        every_thread=every_thread,
        pointer_size=now.image.pointer_size,
        byte_order=now.image.byte_order,
        read=now.image.read,
        inferior=inferior_prefix(),
    )
    write(report_lines(report, form, current_style()))
