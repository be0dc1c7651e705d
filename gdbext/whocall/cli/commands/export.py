"""`whocall export`: names and unwinding rules of a file for gdbs without whocall."""

from __future__ import annotations

from whocall.cli.inputs import open_core_or_file
from whocall.cli.outputs import require_no_terminal, require_other_file, write_beside

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.cli.arguments import Values


def run(arguments: Values) -> int:
    """Writes it, and how gdb takes it to standard output."""
    from whocall.repair.export import export as write_file
    from whocall.repair.export import export_lines
    from whocall.repair.plan import module_named

    require_no_terminal(arguments.output)
    require_other_file(arguments.output, arguments.file, arguments.exe)
    path: str = arguments.output  # to the letter: by that name the sandbox has it open
    with open_core_or_file(arguments.file, arguments.exe, arguments) as image:
        module = module_named(image, arguments.module)
        told = export_lines(module, path, write_file(image, module.index, path))
        write_beside(arguments.output, told)
    return 0
