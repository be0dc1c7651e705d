"""`whocall functions` in gdb."""

from __future__ import annotations

from whocall.functions import function_lines, functions_json, of_process
from whocall.gdb.downloads import silence
from whocall.gdb.inferior import current
from whocall.gdb.output import current_style, write, write_text
from whocall.gdb.walks import demangle
from whocall.options import FUNCTIONS


def run(line: str) -> None:
    """Lists functions at their runtime addresses."""
    parsed = FUNCTIONS.parse(line)
    if parsed.has("json"):
        silence()
    image = current().image
    regex = parsed.arguments[0] if parsed.arguments else ""
    tables = of_process(image, parsed.values.get("module", ""), regex, demangle())
    if parsed.has("json"):
        for piece in functions_json(tables):
            write_text(piece)
        return
    style = current_style()
    for table in tables:
        if table.functions or not regex:
            write(function_lines(table, image.pointer_size, style))
