"""`whocall unpack`: what an input holds, as a plain core for other tools."""

from __future__ import annotations

import sys

from whocall.cli.arguments import add_exe, add_search
from whocall.cli.inputs import wanted_search
from whocall.cli.outputs import require_other_file, warn, write_beside

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.cli.arguments import Parser, Values
    from whocall.dumps.unpacking import Unpacked


def add(parser: Parser) -> None:
    """What it takes."""
    parser.description = (
        "Writes the core that is in a packed file, a crash report or a minidump, for debuggers and"
        " other tools. Zeros become holes."
    )
    parser.add_argument("file", metavar="FILE", help="the input; - for standard input")
    parser.add_argument("-o", "--output", metavar="CORE", required=True, help="the new core")
    add_exe(parser)
    add_search(parser)
    parser.add_argument(
        "--json", action="store_true", help="what was written, the program and the files found"
    )


def run(arguments: Values) -> int:
    """Writes it."""
    from whocall.dumps.unpacking import as_json

    made, size = _written(arguments)
    if arguments.json:
        from whocall.report.form import jsonform

        sys.stdout.write(jsonform.text(as_json(made)))
        return 0
    warn(made.remarks)
    program = f", program {made.exe}" if made.exe else ""
    told = f"{arguments.output}: {size} bytes, the core of {made.name}{program}"
    write_beside(arguments.output, [told])
    return 0


def _written(arguments: Values) -> tuple[Unpacked, int]:
    """What was written, and its size in bytes. What could not be written whole is not there."""
    import os

    from whocall.core.output_file import writing
    from whocall.dumps.unpacking import unpack

    require_other_file(arguments.output, arguments.file, arguments.exe)
    with writing(arguments.output, private=True, unbuffered=True) as out:
        made = unpack(arguments.file, arguments.exe, wanted_search(arguments), out)
        return made, os.fstat(out.fileno()).st_size
