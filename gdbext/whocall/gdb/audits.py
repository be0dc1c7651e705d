"""`whocall audit` in gdb."""

from __future__ import annotations

from pathlib import Path

import gdb

from whocall import jsonform
from whocall.audit import DIFFERENCES, audit_file, audit_json, audit_lines
from whocall.errors import Error, UsageError
from whocall.gdb.inferior import current, executable
from whocall.gdb.output import current_style, write, write_text
from whocall.gdb.walks import demangle
from whocall.options import AUDIT, Parsed

NO_FILE = 'There is no program to audit.  Name a file: "whocall audit FILE".'


def _of_selected_frame() -> str:
    """The file of the module that the selected frame is in."""
    image = current().image
    pc = int(gdb.selected_frame().pc())
    for module in image.modules:
        if module.begin <= pc < module.end:
            if module.state == "found" and module.file_path:
                return str(module.file_path)
            raise Error(
                f"{module.path or 'The module'}, which the selected frame is in, has no file here"
                f' ({module.state}).  Name one: "whocall audit FILE".'
            )
    raise Error(
        f"The selected frame's pc, {pc:#x}, is in no module.  Name a file, or select another frame."
    )


def _file(parsed: Parsed) -> str:
    if parsed.arguments:
        return str(Path(parsed.arguments[0]).expanduser())
    if gdb.selected_thread() is not None:
        return _of_selected_frame()
    path = executable(gdb.selected_inferior())
    if not path:
        raise Error(NO_FILE)
    return path


def _limit(parsed: Parsed) -> int:
    text = parsed.values.get("limit", str(DIFFERENCES))
    if not text.isdecimal():
        raise UsageError(f'whocall audit -limit takes a number, not "{text}"')
    return int(text)


def run(line: str) -> None:
    """Audits a file."""
    parsed = AUDIT.parse(line)
    audit = audit_file(_file(parsed), _limit(parsed), demangle())
    if parsed.has("json"):
        write_text(jsonform.text(audit_json(audit)))
        return
    write(audit_lines(audit, current_style()))
