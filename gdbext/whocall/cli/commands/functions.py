"""`whocall functions`: the function table of a file or a core."""

from __future__ import annotations

from whocall.base.errors import UsageError
from whocall.cli.inputs import (
    is_core,
    open_named_core,
    wanted_columns,
    wanted_search,
    wanted_style,
)
from whocall.cli.outputs import warn, write_json, write_text

TYPE_CHECKING = False

if TYPE_CHECKING:
    from whocall.cli.arguments import Values


def _write_script(arguments: Values, of_core: bool) -> int:
    from whocall.report.tables.function_scripts import script
    from whocall.report.tables.functions import of_file

    if of_core or arguments.json:
        raise UsageError("--format is for the functions of a program or library, and no JSON")
    table = of_file(arguments.file, arguments.regex, False, wanted_search(arguments))
    warn([table.remark] if table.remark else [])
    write_text(script(table, arguments.format))
    return 0


def run(arguments: Values) -> int:
    """`whocall functions`."""
    from whocall.base.elf_head import address_size
    from whocall.report.tables.functions import function_text, functions_json, of_file, of_process

    demangle = not arguments.no_demangle
    of_core = is_core(arguments.file)
    if arguments.format is not None:
        return _write_script(arguments, of_core)
    if of_core:
        image = open_named_core(arguments.file, arguments.exe, arguments)
        tables = list(of_process(image, arguments.module, arguments.regex, demangle))
        size = image.pointer_size
    else:
        if arguments.module:
            raise UsageError("--module chooses among the modules of a core")
        tables = [of_file(arguments.file, arguments.regex, demangle, wanted_search(arguments))]
        size = address_size(arguments.file)
    if arguments.json:
        write_json(functions_json(tables))
        return 0
    warn(table.remark for table in tables if table.remark)
    style, columns = wanted_style(arguments), wanted_columns(arguments) or 0
    for table in tables:
        if arguments.regex and not table.functions and of_core:
            continue
        write_text(function_text(table, size, style, columns))
    return 0
