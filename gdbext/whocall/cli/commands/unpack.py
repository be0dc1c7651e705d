"""`whocall unpack`: what an input holds, as a plain core for other tools."""

from __future__ import annotations

from whocall.base.errors import UsageError
from whocall.cli.inputs import wanted_search
from whocall.cli.outputs import (
    require_no_terminal,
    require_other_file,
    warn,
    write_beside,
    write_json,
)

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.cli.arguments import Values
    from whocall.inputs.unpacking import Unpacked


def run(arguments: Values) -> int:
    """Writes it."""
    from whocall.inputs.unpacking import as_json

    made, size = _written(arguments)
    if arguments.json:
        from whocall.report.form import jsonform

        write_json([jsonform.text(as_json(made))])
        return 0
    warn(made.remarks)
    program = f", program {made.exe}" if made.exe else ""
    told = f"{arguments.output}: {size} bytes, unpacked from {made.name}{program}"
    write_beside(arguments.output, [told])
    return 0


def _written(arguments: Values) -> tuple[Unpacked, int]:
    """What was written, and its size in bytes. What could not be written whole is not there."""
    import os

    from whocall.base.output_file import writing
    from whocall.base.regular_file import handed
    from whocall.inputs.unpacking import unpack

    if arguments.json and handed(arguments.output) == 1:
        raise UsageError("standard output gets one of two: name a file for the core, or no --json")
    require_no_terminal(arguments.output)
    require_other_file(arguments.output, arguments.file, arguments.exe)
    with writing(arguments.output, private=True, unbuffered=True) as out:
        made = unpack(arguments.file, arguments.exe, wanted_search(arguments), out)
        return made, os.fstat(out.fileno()).st_size
