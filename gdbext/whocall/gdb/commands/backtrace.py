"""`whocall bt` in gdb."""

from __future__ import annotations

from whocall.core.model import Report
from whocall.frontend.options import BACKTRACE, Parsed
from whocall.gdb.host import settings
from whocall.gdb.host.downloads import silence
from whocall.gdb.host.output import current_style, warn, write_json, write_pieces
from whocall.gdb.target.inferior import Current, current, inferior_prefix
from whocall.gdb.target.walks import walk_of
from whocall.report.backtrace.render import TextForm, report_text


def report_of(now: Current, parsed: Parsed, every_thread: bool) -> Report:
    """The backtrace of the selected thread, or of all, under gdb's thread numbers."""
    indices = now.every_thread() if every_thread else [now.selected]
    return now.image.report(indices, walk_of(parsed), now.numbers)


def run(line: str) -> None:
    """Prints the backtrace of the selected thread, or of all."""
    parsed = BACKTRACE.parse(line)
    if parsed.has("json"):
        silence()
    every_thread = parsed.has("all")
    now = current(every_thread)
    report = report_of(now, parsed, every_thread)
    if parsed.has("json"):
        from whocall.report.form import jsonform

        write_json(jsonform.backtrace_text(report))
        return
    warn(report.warnings)
    form = TextForm(
        fold=settings.folds() and not parsed.has("no-fold"),
        full=parsed.has("full"),
        explain=parsed.has("explain"),
        every_thread=every_thread,
        pointer_size=now.image.pointer_size,
        word_size=now.image.word_size,
        byte_order=now.image.byte_order,
        read=now.image.read,
        inferior=inferior_prefix(),
    )
    write_pieces(report_text(report, form, current_style()))
