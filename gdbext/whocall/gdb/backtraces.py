"""`whocall bt` in gdb."""

from __future__ import annotations

from dataclasses import replace

from whocall import jsonform
from whocall.gdb.downloads import silence
from whocall.gdb.inferior import current
from whocall.gdb.output import current_style, warn, write, write_text
from whocall.gdb.walks import walk_of
from whocall.options import BACKTRACE
from whocall.render import TextForm, report_lines


def run(line: str) -> None:
    """Prints the backtrace of the selected thread, or of all."""
    parsed = BACKTRACE.parse(line)
    if parsed.has("json"):
        silence()
    every_thread = parsed.has("all")
    now = current(every_thread)
    image = now.image
    indices = now.every_thread() if every_thread else [now.selected]
    found = image.report(indices, walk_of(parsed))
    traces = [now.renumbered(at, trace) for at, trace in zip(indices, found.threads)]
    report = replace(found, threads=traces)
    if parsed.has("json"):
        write_text(jsonform.text(jsonform.backtrace_json(report)))
        return
    warn(report.warnings)
    form = TextForm(
        full=parsed.has("full"),
        explain=parsed.has("explain"),
        every_thread=every_thread,
        pointer_size=image.pointer_size,
        byte_order=image.byte_order,
        read=image.read,
    )
    write(report_lines(report, form, current_style()))
