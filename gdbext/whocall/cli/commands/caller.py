"""`whocall caller`: who called a frame, in one line."""

from __future__ import annotations

from whocall.cli.inputs import (
    open_named_core,
    parse_address,
    wanted_columns,
    wanted_style,
    wanted_thread,
    wanted_walk,
)
from whocall.cli.outputs import warn, write, write_json
from whocall.report.form import jsonform

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.cli.arguments import Values


def run(arguments: Values) -> int:
    """`whocall caller`."""
    from whocall.base.module_warnings import warnings_on
    from whocall.report.backtrace.caller import caller_json, chain, sentence_lines, shown_pcs
    from whocall.report.form.file_names import FileNames

    pc = None if arguments.pc is None else parse_address(arguments.pc)
    with open_named_core(arguments.core, arguments.exe, arguments) as image:
        index = wanted_thread(image, arguments)
        trace, at = chain(image, index, wanted_walk(arguments), arguments.frame, pc)
        if arguments.json:
            write_json([jsonform.text(caller_json(trace, at))])
            return 0
        warn(warnings_on(image, shown_pcs(trace, at)))
        files = FileNames(arguments.filename_display, (each.path for each in image.modules))
        columns = wanted_columns(arguments) or 0
        write(sentence_lines(image, trace, at, files, wanted_style(arguments), columns))
    return 0
