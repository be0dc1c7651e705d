"""`whocall caller`: who called a frame, in one line."""

from __future__ import annotations

from whocall.cli.inputs import (
    open_named_core,
    parse_address,
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
    from whocall.core.module_warnings import warnings_on
    from whocall.report.backtrace.caller import caller_json, chain, sentence, shown_pcs

    pc = None if arguments.pc is None else parse_address(arguments.pc)
    with open_named_core(arguments.core, arguments.exe, arguments) as image:
        index = wanted_thread(image, arguments)
        trace, at = chain(image, index, wanted_walk(arguments), arguments.frame, pc)
        if arguments.json:
            write_json([jsonform.text(caller_json(trace, at))])
            return 0
        warn(warnings_on(image, shown_pcs(trace, at)))
        write([sentence(trace, at, wanted_style(arguments))])
    return 0
