"""`whocall compare`: the frames beside those of a gdb that is run, or a shadow stack."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from whocall.base.errors import Error
from whocall.base.regular_file import read_text
from whocall.cli.inputs import (
    open_named_core,
    wanted_columns,
    wanted_style,
    wanted_thread,
    wanted_walk,
)
from whocall.cli.outputs import warn, write, write_json
from whocall.report.form import jsonform

if TYPE_CHECKING:
    from whocall.base.process_image import ProcessImage
    from whocall.cli.arguments import Values
    from whocall.report.comparison.verdicts import GdbStack


def _gdb_stacks(image: ProcessImage, lwps: Sequence[int], arguments: Values) -> dict[int, GdbStack]:
    from whocall.cli.gdb_reference import gdb_stacks, stacks_from

    source = arguments.gdb_frames
    if source is None:
        return gdb_stacks(image, image.plain_core(), arguments.exe, lwps, arguments)
    try:
        text = read_text(source)
        return stacks_from(json.loads(text), lwps)
    except OSError as error:
        raise Error(f"{source}: {error.strerror}") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Error(f"{source}: these are not gdb's frames as whocall writes them") from error


def run(arguments: Values) -> int:
    """`whocall compare`: the frames beside those of a gdb that is run, or a shadow stack."""
    if arguments.shadow:
        return _shadow(arguments)
    from whocall.report.comparison.forms import (
        compare_thread,
        comparison_json,
        comparison_lines,
        comparison_warnings,
        comparisons_lines,
    )

    with open_named_core(arguments.core, arguments.exe, arguments) as image:
        everyone = range(len(image.threads))
        indices = everyone if arguments.all else [wanted_thread(image, arguments)]
        traces = image.report(indices, wanted_walk(arguments)).threads
        stacks = _gdb_stacks(image, [trace.lwp for trace in traces], arguments)
        found = [compare_thread(image, trace, stacks[trace.lwp]) for trace in traces]
        if arguments.json:
            write_json([jsonform.text(comparison_json(image, found))])
            return 0
        warn(comparison_warnings(image, found))
        style = wanted_style(arguments)
        size, columns = image.pointer_size, wanted_columns(arguments)
        if arguments.all:
            write(comparisons_lines(found, size, style, arguments.inferior, columns))
            return 0
        for comparison in found:
            write(comparison_lines(comparison, size, style, columns))
    return 0


def _shadow(arguments: Values) -> int:
    """Beside the shadow stacks that a traced program keeps."""
    from whocall.report.form import jsonform
    from whocall.tracing.shadow import compare_with_trace, shadow_json, shadow_lines
    from whocall.tracing.source import trace_of

    with open_named_core(arguments.core, arguments.exe, arguments) as image:
        opened = trace_of(image)
        every = range(len(image.threads))
        indices = every if arguments.all else [wanted_thread(image, arguments)]
        traces = image.report(indices, wanted_walk(arguments)).threads
        found = compare_with_trace(opened, traces, not arguments.no_demangle)
        if arguments.json:
            write_json([jsonform.text(shadow_json(opened, found))])
            return 0
        warn(opened.warnings)
        for at, each in enumerate(found):
            if arguments.all:
                write([""] * (at > 0) + [f"Thread {each.trace.number} (LWP {each.trace.lwp}):"])
            write(shadow_lines(each, image.pointer_size, wanted_style(arguments)))
    return 0
