"""What `whocall compare` answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whocall.gdb_helper.backtraces import walk_of
from whocall.gdb_helper.output import style_of
from whocall.report.comparison.forms import (
    Comparison,
    compare_thread,
    comparison_json,
    comparison_lines,
    comparison_warnings,
    comparisons_lines,
)
from whocall.report.comparison.verdicts import GdbFrame, GdbStack
from whocall.report.form import jsonform

if TYPE_CHECKING:
    from whocall.gdb_helper.current import Current
    from whocall.gdb_helper.output import Output
    from whocall.report.form.jsonform import Json


def _compared(now: Current, wanted: Json) -> list[Comparison]:
    """`stacks` are gdb's frames by its number of the thread."""
    walk = walk_of(wanted)
    stacks = {
        int(number): GdbStack([GdbFrame(**frame) for frame in stack["frames"]], stack["stop"])
        for number, stack in wanted["stacks"].items()
    }
    found = []
    for at in now.wanted(wanted["every_thread"]):
        stack = stacks.get(now.numbers.get(at, 0))
        if stack is not None:
            trace = now.renumbered(at, now.image.backtrace(at, walk))
            found.append(compare_thread(now.image, trace, stack))
    return found


def comparison(now: Current, out: Output, wanted: Json) -> None:
    """whocall's frames beside gdb's."""
    found = _compared(now, wanted)
    if wanted["json"]:
        out.write_json([jsonform.text(comparison_json(now.image, found))])
        return
    out.warn(comparison_warnings(now.image, found))
    style = style_of(wanted)
    size, columns = now.image.pointer_size, wanted["columns"]
    if wanted["every_thread"]:
        out.write(comparisons_lines(found, size, style, wanted["inferior"], columns))
        return
    for each in found:
        out.write(comparison_lines(each, size, style, columns))


def shadow(now: Current, out: Output, wanted: Json) -> None:
    """whocall's frames beside those of a shadow stack."""
    from whocall.tracing.shadow import compare_with_trace, shadow_json, shadow_lines
    from whocall.tracing.source import trace_of

    opened = trace_of(now.image)
    walk = walk_of(wanted)
    chosen = now.wanted(wanted["every_thread"])
    traces = [now.renumbered(at, now.image.backtrace(at, walk)) for at in chosen]
    found = compare_with_trace(opened, traces, walk.demangle)
    if wanted["json"]:
        out.write_json([jsonform.text(shadow_json(opened, found))])
        return
    out.warn(opened.warnings)
    for at, each in enumerate(found):
        if wanted["every_thread"]:
            title = f"Thread {wanted['inferior']}{each.trace.number} (LWP {each.trace.lwp}):"
            out.write([""] * (at > 0) + [title])
        out.write(shadow_lines(each, now.image.pointer_size, style_of(wanted)))
