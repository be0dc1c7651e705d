"""`whocall compare` in gdb."""

from __future__ import annotations

import gdb

from whocall.frontend.options import COMPARE, Parsed
from whocall.gdb.host.downloads import silence
from whocall.gdb.host.output import current_style, warn, write, write_json
from whocall.gdb.repair import attached
from whocall.gdb.target.frames import selection_kept, stack_of
from whocall.gdb.target.inferior import Current, current, inferior_prefix
from whocall.gdb.target.walks import walk_of
from whocall.report.comparison.forms import (
    Comparison,
    compare_thread,
    comparison_json,
    comparison_lines,
    comparison_warnings,
    thread_title,
)
from whocall.report.comparison.verdicts import GdbStack
from whocall.report.form import jsonform


def _gdb_stacks(numbers: set[int]) -> dict[int, GdbStack]:
    """gdb's frames by thread number."""
    threads = [t for t in gdb.selected_inferior().threads() if t.num in numbers]
    with selection_kept():
        return {thread.num: stack_of(thread) for thread in threads}


def _compared(now: Current, indices: list[int]) -> list[Comparison]:
    walk = walk_of(Parsed(), past_main=True)
    stacks = _gdb_stacks({now.numbers[at] for at in indices if at in now.numbers})
    found = []
    for at in indices:
        if at not in now.numbers:
            continue
        trace = now.renumbered(at, now.image.backtrace(at, walk))
        found.append(compare_thread(now.image, trace, stacks[trace.number]))
    return found


def _run_shadow(now: Current, indices: list[int], parsed: Parsed) -> None:
    from whocall.tracing.shadow import compare_with_trace, shadow_json, shadow_lines
    from whocall.tracing.source import trace_of

    opened = trace_of(now.image)
    walk = walk_of(Parsed(), past_main=True)
    traces = [now.renumbered(at, now.image.backtrace(at, walk)) for at in indices]
    found = compare_with_trace(opened, traces, walk.demangle)
    if parsed.has("json"):
        write_json([jsonform.text(shadow_json(opened, found))])
        return
    warn(opened.warnings)
    for at, each in enumerate(found):
        if parsed.has("all"):
            title = f"Thread {inferior_prefix()}{each.trace.number} (LWP {each.trace.lwp}):"
            write([""] * (at > 0) + [title])
        write(shadow_lines(each, now.image.pointer_size, current_style()))


def run(line: str) -> None:
    """Prints whocall's frames beside gdb's, or beside those of a shadow stack."""
    parsed = COMPARE.parse(line)
    if parsed.has("json"):
        silence()
    every_thread = parsed.has("all")
    if parsed.has("shadow"):
        now = current(every_thread=True)
        _run_shadow(now, now.every_thread() if every_thread else [now.selected], parsed)
        return
    now = current(every_thread)
    found = _compared(now, now.every_thread() if every_thread else [now.selected])
    if parsed.has("json"):
        write_json([jsonform.text(comparison_json(now.image, found))])
        return
    warn(comparison_warnings(now.image, found))
    style = current_style()
    for at, comparison in enumerate(found):
        if every_thread:
            write([""] * (at > 0) + [thread_title(comparison, inferior_prefix())])
        write(comparison_lines(comparison, now.image.pointer_size, style))
    write(attached.remark())
