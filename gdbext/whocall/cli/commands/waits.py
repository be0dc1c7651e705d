"""`whocall waits`: what each thread waits for, and who has it."""

from __future__ import annotations

from whocall.cli.inputs import open_image, wanted_style
from whocall.cli.outputs import warn, write_json, write_text

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.cli.arguments import Values


def run(arguments: Values) -> int:
    """`whocall waits`."""
    from whocall.report.tables.waits import waits_json, waits_text

    with open_image(arguments) as image:
        if arguments.json:
            write_json(waits_json(image))
            return 0
        warn(image.own_warnings)
        write_text(waits_text(image, wanted_style(arguments), inferior=arguments.inferior))
    return 0
