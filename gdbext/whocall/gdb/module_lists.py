"""`whocall modules` in gdb."""

from __future__ import annotations

from whocall import jsonform
from whocall.gdb.inferior import current
from whocall.gdb.output import current_style, warn, write, write_text
from whocall.modules import all_facts, module_lines, modules_json
from whocall.options import MODULES

SEARCH_SETTING = '"set whocall search-path DIR"'


def run(line: str) -> None:
    """Lists the loaded files."""
    parsed = MODULES.parse(line)
    image = current().image
    facts = all_facts(image)
    if parsed.has("json"):
        write_text(jsonform.text(modules_json(image, facts, SEARCH_SETTING)))
        return
    warn(image.native.warnings)
    write(module_lines(image, facts, SEARCH_SETTING, current_style()))
