"""`whocall functions` in gdb."""

from __future__ import annotations

from whocall.frontend.options import FUNCTIONS
from whocall.gdb.host.downloads import silence
from whocall.gdb.host.output import current_style, write_json, write_pieces
from whocall.gdb.target.inferior import current
from whocall.gdb.target.walks import demangle
from whocall.report.tables.functions import function_text, functions_json, of_process


def run(line: str) -> None:
    """Lists functions at their runtime addresses."""
    parsed = FUNCTIONS.parse(line)
    if parsed.has("json"):
        silence()
    image = current().image
    regex = parsed.arguments[0] if parsed.arguments else ""
    tables = of_process(image, parsed.values.get("module", ""), regex, demangle())
    if parsed.has("json"):
        write_json(functions_json(tables))
        return
    style = current_style()
    for table in tables:
        if table.functions or not regex:
            write_pieces(function_text(table, image.pointer_size, style))
