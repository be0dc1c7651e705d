"""`whocall why`: what happened, in a sentence."""

from __future__ import annotations

from whocall.base.records import replace
from whocall.cli.inputs import open_image, wanted_columns, wanted_style, wanted_walk
from whocall.cli.outputs import write, write_json
from whocall.report.form import jsonform

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.cli.arguments import Values


def run(arguments: Values) -> int:
    """Of a core, a process, or a crash that was kept."""
    from whocall.report.why import why_json, why_lines

    with open_image(arguments) as image:
        index = image.index_of_crash()
        trace = image.backtrace(index, replace(wanted_walk(arguments), past_main=True))
        if arguments.json:
            write_json([jsonform.text(why_json(image, index, trace))])
            return 0
        columns = wanted_columns(arguments) or 0
        write(why_lines(image, index, trace, wanted_style(arguments), columns))
    return 0
