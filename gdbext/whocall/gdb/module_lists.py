"""`whocall modules` in gdb."""

from __future__ import annotations

import gdb

from whocall import jsonform
from whocall.gdb.downloads import silence
from whocall.gdb.inferior import current
from whocall.gdb.output import current_style, warn, write, write_text
from whocall.gdb.parameters import asks_debuginfod
from whocall.module_table import module_lines
from whocall.modules import all_facts, jit_line, modules_json, on_gdb, warnings
from whocall.options import MODULES


def run(line: str) -> None:
    """Lists the loaded files."""
    parsed = MODULES.parse(line)
    if parsed.has("json"):
        silence()
    image = current().image
    facts = all_facts(image)
    advice = on_gdb(asks_debuginfod())
    if parsed.has("json"):
        write_text(jsonform.text(modules_json(image, facts, advice)))
        return
    warn(warnings(image, facts))
    write(module_lines(facts, advice, current_style(), gdb.parameter("width")))
    write(jit_line(image))
