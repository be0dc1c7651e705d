"""`whocall modules` in gdb."""

from __future__ import annotations

import gdb

from whocall.frontend.options import MODULES
from whocall.gdb.host.downloads import silence
from whocall.gdb.host.output import current_style, warn, write, write_json
from whocall.gdb.host.settings import asks_debuginfod
from whocall.gdb.target.inferior import current
from whocall.report.form import jsonform
from whocall.report.tables.module_table import module_lines
from whocall.report.tables.modules import all_facts, jit_line, modules_json, on_gdb, warnings


def run(line: str) -> None:
    """Lists the loaded files."""
    parsed = MODULES.parse(line)
    if parsed.has("json"):
        silence()
    image = current().image
    facts = all_facts(image)
    advice = on_gdb(asks_debuginfod())
    if parsed.has("json"):
        write_json([jsonform.text(modules_json(image, facts, advice))])
        return
    warn(warnings(image, facts))
    write(module_lines(facts, advice, current_style(), gdb.parameter("width")))
    write(jit_line(image))
